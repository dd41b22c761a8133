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
        if not name.startswith("sqlite_")
    ]
    for table in tables:
        for row in db.execute(f"SELECT * FROM {table}"):
            yield table, repr(row)
    db.close()


def traces(path: Path, *marks: str) -> dict[str, int]:
    """Return in which tables any of *marks* still stands, and how often."""
    found: dict[str, int] = {}
    for table, row in rows(path):
        if any(mark in row for mark in marks):
            found[table] = found.get(table, 0) + 1
    return found


def sizes(path: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for table, _ in rows(path):
        found[table] = found.get(table, 0) + 1
    return found


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


def lived(memory: LocalRecollect, name: str, mark: str) -> str:
    """Let an agent use all there is; everything of its own carries *mark*. Return its id."""
    agent = memory.agents.create(name, description=mark, system_prompt=mark, metadata={"m": mark})
    memory.blocks.set(agent, "persona", f"first {mark}")
    memory.blocks.set(agent, "persona", f"then {mark}", reason=mark)
    memory.blocks.create("notes", mark, agent=agent, description=mark)
    for number in range(2):
        talk = memory.conversations.start(agent=name, title=mark, metadata={"m": mark})
        memory.conversations.append_many(
            talk,
            [
                {"role": "user", "content": f"question {number} {mark}"},
                {"role": "assistant", "content": [{"type": "text", "text": mark}]},
                {"role": "tool", "content": mark, "tool_call_id": "c", "metadata": {"m": mark}},
            ],
        )
        memory.blocks.set(agent, "ticket", mark, conversation=talk)
        memory.conversations.pin(talk, mark)
        memory.ingest(f"session memory {number} {mark}", session=talk.id, scope="session")
        memory.capture_session(f"We use {mark} for linting.", session=talk.id, scope="session")
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
        tables.messages.mark_summarized([one.id for one in memory.conversations.messages(talk, limit=2)], summary.id)
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
        kept = tables.files.save(StoredFile("f", None, "/f", "a file", "h"), START)
        tables.files.open(agent.id, opened(kept))

    memory._store.write(write)  # what no verb does yet
    memory.archive.insert(agent, f"a passage {mark}", tags=[mark], title=mark)
    memory.ingest(f"candidate {mark}", agent=name, scope="agent", status="inbox")
    memory.capture_session(f"We decided to use {mark} in the build.", agent=name, scope="agent")
    memory.drain()
    memory.search(mark, agent=name)
    memory.conversations.search(mark, agent=agent)
    memory.conversations.search(mark, agent=agent.id)
    memory.conversations.letta_search(name, mark)
    memory.archive.search(name, mark)
    return agent.id


@pytest.fixture
def marks(memory: LocalRecollect) -> list[str]:
    """Let anna live a life that carries the mark; return the mark, her id and her talks'."""
    agent_id = lived(memory, "anna", MARK)
    return [MARK, agent_id, *(one.id for one in memory.conversations.list(agent="anna"))]


def test_nothing_of_a_deleted_agent_is_left_in_any_table(
    memory: LocalRecollect, path: Path, marks: list[str]
) -> None:
    assert len(traces(path, *marks)) > 15
    memory.agents.delete("anna")

    left = traces(path, *marks)
    left.pop("shelves", None)  # has its own test
    assert left == {}
    assert memory.maintenance.verify().ok
    with pytest.raises(NotFound):
        memory.agents.get("anna")


def test_nothing_of_a_deleted_agent_is_left_in_the_file_or_its_log(
    memory: LocalRecollect, path: Path, marks: list[str]
) -> None:
    memory.agents.delete("anna")

    for file in path.parent.glob("memory.db*"):
        assert MARK.encode() not in file.read_bytes(), file.name


def test_the_shelves_of_a_deleted_agent_go_with_it(
    memory: LocalRecollect, path: Path, marks: list[str]
) -> None:
    memory.agents.delete("anna")

    assert traces(path, *marks) == {}


def test_deleting_leaves_what_others_have_as_it_was(memory: LocalRecollect, path: Path) -> None:
    lived(memory, "ben", "giraffe")
    memory.drain()
    asked: dict[str, Any] = {"asked_at": "2026-05-09"}
    before = [
        memory.blocks.list("ben"),
        [memory.conversations.messages(talk) for talk in memory.conversations.list(agent="ben")],
        [hit.message for hit in memory.conversations.search("giraffe", agent="ben", **asked)],
        [hit.memory for hit in memory.archive.search("ben", "giraffe", **asked)],
    ]
    counted = sizes(path)
    lived(memory, "anna", MARK)
    memory.agents.delete("anna")

    after = [
        memory.blocks.list("ben"),
        [memory.conversations.messages(talk) for talk in memory.conversations.list(agent="ben")],
        [hit.message for hit in memory.conversations.search("giraffe", agent="ben", **asked)],
        [hit.memory for hit in memory.archive.search("ben", "giraffe", **asked)],
    ]
    assert after == before
    counts = sizes(path)
    for table in ("messages", "blocks", "block_history", "memories", "sources", "embeddings"):
        assert counts[table] == counted[table], table
    assert memory.maintenance.verify().ok


def test_the_receipt_says_what_went_and_what_stays(
    memory: LocalRecollect, clock: FakeClock, path: Path
) -> None:
    agent_id = lived(memory, "anna", MARK)
    memory.agents.create("ben")
    before = sizes(path)
    clock.advance(hours=1)
    receipt = memory.agents.delete("anna")
    after = sizes(path)

    assert (receipt.agent_id, receipt.name, receipt.deleted_at) == (agent_id, "anna", clock.now())
    for table in ("agents", "conversations", "messages", "memories", "summaries", "pins", "blocks"):
        went = before[table] - after.get(table, 0)
        assert receipt.removed[table] == went > 0, table
    assert "block 'human' is shared and stays" in receipt.kept
    assert "human" in [one.label for one in memory.blocks.list("ben")]


def test_memories_an_agent_wrote_for_others_stay_in_nobodys_name(memory: LocalRecollect) -> None:
    memory.agents.create("anna")
    of_project = memory.ingest("The site uses pnpm.", project="site", agent="anna")
    of_all = memory.ingest("Answers are short.", agent="anna", scope="global")
    memory.blocks.set("anna", "project", "uses pnpm", project="site")
    memory.agents.delete("anna")

    for kept in (of_project, of_all):
        found = memory.memories.get(kept.id)
        assert (found.content, found.status, found.agent_id) == (kept.content, "active", None)
    assert [hit.memory.id for hit in memory.search("pnpm", project="site")] == [of_project.id]
    assert memory.blocks.list(project="site")[0].value == "uses pnpm"


def test_a_passage_two_agents_keep_goes_from_one_and_stays_with_the_other(
    memory: LocalRecollect,
) -> None:
    memory.agents.create("anna")
    memory.agents.create("ben")
    memory.archive.insert("anna", "the same passage")
    kept = memory.archive.insert("ben", "the same passage")
    memory.agents.delete("anna")

    assert [hit.memory.id for hit in memory.archive.search("ben", "passage")] == [kept.id]
    assert memory.maintenance.verify().ok


def test_a_new_agent_of_the_same_name_is_a_stranger(memory: LocalRecollect) -> None:
    lived(memory, "anna", MARK)
    memory.agents.delete("anna")
    memory.agents.create("anna")

    assert memory.conversations.list(agent="anna") == []
    assert memory.conversations.search(MARK, agent="anna") == []
    assert memory.archive.search("anna", MARK) == []
    assert memory.blocks.get("anna", "persona").value == ""


def test_an_agent_is_deleted_once(memory: LocalRecollect) -> None:
    memory.agents.create("anna")
    memory.agents.delete("anna")

    with pytest.raises(NotFound):
        memory.agents.delete("anna")


def test_questions_about_one_conversation_go_with_its_agent(memory: LocalRecollect, path: Path) -> None:
    talk = memory.conversations.start(agent="anna")
    memory.conversations.append(talk, "user", MARK)
    memory.conversations.search(MARK, conversation=talk)
    memory.agents.delete("anna")

    assert traces(path, MARK, talk.id) == {}


def test_questions_asked_under_a_former_name_go_with_the_agent(
    memory: LocalRecollect, path: Path
) -> None:
    memory.agents.create("anna")
    memory.conversations.search(MARK, agent="anna")
    memory.search(MARK, agent="anna")
    memory.agents.update("anna", name="ann")
    memory.agents.delete("ann")

    assert traces(path, MARK) == {}


def test_questions_asked_with_blanks_around_the_name_go_with_the_agent(
    memory: LocalRecollect, path: Path
) -> None:
    memory.agents.create("anna")
    memory.conversations.search(MARK, agent=" anna ")
    memory.agents.delete("anna")

    assert traces(path, MARK) == {}


def test_what_was_captured_for_a_project_is_still_extracted_when_its_agent_is_gone(
    memory: LocalRecollect, path: Path
) -> None:
    agent = memory.agents.create("anna")
    memory.capture_session(
        "We use ruff for linting.", project="site", agent="anna", scope="project"
    )
    memory.agents.delete("anna")
    memory.drain()

    assert memory.jobs.list() == []
    assert [one.content for one in candidates(memory)] == ["We use ruff for linting."]
    assert traces(path, agent.id).keys() <= {"shelves"}
