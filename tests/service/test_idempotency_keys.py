"""A request that is sent twice is carried out once."""

from datetime import timedelta

import pytest

from recollect import AlreadyAccepted, InvalidInput, LocalRecollect
from support import FakeClock


def contents(rec: LocalRecollect) -> list[str]:
    return [memory.content for memory in rec.memories.list(everywhere=True)]


def test_the_second_request_of_a_key_is_told_that_the_first_was_done(rec: LocalRecollect) -> None:
    rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))

    with pytest.raises(AlreadyAccepted, match="'k'"):
        rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))
    assert contents(rec) == ["one thing"]


def test_a_key_stands_for_one_request(rec: LocalRecollect) -> None:
    rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))

    with pytest.raises(InvalidInput, match="another request"):
        rec.engine.run_once("k", "other print", lambda: rec.ingest("another thing"))
    assert contents(rec) == ["one thing"]


def test_a_request_that_fails_leaves_its_key_free(rec: LocalRecollect) -> None:
    with pytest.raises(InvalidInput):
        rec.engine.run_once("k", "print", lambda: rec.ingest(""))

    rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))
    assert contents(rec) == ["one thing"]


def test_a_write_that_fails_inside_its_transaction_leaves_its_key_free(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.end(talk)

    with pytest.raises(Exception, match="resume it first"):
        rec.engine.run_once("k", "print", lambda: rec.conversations.append(talk, "user", "late"))

    rec.conversations.resume(talk)
    rec.engine.run_once("k", "print", lambda: rec.conversations.append(talk, "user", "late"))
    assert len(rec.conversations.messages(talk)) == 1


def test_only_the_write_of_the_request_is_guarded(rec: LocalRecollect) -> None:
    rec.engine.run_once("k", "print", lambda: rec.search("nothing is written by a question"))
    rec.ingest("afterwards")

    rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))
    assert sorted(contents(rec)) == ["afterwards", "one thing"]


def test_keys_are_kept_for_a_day(rec: LocalRecollect, clock: FakeClock) -> None:
    rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))
    clock.advance(hours=25)
    rec.engine.run_once("other", "print", lambda: rec.ingest("another thing"))

    rec.engine.run_once("k", "print", lambda: rec.ingest("a third thing"))
    assert len(contents(rec)) == 3


def test_a_key_outlives_the_process(rec: LocalRecollect, clock: FakeClock) -> None:
    from support import open_memory

    rec.engine.run_once("k", "print", lambda: rec.ingest("one thing"))
    clock.moment += timedelta(minutes=1)
    with (
        open_memory(rec.path, clock=clock) as again,
        pytest.raises(AlreadyAccepted),
    ):
        again.engine.run_once("k", "print", lambda: again.ingest("one thing"))
