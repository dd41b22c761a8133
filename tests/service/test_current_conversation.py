"""Messages of writers who name no conversation: one runs per agent, until four hours of silence."""

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from recollect import InvalidInput, LocalRecollect, NotFound
from support import START, FakeClock, open_memory

WRITER = """
import sys
import recollect
with recollect.open(sys.argv[1], embedding_backend="none") as rec:
    sys.stdin.readline()
    for number in range(20):
        rec.conversations.add_message("ada", "user", f"{sys.argv[2]} {number}")
"""


@pytest.fixture(autouse=True)
def _ada(rec: LocalRecollect) -> None:
    rec.agents.create("ada")


def test_the_running_conversation_ends_after_four_hours_of_silence(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    first = rec.conversations.add_message("ada", "user", "one")
    clock.advance(hours=4)
    second = rec.conversations.add_message("ada", "assistant", "two")
    clock.advance(hours=4, microseconds=1)
    third = rec.conversations.add_message("ada", "user", "three")

    assert first.conversation_id == second.conversation_id != third.conversation_id
    assert [first.position, second.position, third.position] == [0, 1, 0]
    over = rec.conversations.get(first.conversation_id)
    assert over.ended_at == second.created_at  # when the last word fell
    assert rec.conversations.get(third.conversation_id).started_at == third.created_at


def test_conversations_begun_by_name_are_left_alone(rec: LocalRecollect, clock: FakeClock) -> None:
    talk = rec.conversations.start(agent="ada")
    rec.conversations.append(talk, "user", "by name")
    clock.advance(hours=5)

    message = rec.conversations.add_message("ada", "user", "by the way")

    assert message.conversation_id != talk.id
    assert rec.conversations.get(talk).ended_at is None
    assert rec.conversations.append(talk, "user", "still open").position == 1


def test_a_conversation_that_was_ended_or_deleted_runs_no_more(rec: LocalRecollect) -> None:
    first = rec.conversations.add_message("ada", "user", "one")
    rec.conversations.end(first.conversation_id)
    second = rec.conversations.add_message("ada", "user", "two")
    rec.conversations.delete(second.conversation_id)
    third = rec.conversations.add_message("ada", "user", "three")

    assert len({message.conversation_id for message in (first, second, third)}) == 3


def test_agents_run_apart(rec: LocalRecollect) -> None:
    rec.agents.create("ben")

    one, two = (rec.conversations.add_message(name, "user", "hello") for name in ("ada", "ben"))

    assert one.conversation_id != two.conversation_id
    assert rec.conversations.get(two.conversation_id).agent_id == rec.agents.get("ben").id


def test_the_silence_is_measured_where_the_message_says_it_stands(rec: LocalRecollect) -> None:
    old = START - timedelta(days=30)
    first = rec.conversations.add_message("ada", "user", "one", created_at=old)
    second = rec.conversations.add_message(
        "ada", "user", "two", created_at=old + timedelta(hours=3)
    )
    third = rec.conversations.add_message(
        "ada", "user", "three", created_at=old + timedelta(days=1)
    )

    assert first.conversation_id == second.conversation_id != third.conversation_id
    assert [message.content for message in rec.conversations.agent_messages("ada")] == [
        "three",
        "two",
        "one",
    ]


def test_what_is_no_message_begins_no_conversation(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        rec.conversations.add_message("nobody", "user", "hello")
    for role, content in (("root", "hello"), ("user", "  "), ("user", None)):
        with pytest.raises(InvalidInput):
            rec.conversations.add_message("ada", role, content)

    assert rec.conversations.list() == []


def test_threads_that_write_at_once_share_one_conversation(path: Path) -> None:
    with open_memory(path, words_only=True) as rec, ThreadPoolExecutor(8) as pool:
        message = list(
            pool.map(lambda n: rec.conversations.add_message("ada", "user", f"{n}"), range(100))
        )

        assert len({message.conversation_id for message in message}) == 1
        assert sorted(message.position for message in message) == list(range(100))


@pytest.mark.door
def test_processes_that_write_at_once_share_one_conversation(
    rec: LocalRecollect, path: Path
) -> None:
    writers = [
        Popen([sys.executable, "-c", WRITER, str(path), name], stdin=PIPE, text=True)
        for name in ("left", "right")
    ]
    for process in writers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.close()

    assert [process.wait(60) for process in writers] == [0, 0]
    messages = rec.conversations.agent_messages("ada", limit=1_000)
    assert len(messages) == 40
    assert len({message.conversation_id for message in messages}) == 1


def test_a_caller_who_sends_a_conversation_himself_is_not_told_of_it(
    rec: LocalRecollect, clock: FakeClock
) -> None:
    before = rec.conversations.add_message("ada", "user", "The lamp in the kitchen is red.")
    clock.advance(hours=5)
    now = rec.conversations.add_message("ada", "user", "The lamp in the hall is green.")

    bundle = rec.context_for(
        "which lamp?", agent="ada", conversation=now.conversation_id, history=False
    )

    assert bundle.history == ()
    assert [hit.message.id for hit in bundle.messages_found] == [before.id]
    assert "green" not in bundle.text
