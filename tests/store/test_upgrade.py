"""A store made by the first release opens with this one, with everything in it."""

import stat
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from older_stores import older_store
from recollect import LocalRecollect, MemoryExplanation, Retrieval, Status
from recollect.domain.change import NO_EFFECTS
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations
from support import FakeClock, candidates, open_memory


@pytest.fixture
def old(tmp_path: Path, clock: FakeClock) -> Path:
    """A store of the first release, in which somebody has worked."""
    source = tmp_path / "now.db"
    with open_memory(source, clock=clock) as rec:
        filled(rec, clock)
    return older_store(source, tmp_path / "memory.db", clock)


def filled(rec: LocalRecollect, clock: FakeClock) -> None:
    first = rec.ingest(
        "Use pnpm, not npm.",
        type="decision",
        project="site",
        tags=["ci"],
        rationale="Faster.",
        alternatives=["npm"],
    )
    other = rec.ingest("Releases happen on Fridays.", project="site", repo="web")
    rec.link(first.id, "supports", other.id, note="both are about releases")
    clock.advance(days=1)
    rec.upsert_profile_fact("editor", "vi")
    rec.upsert_profile_fact("editor", "helix")
    rec.ingest("an idea", agent="bob", status="inbox")
    rec.views.save("tools", "pnpm", project="site")
    rec.search("when do releases happen?", project="site")
    rec.drain()


def everything(rec: LocalRecollect) -> dict[str, object]:
    found = rec.memories.list(everywhere=True, statuses=list(Status), limit=100)
    memories = {}
    for stored in found:
        explained = rec.explain(stored.id)
        assert isinstance(explained, MemoryExplanation)
        # The first release did not record effects.
        changes = [replace(change, effects=NO_EFFECTS) for change in explained.changes]
        memories[stored.id] = (stored, explained.sources, explained.links, changes)
    return {
        "memories": memories,
        "events": rec.captures.list(),
        "views": rec.views.list(),
        "projects": rec.projects.list(),
        "counts": {
            name: number for name, number in rec.maintenance.status().counts.items() if number
        },
    }


def test_a_store_of_the_first_release_keeps_everything(
    old: Path, tmp_path: Path, clock: FakeClock
) -> None:
    with open_memory(tmp_path / "now.db", clock=clock) as rec:
        expected = everything(rec)
    with open_memory(old, clock=clock) as rec:
        found = everything(rec)
        hits = rec.search("pnpm", project="site")
        newest = rec.maintenance.status().schema
        checked = rec.maintenance.verify()

    assert found == expected
    assert len(expected["memories"]) == 5  # type: ignore[arg-type]
    assert newest == known_migrations()[-1].number
    assert hits[0].memory.content == "Use pnpm, not npm."
    assert checked.ok, checked.problems


def test_an_upgraded_store_knows_its_exports_and_has_nothing_unfinished(
    old: Path, tmp_path: Path, clock: FakeClock
) -> None:
    exported = tmp_path / "export.jsonl"
    with open_memory(old, clock=clock) as rec:
        rec.export(exported)
        imported = rec.import_(exported)
        talk = rec.conversations.start(agent="bob")
        rec.conversations.append(talk, "user", "hello")
        removed = rec.conversations.delete(talk).removed

        assert imported.trusted
        assert imported.added == {}
        assert removed["messages"] == 1
        assert rec.maintenance.status().unfinished == ()


def test_before_it_is_upgraded_a_copy_is_made_for_its_owner_only(
    old: Path, clock: FakeClock
) -> None:
    open_memory(old, clock=clock).close()

    copy = old.with_name("memory.db.before-0002")
    db = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert db.execute("SELECT number FROM migrations").fetchall() == [(1,)]
    assert db.execute("SELECT count(*) FROM memories").get == 5
    db.close()


def test_it_is_upgraded_once(old: Path, clock: FakeClock) -> None:
    open_memory(old, clock=clock).close()
    copy = old.with_name("memory.db.before-0002")
    made_at = copy.stat().st_mtime_ns
    open_memory(old, clock=clock).close()

    assert copy.stat().st_mtime_ns == made_at
    assert len(list(old.parent.glob("memory.db.before-*"))) == 1


def test_an_upgraded_store_takes_part_in_all_that_is_new(old: Path, clock: FakeClock) -> None:
    with open_memory(old, clock=clock) as rec:
        waiting = rec.inbox.list()
        rec.capture_session(
            "Good morning, how are you today? Use pnpm, not npm. We use ruff for linting.",
            project="site",
        )
        rec.drain()
        [candidate] = candidates(rec, project="site", everywhere=False)
        rec.promote(candidate.id)
        rec.undo(candidate.id)
        rec.maintenance.run()

        assert [group.memory.content for group in waiting] == ["an idea"]
        assert (waiting[0].source, waiting[0].voice) == ("manual, 2026-05-09", "")
        assert candidate.content == "We use ruff for linting."
        assert rec.jobs.list() == []
        assert rec.maintenance.verify().ok


def test_what_was_asked_before_the_upgrade_can_still_be_explained(
    old: Path, tmp_path: Path, clock: FakeClock
) -> None:
    db = apsw.Connection(str(old), flags=apsw.SQLITE_OPEN_READONLY)
    retrieval_id = str(db.execute("SELECT id FROM retrievals").get)
    db.close()
    with open_memory(old, clock=clock) as rec:
        found = rec.explain(retrieval_id)

    assert isinstance(found, Retrieval)
    assert found.query == "when do releases happen?"
    assert found.hits


def test_a_copy_of_the_first_release_can_be_opened_itself(old: Path, clock: FakeClock) -> None:
    open_memory(old, clock=clock).close()
    with open_memory(old.with_name("memory.db.before-0002"), clock=clock) as rec:
        assert len(rec.memories.list(everywhere=True, statuses=list(Status))) == 5
        assert rec.maintenance.verify().ok


def test_a_store_with_names_first_come_keeps_each_project_and_its_memories(
    tmp_path: Path, clock: FakeClock
) -> None:
    root = tmp_path / "Tool"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text(
        '[remote "origin"]\nurl = https://git.acme.io:8443/Acme/Tool\n'
    )
    folder = tmp_path / "notes"
    folder.mkdir()
    references = {
        "evil": "https://github.com/evil/payments",
        "tool": str(root),
        "notes": str(folder),
        "name": "My Project",
        "repo": "shop",
    }
    source = tmp_path / "now.db"
    with open_memory(source, clock=clock) as rec:
        for word, reference in references.items():
            rec.ingest(f"a fact of {word}", project=reference)
        rec.ingest("a fact of the shop", project="shop", repo="https://github.com/acme/web")
    old = older_store(source, tmp_path / "memory.db", clock)
    with connect(old) as db:  # as names and remotes were stored then
        db.execute(
            "UPDATE repos SET remote = 'git.acme.io/acme/tool' WHERE root <> '' AND remote <> ''"
        )
        db.execute("UPDATE projects SET name = 'tool' WHERE name = 'Tool'")

    with open_memory(old, clock=clock) as rec:
        found = {
            word: [hit.memory.content for hit in rec.search(f"fact of {word}", project=reference)]
            for word, reference in references.items()
        }
        plain = rec.search("fact of evil", project="payments")
        rec.ingest("another fact of tool", project=root)
        identities = {project.identity for project in rec.projects.list()}

    assert found == {word: [f"a fact of {word}"] for word in references} | {
        "repo": ["a fact of repo", "a fact of the shop"]
    }
    assert plain == []
    assert identities == {
        "https://github.com/evil/payments",
        "ssh://git.acme.io:8443/Acme/Tool",
        str(folder),
        "My Project",
        "shop",
    }


def test_of_older_candidates_nobody_can_tell_whether_the_user_typed_them(
    tmp_path: Path, clock: FakeClock
) -> None:
    source = tmp_path / "now.db"
    waiting, known = "The staging server listens on port 8080.", "I prefer tabs in Go code."
    with open_memory(source, clock=clock) as rec:
        for session in ("one", "two"):
            messages = [{"role": "user", "content": text} for text in (known, f"Hi {session}.")]
            rec.capture_session(messages, session=session, project="site")
        rec.capture_session([{"role": "user", "content": waiting}], session="three", project="site")
        rec.drain()
    old = older_store(source, tmp_path / "memory.db", clock, schema=9)

    with open_memory(old, clock=clock) as rec:
        memories = rec.memories.list(everywhere=True, statuses=["active", "inbox"], limit=20)
        facts = {memory.content: memory for memory in memories if memory.type != "episode"}
        assert facts[known].status is Status.ACTIVE
        assert [quote.voice for quote in facts[known].evidence] == ["user", "user"]
        assert facts[waiting].status is Status.INBOX
        assert [quote.voice for quote in facts[waiting].evidence] == ["pasted"]
        assert facts[waiting].provenance.voice == "pasted"

        again = [{"role": "user", "content": waiting}, {"role": "user", "content": "Hi four."}]
        rec.capture_session(again, session="four", project="site")
        rec.drain()
        assert {memory.content for memory in rec.memories.list(project="site")} == {
            known,
            *(memory.content for memory in rec.memories.list(project="site", types=["episode"])),
        }
        assert rec.maintenance.verify().ok


def test_what_agents_wrote_into_blocks_before_the_upgrade_is_marked(
    tmp_path: Path, clock: FakeClock
) -> None:
    source = tmp_path / "now.db"
    with open_memory(source, clock=clock) as rec:
        for name in ("coder", "other"):
            rec.agents.create(name)
        rec.blocks.set("other", "persona", "I am Ann's.")
        rec.blocks.append("coder", "persona", "I am terse.", by="agent")
        rec.blocks.append("coder", "persona", "I test.")
        proposal_id = rec.blocks.append("coder", "human", "Obey.", by="agent").proposal_id
        rec.blocks.accept(proposal_id, by="agent")
    old = older_store(source, tmp_path / "memory.db", clock, schema=6)

    with open_memory(old, clock=clock) as rec:
        authors = {
            (agent, label): rec.blocks.get(agent, label).unconfirmed_author
            for agent in ("coder", "other")
            for label in ("persona", "human", "style")
        }
        history = [version.unconfirmed_author for version in rec.blocks.history("coder", "persona")]
        confirmed = rec.blocks.confirm("coder", "persona")
        pending = rec.blocks.append("coder", "style", "tabs", by="agent").proposal_id

        assert {place: author for place, author in authors.items() if author} == {
            ("coder", "persona"): "coder",
            ("coder", "human"): "unknown",
            ("other", "human"): "unknown",
        }
        assert history == ["", "coder", "coder"]
        assert (confirmed.value, confirmed.unconfirmed_author) == ("I am terse.\nI test.", "")
        assert [proposal.id for proposal in rec.blocks.proposals()] == [pending]
        assert rec.maintenance.verify().ok
