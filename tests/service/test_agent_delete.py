"""A deleted agent leaves nothing of its own in any table or index, and takes nothing of others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import LocalRecollect, NotFound
from recollect.domain.conversation import CompactionMode, Summary
from recollect.domain.skill import SkillOrigin
from recollect.store.protocol import Tables
from recollect.store.values import OpenFileWindow, StoredFile, StoredSkill
from support import START, FakeClock, candidates

MARK = "zebramark"


def rows(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every row of every table, as text."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_") and name != "tombstones"  # which hold ids only
    ]
    for table in tables:
        for row in db.execute(f"SELECT * FROM {table}"):
            yield table, repr(row)
    db.close()


def traces(path: Path, *marks: str) -> dict[str, int]:
    """Return in which tables any of *marks* still stands, and how often."""
    counts: dict[str, int] = {}
    for table, row in rows(path):
        if any(mark in row for mark in marks):
            counts[table] = counts.get(table, 0) + 1
    return counts


def sizes(path: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for table, _ in rows(path):
        counts[table] = counts.get(table, 0) + 1
    return counts


def opened(file: StoredFile) -> OpenFileWindow:
    return OpenFileWindow(
        file_id=file.id,
        project_id=file.project_id,
        path=file.path,
        root="/",
        first_line=1,
        last_line=2,
        last_accessed_at=START,
    )


def lived(rec: LocalRecollect, name: str, mark: str) -> str:
    """Let an agent use all there is; everything of its own carries *mark*. Return its id."""
    agent = rec.agents.create(name, description=mark, system_prompt=mark, metadata={"m": mark})
    rec.blocks.set(agent, "persona", f"first {mark}")
    rec.blocks.set(agent, "persona", f"then {mark}", reason=mark)
    rec.blocks.create("notes", mark, agent=agent, description=mark)
    for number in range(2):
        talk = rec.conversations.start(agent=name, title=mark, metadata={"m": mark})
        rec.conversations.append_many(
            talk,
            [
                {"role": "user", "content": f"question {number} {mark}"},
                {"role": "assistant", "content": [{"type": "text", "text": mark}]},
                {"role": "tool", "content": mark, "tool_call_id": "c", "metadata": {"m": mark}},
            ],
        )
        rec.blocks.set(agent, "ticket", mark, conversation=talk)
        rec.conversations.pin(talk, mark)
        rec.ingest(f"session memory {number} {mark}", session=talk.id, scope="session")
        rec.capture_session(f"We use {mark} for linting.", session=talk.id, scope="session")
    summary = Summary(
        id=f"summary of {name}",
        conversation_id=talk.id,
        mode=CompactionMode.ALL,
        content=mark,
        first_position=0,
        last_position=1,
        tokens=1,
        made_by=mark,
        created_at=START,
    )

    def write(tables: Tables) -> None:
        tables.conversations.add_summary(summary)
        tables.messages.mark_summarized(
            [message.id for message in rec.conversations.messages(talk, limit=2)], summary.id
        )
        skill = StoredSkill(
            id="s",
            name="pdf",
            description="reads PDF files",
            origin=SkillOrigin.GLOBAL,
            project_id=None,
            path="/s",
            content="a skill",
            sha256="h",
            metadata={},
        )
        tables.skills.load(agent.id, tables.skills.save(skill, START), START)
        file = tables.files.save(StoredFile("f", None, "/f", "a file", "h"), START)
        tables.files.open(agent.id, opened(file))

    rec._store.write(write)  # what no verb does yet
    rec.archive.insert(agent, f"a passage {mark}", tags=[mark], title=mark)
    rec.ingest(f"candidate {mark}", agent=name, scope="agent", status="inbox")
    rec.capture_session(f"We decided to use {mark} in the build.", agent=name, scope="agent")
    rec.drain()
    rec.search(mark, agent=name)
    rec.conversations.search(mark, agent=agent)
    rec.conversations.search(mark, agent=agent.id)
    rec.conversations.letta_search(name, mark)
    rec.archive.search(name, mark)
    return agent.id


@pytest.fixture
def marks(rec: LocalRecollect) -> list[str]:
    """Let anna live a life that carries the mark; return the mark, her id and her talks'."""
    agent_id = lived(rec, "anna", MARK)
    return [
        MARK,
        agent_id,
        *(conversation.id for conversation in rec.conversations.list(agent="anna")),
    ]


def test_nothing_of_a_deleted_agent_is_left_in_any_table(
    rec: LocalRecollect, path: Path, marks: list[str]
) -> None:
    assert len(traces(path, *marks)) > 15
    rec.agents.delete("anna")

    left = traces(path, *marks)
    left.pop("shelves", None)  # has its own test
    assert left == {}
    assert rec.maintenance.verify().ok
    with pytest.raises(NotFound):
        rec.agents.get("anna")


def test_nothing_of_a_deleted_agent_is_left_in_the_file_or_its_log(
    rec: LocalRecollect, path: Path, marks: list[str]
) -> None:
    rec.agents.delete("anna")

    for file in path.parent.glob("memory.db*"):
        assert MARK.encode() not in file.read_bytes(), file.name


def test_the_shelves_of_a_deleted_agent_go_with_it(
    rec: LocalRecollect, path: Path, marks: list[str]
) -> None:
    rec.agents.delete("anna")

    assert traces(path, *marks) == {}


def test_deleting_leaves_what_others_have_as_it_was(rec: LocalRecollect, path: Path) -> None:
    lived(rec, "ben", "giraffe")
    rec.drain()
    options: dict[str, Any] = {"asked_at": "2026-05-09"}
    before = [
        rec.blocks.list("ben"),
        [rec.conversations.messages(talk) for talk in rec.conversations.list(agent="ben")],
        [hit.message for hit in rec.conversations.search("giraffe", agent="ben", **options)],
        [hit.memory for hit in rec.archive.search("ben", "giraffe", **options)],
    ]
    counted = sizes(path)
    lived(rec, "anna", MARK)
    rec.agents.delete("anna")

    after = [
        rec.blocks.list("ben"),
        [rec.conversations.messages(talk) for talk in rec.conversations.list(agent="ben")],
        [hit.message for hit in rec.conversations.search("giraffe", agent="ben", **options)],
        [hit.memory for hit in rec.archive.search("ben", "giraffe", **options)],
    ]
    assert after == before
    counts = sizes(path)
    for table in ("messages", "blocks", "block_history", "memories", "sources", "embeddings"):
        assert counts[table] == counted[table], table
    assert rec.maintenance.verify().ok


def test_the_receipt_says_what_went_and_what_stays(
    rec: LocalRecollect, clock: FakeClock, path: Path
) -> None:
    agent_id = lived(rec, "anna", MARK)
    rec.agents.create("ben")
    before = sizes(path)
    clock.advance(hours=1)
    receipt = rec.agents.delete("anna")
    after = sizes(path)

    assert (receipt.agent_id, receipt.name, receipt.deleted_at) == (agent_id, "anna", clock.now())
    for table in ("agents", "conversations", "messages", "memories", "summaries", "pins", "blocks"):
        went = before[table] - after.get(table, 0)
        assert receipt.removed[table] == went > 0, table
    assert "block 'human' is shared and stays" in receipt.kept
    assert "human" in [block.label for block in rec.blocks.list("ben")]


def test_memories_an_agent_wrote_for_others_stay_in_nobodys_name(rec: LocalRecollect) -> None:
    rec.agents.create("anna")
    of_project = rec.ingest("The site uses pnpm.", project="site", agent="anna")
    of_all = rec.ingest("Answers are short.", agent="anna", scope="global")
    rec.blocks.set("anna", "project", "uses pnpm", project="site")
    rec.agents.delete("anna")

    for kept in (of_project, of_all):
        memory = rec.memories.get(kept.id)
        assert (memory.content, memory.status, memory.agent_id) == (kept.content, "active", None)
    assert [hit.memory.id for hit in rec.search("pnpm", project="site")] == [of_project.id]
    assert rec.blocks.list(project="site")[0].value == "uses pnpm"


def test_a_passage_two_agents_keep_goes_from_one_and_stays_with_the_other(
    rec: LocalRecollect,
) -> None:
    rec.agents.create("anna")
    rec.agents.create("ben")
    rec.archive.insert("anna", "the same passage")
    passage = rec.archive.insert("ben", "the same passage")
    rec.agents.delete("anna")

    assert [hit.memory.id for hit in rec.archive.search("ben", "passage")] == [passage.id]
    assert rec.maintenance.verify().ok


def test_a_new_agent_of_the_same_name_is_a_stranger(rec: LocalRecollect) -> None:
    lived(rec, "anna", MARK)
    rec.agents.delete("anna")
    rec.agents.create("anna")

    assert rec.conversations.list(agent="anna") == []
    assert rec.conversations.search(MARK, agent="anna") == []
    assert rec.archive.search("anna", MARK) == []
    assert rec.blocks.get("anna", "persona").value == ""


def test_an_agent_is_deleted_once(rec: LocalRecollect) -> None:
    rec.agents.create("anna")
    rec.agents.delete("anna")

    with pytest.raises(NotFound):
        rec.agents.delete("anna")


def test_questions_about_one_conversation_go_with_its_agent(
    rec: LocalRecollect, path: Path
) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", MARK)
    rec.conversations.search(MARK, conversation=talk)
    rec.agents.delete("anna")

    assert traces(path, MARK, talk.id) == {}


def test_questions_asked_under_a_former_name_go_with_the_agent(
    rec: LocalRecollect, path: Path
) -> None:
    rec.agents.create("anna")
    rec.conversations.search(MARK, agent="anna")
    rec.search(MARK, agent="anna")
    rec.agents.update("anna", name="ann")
    rec.agents.delete("ann")

    assert traces(path, MARK) == {}


def test_questions_asked_with_blanks_around_the_name_go_with_the_agent(
    rec: LocalRecollect, path: Path
) -> None:
    rec.agents.create("anna")
    rec.conversations.search(MARK, agent=" anna ")
    rec.agents.delete("anna")

    assert traces(path, MARK) == {}


def test_what_was_captured_for_a_project_is_still_extracted_when_its_agent_is_gone(
    rec: LocalRecollect, path: Path
) -> None:
    agent = rec.agents.create("anna")
    rec.capture_session("We use ruff for linting.", project="site", agent="anna", scope="project")
    rec.agents.delete("anna")
    rec.drain()

    assert rec.jobs.list() == []
    assert [memory.content for memory in candidates(rec)] == ["We use ruff for linting."]
    assert traces(path, agent.id).keys() <= {"shelves"}
