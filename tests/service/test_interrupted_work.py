"""
Long work that is killed at any write, and goes on later, ends as if nobody had disturbed it.

A child is forked for each write there is and dies just before or just after its commit.
"""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copyfile
from typing import NoReturn, TypeVar

import pytest

from recollect import Conversation, LocalRecollect
from recollect.service import delete_conversation
from recollect.store import bounded_steps
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from support import open_memory

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked"),
]
T = TypeVar("T")
MAX_WRITES = 12


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_steps, "STEP_ROWS", 15)
    monkeypatch.setattr(delete_conversation, "MESSAGES_AT_ONCE", 8)


def die_at(number: int, *, committed: bool) -> None:
    """Let this process die at a write of its store: before its commit, or after."""
    real, writes = SqliteStore.write, 0

    def die(*_: object) -> NoReturn:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("still alive")

    def write(store: SqliteStore, work: Callable[[SqliteTables], T]) -> T:
        nonlocal writes
        writes += 1
        if writes != number:
            return real(store, work)
        real(store, work if committed else lambda tables: (work(tables), die()))
        die()

    SqliteStore.write = write  # type: ignore[method-assign, assignment]


def killed_stores(path: Path, work: Callable[[LocalRecollect], object]) -> Iterator[Path]:
    """Do *work* on a copy of the store for each write there is, and die there; yield the copies."""
    for number in range(1, MAX_WRITES):
        for committed in (False, True):
            copy = path.with_name(f"{number}-{committed}.db")
            if path.exists():
                copyfile(path, copy)
            pid = os.fork()
            if pid == 0:
                die_at(number, committed=committed)
                with open_memory(copy, words_only=True) as rec:
                    work(rec)
                os._exit(0)
            was_killed = os.WIFSIGNALED(os.waitpid(pid, 0)[1])
            yield copy
        if not was_killed:
            return


def rows_of(rec: LocalRecollect) -> list[dict[str, object]]:
    return [dict(row) for row in rec._store.export_rows()]


def say(rec: LocalRecollect, count: int) -> Conversation:
    talk = rec.conversations.start(agent="anna")
    messages = [{"role": "user", "content": f"zebra number {n}"} for n in range(count)]
    rec.conversations.append_many(talk, messages)
    return talk


def test_a_deletion_that_is_killed_is_hidden_or_untouched_and_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_memory(path, words_only=True) as rec:
        talk = say(rec, 24)
        rec.ingest("said in the session", session=talk.id, scope="session")
        rec.ingest("said by everybody")
    stores = 0
    for store in killed_stores(path, lambda rec: rec.conversations.delete(talk)):
        with open_memory(store, words_only=True) as rec:
            stores += 1
            if rec.conversations.list(agent="anna"):
                assert len(rec.conversations.messages(talk)) == 24
                continue
            assert rec.conversations.search("zebra", agent="anna") == []
            assert not any(row.get("conversation_id") == talk.id for row in rows_of(rec))
            assert rec.maintenance.verify().ok
            rec.drain()
            counts = rec.maintenance.status().counts
            assert (counts["messages"], counts["conversations"], counts["memories"]) == (0, 0, 1)
            assert rec.maintenance.status().unfinished == ()
            assert rec.maintenance.verify().ok
        files = store.parent.glob(f"{store.name}*")
        assert not any(b"zebra number 17" in file.read_bytes() for file in files)
    assert stores > 4


def test_an_import_that_is_killed_is_reported_and_run_again(tmp_path: Path) -> None:
    exported = tmp_path / "e.jsonl"
    with open_memory(tmp_path / "other.db", words_only=True) as rec:
        say(rec, 24)
        rec.blocks.set("anna", "human", "likes tea")
        for n in range(4):
            rec.ingest(f"fact number {n}", project="site", tags=["a", "b"])
        rec.upsert_profile_fact("editor", "vim")
        rec.export(exported)
        complete = rows_of(rec)
    stores = incomplete = 0
    for store in killed_stores(
        tmp_path / "memory.db", lambda rec: rec.import_(exported, trust=True)
    ):
        with open_memory(store, words_only=True) as rec:
            stores += 1
            unfinished = rec.maintenance.status().unfinished
            if unfinished:
                incomplete += 1
                assert "e.jsonl" in unfinished[0]
                assert "run it again" in unfinished[0]
            assert rec.maintenance.verify().ok
            again = rec.import_(exported, trust=True)
            assert again.conflicts == ()
            assert rows_of(rec) == complete
            assert rec.maintenance.status().unfinished == ()
            assert rec.maintenance.verify().ok
    assert stores > 4
    assert incomplete >= 2


def test_an_agent_file_whose_import_is_killed_is_imported_whole_by_the_next(tmp_path: Path) -> None:
    exported = tmp_path / "anna.json"
    with open_memory(tmp_path / "other.db", words_only=True) as rec:
        say(rec, 12)
        rec.agents.export("anna", exported)
    for store in killed_stores(tmp_path / "memory.db", lambda rec: rec.agents.import_(exported)):
        with open_memory(store, words_only=True) as rec:
            is_complete = rec.agents.list() and not rec.maintenance.status().unfinished
            if not is_complete:
                rec.agents.import_(exported)
            assert [agent.name for agent in rec.agents.list()] == ["anna"]
            assert rec.maintenance.status().counts["messages"] == 12
            assert rec.maintenance.status().unfinished == ()
            assert rec.maintenance.verify().ok
