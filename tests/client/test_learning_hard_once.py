"""`with learning()`: what was said is stored once and in order, whatever becomes of the server."""

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

from gate import Doing, Gate, gate, late, lose_answer, times, until
from hosted import hosted
from learning_scenes import chat, kept, users
from recollect import Recollect, learning
from served import serving
from support import open_memory
from vendor_calls import openai_client
from vendor_server import VendorServer, default_text

PARTS = {
    "the beginning": "/conversations",
    "the messages": "/messages",
    "the end": "/end",
}


def answer_lost_in_a_restart(standing: Gate, next_url: str) -> Doing:
    """Return what does the work, loses the answer, and puts another server in the place."""

    def doing(knock: Any, body: bytes) -> None:
        knock.fetched(body)
        standing.upstream = next_url  # it has the same store, and no memory of its answers
        knock.drop()

    return times(1, doing)


@pytest.mark.parametrize("part", PARTS)
def test_an_answer_that_gets_lost_stores_nothing_twice(
    vendor: VendorServer, before: Gate, known: Recollect, part: str
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60),
    ):
        before.does(times(2, lose_answer), only=PARTS[part])
        for n in range(4):
            chat(client, f"{n}")

    assert users(known, "anna") == [f"{n}" for n in range(4)]
    (conversation,) = known.conversations(agent="anna")
    assert conversation.ended_at is not None


@pytest.mark.parametrize(
    "part",
    list(PARTS),
)
def test_a_server_that_dies_between_work_and_answer_loses_nothing_and_stores_nothing_twice(
    vendor: VendorServer, before: Gate, known: Recollect, part: str
) -> None:
    with (
        hosted(known) as second,
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60),
    ):
        before.does(answer_lost_in_a_restart(before, second), only=PARTS[part])
        chat(client, "first")
        assert part == "the end" or until(lambda: before.upstream == second)
        chat(client, "second")

    assert users(known, "anna") == ["first", "second"]
    assert len(kept(known, "anna")) == 4


def test_a_server_that_lost_the_conversation_is_given_a_new_one(
    vendor: VendorServer, before: Gate, known: Recollect, tmp_path: Path
) -> None:
    with (
        open_memory(tmp_path / "other.db", words_only=True) as other,
        hosted(other) as empty,
        openai_client(vendor) as client,
    ):
        other.create_agent("anna", default_blocks=False)
        with learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60):
            chat(client, "to the first")
            assert until(lambda: users(known, "anna") == ["to the first"])
            before.upstream = empty  # somebody restarted it with another file
            chat(client, "to the second")

        assert users(other, "anna") == ["to the second"]


@pytest.mark.slow
def test_a_server_killed_again_and_again_keeps_everything_once_and_in_order(
    vendor: VendorServer, tmp_path: Path
) -> None:
    db = tmp_path / "killed.db"
    said = 0
    with ExitStack() as first:
        served = first.enter_context(serving(db))
        with (
            gate(served.url) as standing,
            openai_client(vendor) as client,
            learning(agent="anna", server_url=standing.url, timeout_s=0.5, flush_s=60),
        ):
            for _ in range(3):
                for _ in range(15):
                    chat(client, f"{said}")
                    said += 1
                os.kill(served.process.pid, signal.SIGKILL)
                served.process.wait()
                for _ in range(5):
                    chat(client, f"{said}")
                    said += 1
                served = first.enter_context(serving(db))
                standing.upstream = served.url
            chat(client, "the last")

    with open_memory(db, words_only=True) as memory:
        assert users(memory, "anna") == [*(f"{n}" for n in range(said)), "the last"]
        replies = [one.content for one in kept(memory, "anna") if one.role == "assistant"]
        assert replies == [default_text(text) for text in users(memory, "anna")]


def test_many_threads_at_once_are_kept_once_each_with_its_reply_behind_it(
    vendor: VendorServer, before: Gate, known: Recollect
) -> None:
    with (
        openai_client(vendor) as client,
        ThreadPoolExecutor(8) as pool,
        learning(agent="anna", server_url=before.url, flush_s=60),
    ):
        list(pool.map(lambda n: chat(client, f"question {n}"), range(60)))

    messages = kept(known, "anna")
    assert sorted(users(known, "anna")) == sorted(f"question {n}" for n in range(60))
    for user, reply in zip(messages[::2], messages[1::2], strict=True):
        assert (user.role, reply.role) == ("user", "assistant")
        assert reply.content == default_text(user.content)


def test_the_outbox_is_bounded_by_what_it_holds_questions_too(
    vendor: VendorServer, before: Gate
) -> None:
    """Chat protocols send the whole history each time; it must not pile up by the gigabyte."""
    history = [{"role": "user", "content": "x " * 1_000_000}, {"role": "user", "content": "?"}]
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=0.2),
    ):
        before.shut()
        tracemalloc.start()
        try:
            for _ in range(60):
                chat(client, "", messages=history)
                vendor.forget()
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert held < 90_000_000, f"{held / 1e6:.0f} MB wait in an outbox of 64 MB"


def test_a_reply_is_not_held_up_by_a_memory_that_stores_slowly(
    vendor: VendorServer, before: Gate, known: Recollect
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60),
    ):
        before.does(late(1.0))
        start = time.monotonic()
        for n in range(20):
            chat(client, f"{n}")
        assert time.monotonic() - start < 12, "twenty that wait a second each would take 20 s"

    assert users(known, "anna") == [f"{n}" for n in range(20)]
    assert until(lambda: threading.active_count() < 50)
