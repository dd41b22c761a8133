"""The end of a conversation, and what is learnt from it."""

import threading

import pytest

from recollect import NotFound, Recollect


def test_a_conversation_that_ends_is_handed_over_once(memory: Recollect) -> None:
    talk = memory.start_conversation(agent="anna", title="Tools")
    memory.append_message(talk, "user", "I prefer tabs. Let's go with uv because it is fast.")
    memory.append_message(talk, "assistant", "Noted.")

    ended = memory.end_conversation(talk, capture=True)
    memory.end_conversation(talk, capture=True)

    assert ended.ended_at is not None
    (event,) = memory.events()
    assert event.title == "Tools"
    memory.drain()
    assert {one.scope.value for one in memory.inbox()} <= {"agent", "global"}
    assert memory.inbox() or memory.memories(everywhere=True)


def test_without_capture_nothing_is_handed_over(memory: Recollect) -> None:
    talk = memory.start_conversation(agent="anna")
    memory.append_message(talk, "user", "I prefer tabs.")

    memory.end_conversation(talk)

    assert memory.events() == []


@pytest.mark.parametrize("said", [[], ["<private>mine</private>"]])
def test_where_nothing_is_for_the_engine_it_just_ends(memory: Recollect, said: list[str]) -> None:
    talk = memory.start_conversation(agent="anna")
    for text in said:
        memory.append_messages(
            talk, [{"role": "assistant", "tool_calls": [{"id": "c"}], "content": text}]
        )

    assert memory.end_conversation(talk, capture=True).ended_at is not None
    assert memory.events() == []


def test_what_is_said_after_a_resumption_is_handed_over_too(memory: Recollect) -> None:
    talk = memory.start_conversation(agent="anna", project="site")
    memory.append_message(talk, "user", "We decided to use PostgreSQL because of JSON.")
    memory.end_conversation(talk, capture=True)
    memory.drain()
    memory.resume_conversation(talk)
    memory.append_message(talk, "user", "We decided to deploy on Fridays because it is quiet.")
    memory.end_conversation(talk, capture=True)
    memory.drain()

    decisions = memory.memories(everywhere=True, types=["decision"], statuses=["inbox", "active"])
    contents = [one.content for one in decisions]
    assert sum("PostgreSQL" in one for one in contents) == 1
    assert any("Fridays" in one for one in contents)


def test_what_is_said_while_it_ends_is_not_missed(memory: Recollect) -> None:
    talk = memory.start_conversation(agent="anna")
    memory.append_message(talk, "user", "We decided to use Rust because it is fast.")
    stop = threading.Event()

    def go_on() -> None:
        for n in range(50):
            if stop.is_set():
                return
            try:
                memory.append_message(talk, "user", f"We decided to use port {8000 + n}.")
            except Exception:
                return  # it has ended

    thread = threading.Thread(target=go_on)
    thread.start()
    memory.end_conversation(talk, capture=True)
    stop.set()
    thread.join()

    last = memory.messages(talk, newest_first=True, limit=1)[0].content
    with memory._deps.store.read() as tables:
        source = tables.sources.get(memory.events()[-1].source_id or "")
    assert source is not None
    assert last in source.content


def test_an_unknown_conversation_is_said_so(memory: Recollect) -> None:
    with pytest.raises(NotFound):
        memory.end_conversation("nothing", capture=True)
