"""A request that is sent twice is carried out once."""

from datetime import timedelta

import pytest

from recollect import AlreadyAccepted, InvalidInput, LocalRecollect
from support import FakeClock


def contents(memory: LocalRecollect) -> list[str]:
    return [one.content for one in memory.memories.list(everywhere=True)]


def test_the_second_request_of_a_key_is_told_that_the_first_was_done(memory: LocalRecollect) -> None:
    memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))

    with pytest.raises(AlreadyAccepted, match="'k'"):
        memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))
    assert contents(memory) == ["one thing"]


def test_a_key_stands_for_one_request(memory: LocalRecollect) -> None:
    memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))

    with pytest.raises(InvalidInput, match="another request"):
        memory.engine.run_once("k", "other print", lambda: memory.ingest("another thing"))
    assert contents(memory) == ["one thing"]


def test_a_request_that_fails_leaves_its_key_free(memory: LocalRecollect) -> None:
    with pytest.raises(InvalidInput):
        memory.engine.run_once("k", "print", lambda: memory.ingest(""))

    memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))
    assert contents(memory) == ["one thing"]


def test_a_write_that_fails_inside_its_transaction_leaves_its_key_free(memory: LocalRecollect) -> None:
    talk = memory.conversations.start(agent="anna")
    memory.conversations.end(talk)

    with pytest.raises(Exception, match="resume it first"):
        memory.engine.run_once("k", "print", lambda: memory.conversations.append(talk, "user", "late"))

    memory.conversations.resume(talk)
    memory.engine.run_once("k", "print", lambda: memory.conversations.append(talk, "user", "late"))
    assert len(memory.conversations.messages(talk)) == 1


def test_only_the_write_of_the_request_is_guarded(memory: LocalRecollect) -> None:
    memory.engine.run_once("k", "print", lambda: memory.search("nothing is written by a question"))
    memory.ingest("afterwards")

    memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))
    assert sorted(contents(memory)) == ["afterwards", "one thing"]


def test_keys_are_kept_for_a_day(memory: LocalRecollect, clock: FakeClock) -> None:
    memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))
    clock.advance(hours=25)
    memory.engine.run_once("other", "print", lambda: memory.ingest("another thing"))

    memory.engine.run_once("k", "print", lambda: memory.ingest("a third thing"))
    assert len(contents(memory)) == 3


def test_a_key_outlives_the_process(memory: LocalRecollect, clock: FakeClock) -> None:
    from support import open_memory

    memory.engine.run_once("k", "print", lambda: memory.ingest("one thing"))
    clock.moment += timedelta(minutes=1)
    with (
        open_memory(memory.path, clock=clock) as again,
        pytest.raises(AlreadyAccepted),
    ):
        again.engine.run_once("k", "print", lambda: again.ingest("one thing"))
