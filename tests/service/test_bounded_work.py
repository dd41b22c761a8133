"""Long work goes in bounded transactions, and every other writer gets the lock between them."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from recollect import Conversation, LocalRecollect, NotFound
from recollect.service import compaction, delete_conversation
from recollect.store import bounded_steps
from support import FakeClock, open_memory

pytestmark = pytest.mark.kill
STEP_ROWS = 20


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, path: Path) -> Iterator["Steps"]:
    """Make steps short, and write from another connection in every pause between them."""
    watched = Steps(path)
    monkeypatch.setattr(bounded_steps, "STEP_ROWS", STEP_ROWS)
    monkeypatch.setattr(delete_conversation, "MESSAGES_AT_ONCE", 10)
    fake_time = SimpleNamespace(monotonic=time.monotonic, sleep=watched.pause)
    monkeypatch.setattr(bounded_steps, "time", fake_time)
    yield watched
    watched.db.close()


class Steps:
    """The pauses so far: in each one, how many rows there are of a table."""

    def __init__(self, path: Path) -> None:
        self.db = apsw.Connection(str(path))
        self.db.set_busy_timeout(0)  # a lock that is held is an error at once
        self.table = "messages"
        self.rows: list[int] = []

    def pause(self, seconds: float) -> None:
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("INSERT INTO requests VALUES (?, '', 0)", (f"pause {len(self.rows)}",))
        self.db.execute("COMMIT")
        self.rows.append(self.db.execute(f"SELECT count(*) FROM {self.table}").get)

    def largest(self) -> int:
        return max(abs(now - before) for before, now in zip(self.rows, self.rows[1:], strict=False))


def say(rec: LocalRecollect, count: int, agent: str | None = "anna") -> Conversation:
    talk = rec.conversations.start(agent=agent)
    messages = [{"role": "user", "content": f"zebra number {n}"} for n in range(count)]
    rec.conversations.append_many(talk, messages)
    return talk


def bytes_of(path: Path) -> bytes:
    """Return the bytes of every file of a store."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


@pytest.mark.parametrize("agent", ["anna", None])
def test_a_conversation_is_deleted_in_steps_between_which_others_write(
    rec: LocalRecollect, path: Path, steps: Steps, agent: str | None
) -> None:
    monday, tuesday = say(rec, 100, agent), say(rec, 5, agent)
    rec.ingest("the zebra belongs to this session", session=monday.id, scope="session")

    receipt = rec.conversations.delete(monday)

    assert steps.largest() <= STEP_ROWS
    assert receipt.removed["messages"] == 100
    assert receipt.kept == ()
    assert len(rec.conversations.messages(tuesday)) == 5
    assert rec.maintenance.status().counts["messages"] == 5
    assert rec.maintenance.verify().ok
    assert b"zebra number 77" not in bytes_of(path)
    with pytest.raises(NotFound):
        rec.conversations.get(monday.id)


def test_an_agent_with_many_conversations_is_deleted_in_steps(
    rec: LocalRecollect, steps: Steps
) -> None:
    for _ in range(10):
        say(rec, 15)

    receipt = rec.agents.delete("anna")

    assert receipt.removed["messages"] == 150
    assert receipt.removed["conversations"] == 10
    assert len(steps.rows) >= 5
    assert rec.maintenance.verify().ok


def test_an_export_is_imported_in_steps_between_which_others_write(
    rec: LocalRecollect, path: Path, steps: Steps, tmp_path: Path, clock: FakeClock
) -> None:
    exported = tmp_path / "e.jsonl"
    with open_memory(tmp_path / "other.db", clock=clock) as other:
        say(other, 150)
        other.export(exported)

    imported = rec.import_(exported, trust=True)

    assert imported.added["messages"] == 150
    assert len(steps.rows) >= 150 / (STEP_ROWS + 50)
    assert steps.largest() <= STEP_ROWS + 50
    assert rec.maintenance.status().unfinished == ()
    assert rec.maintenance.verify().ok


def test_an_agent_file_is_imported_in_steps(
    rec: LocalRecollect, steps: Steps, tmp_path: Path, clock: FakeClock
) -> None:
    exported = tmp_path / "anna.json"
    with open_memory(tmp_path / "other.db", clock=clock) as other:
        say(other, 100)
        other.agents.export("anna", exported)

    imported = rec.agents.import_(exported)

    assert imported.counts["messages"] == 100
    assert steps.largest() <= STEP_ROWS
    assert rec.maintenance.status().unfinished == ()


def test_a_window_far_too_full_is_compacted_in_rounds(
    rec: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "ROUND_MESSAGES", 20)
    talk = rec.conversations.start(agent="anna")
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are a careful assistant."}]
    for n in range(60):
        messages.append({"role": "user", "content": f"Please look at ticket {n} of the importer."})
        call = {"id": f"c{n}", "function": {"name": "look", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "content": f"ticket {n} is open", "tool_call_id": f"c{n}"})
    stored = rec.conversations.append_many(talk, messages)
    rec.conversations.pin_message(stored[31].id)

    compacted = rec.conversations.compact(talk, force=True, window_tokens=400, keep_last=6)

    assert compacted is not None
    window = rec.conversations.messages_in_context(talk)
    positions = [message.position for message in window]
    assert {0, 31, *range(175, 181)} <= set(positions)  # instructions, the pin, the last messages
    assert compacted.evicted == 181 - len(window)
    assert len(window) < 40
    calls = {call["id"] for message in window for call in message.tool_calls}
    assert calls == {message.tool_call_id for message in window if message.tool_call_id}
    rounds = rec.conversations.summaries(talk)
    assert len(rounds) > 5
    assert rounds[-1].id == compacted.summary.id


@pytest.fixture
def reader(path: Path, rec: LocalRecollect) -> Iterator[Callable[[], apsw.Connection]]:
    """Begin a read of another program that does not end by itself."""
    opened: list[apsw.Connection] = []

    def begin() -> apsw.Connection:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.execute("BEGIN")
        db.execute("SELECT count(*) FROM memories").fetchall()
        opened.append(db)
        return db

    yield begin
    for db in opened:
        db.close()


def test_forget_beside_a_long_reader_does_not_stop_writers_and_is_finished_later(
    rec: LocalRecollect, path: Path, reader: Callable[[], apsw.Connection]
) -> None:
    memory = rec.ingest("the zebra is called swordfish")
    reading = reader()
    receipts = []
    forgetting = threading.Thread(target=lambda: receipts.append(rec.forget(memory.id)))
    writer = apsw.Connection(str(path))
    writer.set_busy_timeout(2_000)
    writes = 0

    forgetting.start()
    while forgetting.is_alive():
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("COMMIT")
        writes += 1
    forgetting.join()
    writer.close()

    assert writes > 10
    assert any("write-ahead log" in line for line in receipts[0].kept)
    assert any("write-ahead log" in line for line in rec.maintenance.status().unfinished)
    assert b"swordfish" in bytes_of(path)
    reading.close()
    rec.drain()
    assert rec.maintenance.status().unfinished == ()
    assert b"swordfish" not in bytes_of(path)


def test_a_deletion_that_takes_too_long_for_its_caller_is_finished_by_a_worker(
    rec: LocalRecollect, steps: Steps, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete_conversation, "CALLER_WAITS_S", -1.0)
    talk = say(rec, 100)

    receipt = rec.conversations.delete(talk)

    assert any("not deleted yet" in line for line in receipt.kept)
    assert rec.conversations.search("zebra", agent="anna") == []
    assert rec.conversations.list(agent="anna") == []
    assert any("conversation" in line for line in rec.maintenance.status().unfinished)
    list(rec.engine.finish_work_in_steps())
    assert rec.maintenance.status().counts["messages"] == 0
    assert rec.maintenance.status().unfinished == ()
    assert rec.maintenance.verify().ok
    assert b"zebra number 77" not in bytes_of(path)
