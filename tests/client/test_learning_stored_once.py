"""`learning()` stores each message once and in order, even if the server fails."""

import os
import signal
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from fault_proxy import (
    Behavior,
    FaultProxy,
    fault_proxy,
    first_times,
    forward_after,
    lose_answer,
    wait_until,
)
from in_process_server import serve_in_thread
from learning_checks import stored_messages, user_texts
from recollect import LocalRecollect, learning
from server_process import run_server
from support import open_memory
from vendor_calls import ask_chat, openai_client
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor

PARTS = {
    "the beginning": "/conversations",
    "the messages": "/messages",
    "the end": "/end",
}


def answer_lost_in_a_restart(standing: FaultProxy, next_url: str) -> Behavior:
    """Return what does the work, loses the answer, and puts another server in the place."""

    def lose(handler: Any, body: bytes) -> None:
        handler.forward_request(body)
        standing.upstream = next_url  # it has the same store, and no memory of its answers
        handler.drop_connection()

    return first_times(1, lose)


@pytest.mark.parametrize("part", PARTS)
def test_an_answer_that_gets_lost_stores_nothing_twice(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect, part: str
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60),
    ):
        proxy.set_behavior(first_times(2, lose_answer), only=PARTS[part])
        for n in range(4):
            ask_chat(client, f"{n}")

    assert user_texts(two_agents, "anna") == [f"{n}" for n in range(4)]
    (conversation,) = two_agents.conversations.list(agent="anna")
    assert conversation.ended_at is not None


@pytest.mark.parametrize(
    "part",
    list(PARTS),
)
def test_a_server_that_dies_between_work_and_answer_loses_nothing_and_stores_nothing_twice(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect, part: str
) -> None:
    with (
        serve_in_thread(two_agents) as second,
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60),
    ):
        proxy.set_behavior(answer_lost_in_a_restart(proxy, second), only=PARTS[part])
        ask_chat(client, "first")
        assert part == "the end" or wait_until(lambda: proxy.upstream == second)
        ask_chat(client, "second")

    assert user_texts(two_agents, "anna") == ["first", "second"]
    assert len(stored_messages(two_agents, "anna")) == 4


def test_a_server_that_lost_the_conversation_is_given_a_new_one(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect, tmp_path: Path
) -> None:
    with (
        open_memory(tmp_path / "other.db", words_only=True) as other,
        serve_in_thread(other) as empty,
        openai_client(vendor) as client,
    ):
        other.agents.create("anna", default_blocks=False)
        with learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60):
            ask_chat(client, "to the first")
            assert wait_until(lambda: user_texts(two_agents, "anna") == ["to the first"])
            proxy.upstream = empty  # somebody restarted it with another file
            ask_chat(client, "to the second")

        assert user_texts(other, "anna") == ["to the second"]


def test_a_server_killed_again_and_again_keeps_everything_once_and_in_order(
    vendor: VendorServer, tmp_path: Path
) -> None:
    db = tmp_path / "killed.db"
    said = 0
    with ExitStack() as first:
        served = first.enter_context(run_server(db))
        with (
            fault_proxy(served.url) as standing,
            openai_client(vendor) as client,
            learning(agent="anna", server_url=standing.url, timeout_s=0.5, flush_s=60),
        ):
            for _ in range(3):
                for _ in range(15):
                    ask_chat(client, f"{said}")
                    said += 1
                os.kill(served.process.pid, signal.SIGKILL)
                served.process.wait()
                for _ in range(5):
                    ask_chat(client, f"{said}")
                    said += 1
                served = first.enter_context(run_server(db))
                standing.upstream = served.url
            ask_chat(client, "the last")

    with open_memory(db, words_only=True) as rec:
        assert user_texts(rec, "anna") == [*(f"{n}" for n in range(said)), "the last"]
        replies = [
            message.content
            for message in stored_messages(rec, "anna")
            if message.role == "assistant"
        ]
        assert replies == [default_text(text) for text in user_texts(rec, "anna")]


def test_many_threads_at_once_are_kept_once_each_with_its_reply_behind_it(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    with (
        openai_client(vendor) as client,
        ThreadPoolExecutor(8) as pool,
        learning(agent="anna", server_url=proxy.url, flush_s=60),
    ):
        list(pool.map(lambda n: ask_chat(client, f"question {n}"), range(60)))

    messages = stored_messages(two_agents, "anna")
    assert sorted(user_texts(two_agents, "anna")) == sorted(f"question {n}" for n in range(60))
    for user, reply in zip(messages[::2], messages[1::2], strict=True):
        assert (user.role, reply.role) == ("user", "assistant")
        assert reply.content == default_text(user.content)


def test_the_outbox_is_bounded_by_what_it_holds_questions_too(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    """Chat protocols send the whole history each time; it must not pile up by the gigabyte."""
    history = [{"role": "user", "content": "x " * 1_000_000}, {"role": "user", "content": "?"}]
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=0.2),
    ):
        proxy.stop_listening()
        tracemalloc.start()
        try:
            for _ in range(60):
                ask_chat(client, "", messages=history)
                vendor.clear_requests()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert held < 90_000_000, f"{held / 1e6:.0f} MB wait in an outbox of 64 MB"


def test_a_reply_is_not_held_up_by_a_memory_that_stores_slowly(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60),
    ):
        proxy.set_behavior(forward_after(1.0))
        start = time.monotonic()
        for n in range(20):
            ask_chat(client, f"{n}")
        assert time.monotonic() - start < 12, "twenty that wait a second each would take 20 s"

    assert user_texts(two_agents, "anna") == [f"{n}" for n in range(20)]
    assert wait_until(lambda: threading.active_count() < 50)
