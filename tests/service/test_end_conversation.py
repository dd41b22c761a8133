"""The end of a conversation, and what is learnt from it."""

import threading

import pytest

from recollect import LocalRecollect, NotFound
from support import candidates


def test_a_conversation_that_ends_is_handed_over_once(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna", title="Tools")
    rec.conversations.append(talk, "user", "I prefer tabs. Let's go with uv because it is fast.")
    rec.conversations.append(talk, "assistant", "Noted.")

    ended = rec.conversations.end(talk, capture=True)
    rec.conversations.end(talk, capture=True)

    assert ended.ended_at is not None
    (event,) = rec.captures.list()
    assert event.title == "Tools"
    rec.drain()
    assert {memory.scope.value for memory in candidates(rec)} <= {"agent", "global"}
    assert candidates(rec) or rec.memories.list(everywhere=True)


def test_without_capture_nothing_is_handed_over(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", "I prefer tabs.")

    rec.conversations.end(talk)

    assert rec.captures.list() == []


@pytest.mark.parametrize("said", [[], ["<private>mine</private>"]])
def test_where_nothing_is_for_the_engine_it_just_ends(rec: LocalRecollect, said: list[str]) -> None:
    talk = rec.conversations.start(agent="anna")
    for text in said:
        rec.conversations.append_many(
            talk, [{"role": "assistant", "tool_calls": [{"id": "c"}], "content": text}]
        )

    assert rec.conversations.end(talk, capture=True).ended_at is not None
    assert rec.captures.list() == []


def test_what_is_said_after_a_resumption_is_handed_over_too(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna", project="site")
    rec.conversations.append(talk, "user", "We decided to use PostgreSQL because of JSON.")
    rec.conversations.end(talk, capture=True)
    rec.drain()
    rec.conversations.resume(talk)
    rec.conversations.append(talk, "user", "We decided to deploy on Fridays because it is quiet.")
    rec.conversations.end(talk, capture=True)
    rec.drain()

    decisions = rec.memories.list(everywhere=True, types=["decision"], statuses=["inbox", "active"])
    contents = [memory.content for memory in decisions]
    assert sum("PostgreSQL" in content for content in contents) == 1
    assert any("Fridays" in content for content in contents)


def test_what_is_said_while_it_ends_is_not_missed(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna")
    rec.conversations.append(talk, "user", "We decided to use Rust because it is fast.")
    stop = threading.Event()

    def go_on() -> None:
        for n in range(50):
            if stop.is_set():
                return
            try:
                rec.conversations.append(talk, "user", f"We decided to use port {8000 + n}.")
            except Exception:
                return  # it has ended

    thread = threading.Thread(target=go_on)
    thread.start()
    rec.conversations.end(talk, capture=True)
    stop.set()
    thread.join()

    last = rec.conversations.messages(talk, newest_first=True, limit=1)[0].content
    with rec._services.store.read() as tables:
        source = tables.sources.get(rec.captures.list()[-1].source_id or "")
    assert source is not None
    assert last in source.content


def test_an_unknown_conversation_is_said_so(rec: LocalRecollect) -> None:
    with pytest.raises(NotFound):
        rec.conversations.end("nothing", capture=True)
