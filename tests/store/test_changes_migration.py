"""Migration 0013: the changes and the provenance of an existing file become data."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from older_stores import older_store
from recollect import LocalRecollect, Status
from recollect.store.sqlite.migrate import known_migrations
from support import FakeClock, candidates, open_memory

CHANGED = ("memories", "memory_changes")
SCHEMA = 12  # the one before


def fill(rec: LocalRecollect, clock: FakeClock) -> None:
    """Make memories of every origin, and changes of every kind that versions before had."""
    say(rec, "The staging server listens on port 8080. Remind me tomorrow to renew it.", "monday")
    for memory in candidates(rec):
        rec.promote(memory.id, reason="I know it")
    clock.advance(days=1)
    say(rec, "The staging server listens on port 9090.", "tuesday")
    for memory in candidates(rec, project="site", everywhere=False):
        rec.promote(memory.id, replaces=True)
    rec.ingest("written by an agent", by="agent", author="coder", project="site")
    rec.memories.ingest_many(
        [
            {"content": "The backup runs on host atlas.", "status": "inbox", "confidence": 0.6},
            {"content": "The nightly backup runs on host atlas.", "status": "inbox"},
        ]
    )
    rec.upsert_profile_fact("editor", "vi")
    rec.upsert_profile_fact("editor", "helix")
    rec.agents.create("coder")
    talk = rec.conversations.start(agent="coder", project="site")
    rec.conversations.append(talk, "user", "which port?")
    rec.search("which port does the staging server use?", project="site")


def say(rec: LocalRecollect, text: str, session: str) -> None:
    messages = [{"role": "user", "content": text}, {"role": "user", "content": f"Hi {session}."}]
    rec.capture_session(messages, project="site", session=session)
    rec.drain()


def rows(rec: LocalRecollect, *, changed: bool) -> list[Any]:
    """Return exported rows; an older store did not count the revisions of a conversation."""
    return [
        {**row, "revision": 0} if row["table"] == "conversations" else row
        for row in rec._store.export_rows()
        if (row["table"] in CHANGED) is changed
    ]


@pytest.fixture
def new(tmp_path: Path, clock: FakeClock) -> Path:
    with open_memory(tmp_path / "now.db", clock=clock, words_only=True) as rec:
        fill(rec, clock)
    return tmp_path / "now.db"


def test_the_export_of_a_migrated_file_is_the_same_apart_from_the_effects(
    new: Path, tmp_path: Path, clock: FakeClock
) -> None:
    old = older_store(new, tmp_path / "memory.db", clock, schema=SCHEMA)
    with open_memory(new, clock=clock, words_only=True) as rec:
        expected = rows(rec, changed=False), rows(rec, changed=True)
    with open_memory(old, clock=clock, words_only=True) as rec:
        found = rows(rec, changed=False), rows(rec, changed=True)
        checked = rec.maintenance.verify()

    without_effects = [
        [{**row, "effects": ""} if row["table"] == "memory_changes" else row for row in part]
        for part in (found[1], expected[1])
    ]
    assert checked.ok, checked.problems
    assert found[0] == expected[0]
    assert without_effects[0] == without_effects[1]
    assert {row["voice"] for row in expected[1] if row["table"] == "memories"} >= {"user", None}


def test_before_it_is_migrated_a_snapshot_of_the_file_is_made(
    new: Path, tmp_path: Path, clock: FakeClock
) -> None:
    old = older_store(new, tmp_path / "memory.db", clock, schema=SCHEMA)
    open_memory(old, clock=clock, words_only=True).close()

    copy = apsw.Connection(
        str(old.with_name(f"memory.db.before-{SCHEMA + 1:04}")), flags=apsw.SQLITE_OPEN_READONLY
    )
    assert copy.execute("SELECT max(number) FROM migrations").get == SCHEMA
    assert copy.execute("SELECT count(*) FROM memories WHERE metadata <> '{}'").get
    copy.close()


@pytest.mark.parametrize("verdict", ["keep", "reject"])
def test_a_decision_of_the_version_before_is_undone_with_its_duplicates(
    tmp_path: Path, clock: FakeClock, verdict: str
) -> None:
    source = tmp_path / "now.db"
    with open_memory(source, clock=clock, words_only=True) as rec:
        first, second = rec.memories.ingest_many(
            [
                {"content": "The backup runs on host atlas.", "status": "inbox", "confidence": 0.6},
                {"content": "The nightly backup runs on host atlas.", "status": "inbox"},
            ]
        )
        clock.advance(days=1)
        rec.inbox.decide(first.id, verdict)
    old = older_store(source, tmp_path / "memory.db", clock, schema=SCHEMA)

    with open_memory(old, clock=clock, words_only=True) as rec:
        decided = rec.memories.get(first.id)
        rec.undo(first.id)
        memories = [rec.memories.get(memory.id) for memory in (first, second)]

        assert len(decided.evidence) == (2 if verdict == "keep" else 1)
        assert [memory.status for memory in memories] == [Status.INBOX, Status.INBOX]
        assert [memory.confidence for memory in memories] == [0.6, 1.0]
        assert [memory.confirmed_at for memory in memories] == [
            first.confirmed_at,
            second.confirmed_at,
        ]
        assert memories[0].evidence == first.evidence
        assert rec.maintenance.verify().ok


def test_a_replacement_of_the_version_before_is_undone_with_what_it_replaced(
    tmp_path: Path, clock: FakeClock
) -> None:
    source = tmp_path / "now.db"
    with open_memory(source, clock=clock, words_only=True) as rec:
        former = rec.ingest("The staging server listens on port 8080.", project="site")
        new = rec.ingest("The staging server listens on port 9090.", project="site", status="inbox")
        rec.link(new.id, "contradicts", former.id)
        clock.advance(days=1)
        rec.promote(new.id, replaces=True)
    old = older_store(source, tmp_path / "memory.db", clock, schema=SCHEMA)

    with open_memory(old, clock=clock, words_only=True) as rec:
        rec.undo(new.id)
        statuses = [rec.memories.get(memory.id).status for memory in (former, new)]

        assert statuses == [Status.ACTIVE, Status.INBOX]
        assert rec.memories.get(new.id).confirmed_at == new.confirmed_at


def test_the_migration_is_the_one_these_tests_are_about() -> None:
    assert [step.name for step in known_migrations() if step.number == SCHEMA + 1] == [
        "changes_as_data"
    ]
