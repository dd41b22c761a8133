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
with recollect.open(sys.argv[1], embedding_backend="none") as memory:
    sys.stdin.readline()
    for number in range(20):
        memory.add_message("ada", "user", f"{sys.argv[2]} {number}")
"""


@pytest.fixture(autouse=True)
def _ada(memory: LocalRecollect) -> None:
    memory.agents.create("ada")


def test_the_running_conversation_ends_after_four_hours_of_silence(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    first = memory.conversations.add_message("ada", "user", "one")
    clock.advance(hours=4)
    second = memory.conversations.add_message("ada", "assistant", "two")
    clock.advance(hours=4, microseconds=1)
    third = memory.conversations.add_message("ada", "user", "three")

    assert first.conversation_id == second.conversation_id != third.conversation_id
    assert [first.position, second.position, third.position] == [0, 1, 0]
    over = memory.conversations.get(first.conversation_id)
    assert over.ended_at == second.created_at  # when the last word fell
    assert memory.conversations.get(third.conversation_id).started_at == third.created_at


def test_conversations_begun_by_name_are_left_alone(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    talk = memory.conversations.start(agent="ada")
    memory.conversations.append(talk, "user", "by name")
    clock.advance(hours=5)

    said = memory.conversations.add_message("ada", "user", "by the way")

    assert said.conversation_id != talk.id
    assert memory.conversations.get(talk).ended_at is None
    assert memory.conversations.append(talk, "user", "still open").position == 1


def test_a_conversation_that_was_ended_or_deleted_runs_no_more(memory: LocalRecollect) -> None:
    first = memory.conversations.add_message("ada", "user", "one")
    memory.conversations.end(first.conversation_id)
    second = memory.conversations.add_message("ada", "user", "two")
    memory.conversations.delete(second.conversation_id)
    third = memory.conversations.add_message("ada", "user", "three")

    assert len({one.conversation_id for one in (first, second, third)}) == 3


def test_agents_run_apart(memory: LocalRecollect) -> None:
    memory.agents.create("ben")

    one, two = (memory.conversations.add_message(name, "user", "hello") for name in ("ada", "ben"))

    assert one.conversation_id != two.conversation_id
    assert (
        memory.conversations.get(two.conversation_id).agent_id
        == memory.agents.get("ben").id
    )


def test_the_silence_is_measured_where_the_message_says_it_stands(memory: LocalRecollect) -> None:
    old = START - timedelta(days=30)
    first = memory.conversations.add_message("ada", "user", "one", created_at=old)
    second = memory.conversations.add_message(
        "ada", "user", "two", created_at=old + timedelta(hours=3)
    )
    third = memory.conversations.add_message(
        "ada", "user", "three", created_at=old + timedelta(days=1)
    )

    assert first.conversation_id == second.conversation_id != third.conversation_id
    assert [one.content for one in memory.conversations.agent_messages("ada")] == [
        "three",
        "two",
        "one",
    ]


def test_what_is_no_message_begins_no_conversation(memory: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        memory.conversations.add_message("nobody", "user", "hello")
    for role, content in (("root", "hello"), ("user", "  "), ("user", None)):
        with pytest.raises(InvalidInput):
            memory.conversations.add_message("ada", role, content)

    assert memory.conversations.list() == []


def test_threads_that_write_at_once_share_one_conversation(path: Path) -> None:
    with open_memory(path, words_only=True) as memory, ThreadPoolExecutor(8) as pool:
        said = list(
            pool.map(lambda n: memory.conversations.add_message("ada", "user", f"{n}"), range(100))
        )

        assert len({one.conversation_id for one in said}) == 1
        assert sorted(one.position for one in said) == list(range(100))


@pytest.mark.door
def test_processes_that_write_at_once_share_one_conversation(
    memory: LocalRecollect, path: Path
) -> None:
    writers = [
        Popen([sys.executable, "-c", WRITER, str(path), name], stdin=PIPE, text=True)
        for name in ("left", "right")
    ]
    for one in writers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.close()

    assert [one.wait(60) for one in writers] == [0, 0]
    said = memory.conversations.agent_messages("ada", limit=1_000)
    assert len(said) == 40
    assert len({one.conversation_id for one in said}) == 1


def test_a_caller_who_sends_a_conversation_himself_is_not_told_of_it(
    memory: LocalRecollect, clock: FakeClock
) -> None:
    before = memory.conversations.add_message("ada", "user", "The lamp in the kitchen is red.")
    clock.advance(hours=5)
    now = memory.conversations.add_message("ada", "user", "The lamp in the hall is green.")

    bundle = memory.context_for(
        "which lamp?", agent="ada", conversation=now.conversation_id, history=False
    )

    assert bundle.history == ()
    assert [hit.message.id for hit in bundle.messages_found] == [before.id]
    assert "green" not in bundle.text
