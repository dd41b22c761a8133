"""`with learning()` before a server that is stopped, hangs, talks nonsense or comes back."""

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from gate import Doing, Gate, answer, drip, forward, hang, late, times, until
from learning_scenes import chat, told, users, warnings_in
from recollect import InvalidInput, Recollect, connect, learning
from recollect.client.learning import ENTER_WITHIN_S as BY_ITSELF_S
from recollect.client.recall import AT_ONCE
from vendor_calls import openai_client
from vendor_server import VendorServer, default_text

SLACK_S = 8.0  # for a machine that has other things to do
# Quick tries, then a pause that no test outlasts: only the end of a block ends it.
LONG_PAUSE = (0.01, 0.01, 0.01, 0.01, 100.0)


@contextmanager
def timed(most_s: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    spent = time.monotonic() - start
    assert spent < most_s, f"{spent:.2f} s, of at most {most_s} s"


def asked_of(before: Gate, part: str) -> int:
    return sum(part in one for one in before.asked)


HTML = answer(502, b"<html><body>Bad Gateway</body></html>", "text/html")
FAULTS: dict[str, Doing] = {
    "hangs": hang,
    "html with status 502": HTML,
    "json with status 500": answer(500, b'{"detail": "Internal Server Error"}'),
    "json with status 502": answer(502, b'{"message": "Bad Gateway"}'),
    "garbage with status 500": answer(500, b"\x00\xff garbage"),
    "too many requests": answer(429, b'{"detail": "slow down"}', retry_after="60"),
    "html with status 200": answer(200, b"<html>Log in to the network</html>", "text/html"),
    "other json with status 200": answer(200, b'{"hello": "world"}'),
    "nothing with status 200": answer(200, b""),
    "a redirect": answer(307, b"", location="/elsewhere"),
    "no token any more": answer(401, b'{"detail": "who are you?", "error": "TokenRefused"}'),
}


STRANGE = ("html with status 200", "other json with status 200", "nothing with status 200")
NO_MEMORY = "an answer that is no memory's is a ValidationError, not a RecollectError"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_fails_costs_calls_next_to_nothing_and_one_warning(
    vendor: VendorServer,
    before: Gate,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    # Longer than twenty calls take: how long a rest is has tests of its own.
    monkeypatch.setattr("recollect.client.recall.FIRST_REST_S", 60.0)
    with (
        caplog.at_level(logging.DEBUG, "recollect"),
        openai_client(vendor) as client,
        timed(0.5 + 0.5 + SLACK_S),
        learning(agent="anna", server_url=before.url, timeout_s=0.5, flush_s=0.5),
    ):
        before.does(FAULTS[fault])
        replies = [chat(client, f"{n}").choices[0].message.content for n in range(20)]
        asked = asked_of(before, "context")

    assert replies == [default_text(f"{n}") for n in range(20)]
    assert told(vendor) == [False] * 20
    assert len(warnings_in(caplog)) == 1
    assert asked <= 2, "a memory that fails is left alone for a while"


@pytest.mark.parametrize(
    "fault",
    list(FAULTS.keys() - {"no token any more"}),
)
def test_what_was_said_while_a_server_failed_is_stored_once_it_is_well(
    vendor: VendorServer, before: Gate, known: Recollect, fault: str
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60, timeout_s=0.5),
    ):
        before.does(times(1, FAULTS[fault]) if fault != "hangs" else late(1.0))
        for n in range(5):
            chat(client, f"{n}")
        assert until(lambda: asked_of(before, "conversations") >= 1)

    assert users(known, "anna") == [f"{n}" for n in range(5)]


def test_a_server_that_is_gone_delays_no_call_after_the_first(
    vendor: VendorServer, before: Gate
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, flush_s=0.2),
    ):
        before.shut()
        chat(client, "the one that finds out")
        start = time.monotonic()
        for n in range(30):
            chat(client, f"{n}")
        inside = time.monotonic() - start
    start = time.monotonic()
    with openai_client(vendor) as client:
        for n in range(31):
            chat(client, f"{n}")
    outside = time.monotonic() - start

    assert inside - outside < 5, "each of them would try three times, and pause in between"


def test_the_time_for_context_is_kept_though_the_server_drips(
    vendor: VendorServer, before: Gate
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, timeout_s=0.4, flush_s=1),
    ):
        before.does(drip(0.3), only="context")  # for a minute at least
        with timed(0.4 + SLACK_S):
            chat(client, "Who am I?")
        before.ended.set()  # which ends the drip


def test_a_slow_server_is_waited_for_as_long_as_was_said(
    vendor: VendorServer, before: Gate
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, timeout_s=0.2),
    ):
        before.does(late(60), only="context")
        with timed(0.2 + SLACK_S):
            chat(client, "Who am I?")
        before.ended.set()

    assert told(vendor) == [False]


def test_memory_is_told_again_soon_after_a_short_outage_of_many_calls_at_once(
    vendor: VendorServer, before: Gate
) -> None:
    def ask(n: int) -> None:
        with openai_client(vendor) as client:
            chat(client, f"{n}")

    with openai_client(vendor) as client, learning(agent="anna", server_url=before.url):
        failing = threading.Barrier(AT_ONCE)

        def fail(knock: Any, body: bytes) -> None:
            failing.wait(60)  # all at once, so that no one finds the memory resting
            answer(503, b'{"detail": "busy", "error": "StoreBusy"}')(knock, body)

        before.does(fail, only="context")
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        before.does(forward)

        def is_told() -> bool:
            chat(client, "And now?")
            return told(vendor)[-1]

        # Were each of them an outage, the last rest would be one of 30 s.
        assert until(is_told, within_s=15.0), "one outage is one outage, however many met it"


def test_a_refused_question_does_not_cost_other_calls_their_memory(
    vendor: VendorServer, before: Gate
) -> None:
    refused = answer(422, b'{"detail": "no such thing", "error": "InvalidInput"}')
    with openai_client(vendor) as client, learning(agent="anna", server_url=before.url):
        before.does(times(1, refused), only="context")
        chat(client, "one")
        chat(client, "two")

    assert told(vendor) == [False, True], "the memory is up: it said no to one question"


def test_a_server_that_is_restarted_in_the_middle_keeps_all_in_order_and_tells_again(
    vendor: VendorServer, before: Gate, known: Recollect
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, flush_s=60),
    ):
        for n in range(3):
            chat(client, f"{n}")
        before.shut()
        for n in range(3, 6):
            chat(client, f"{n}")
        before.open()

        def is_told() -> bool:
            chat(client, "again")
            return told(vendor)[-1]

        assert until(is_told)

    assert users(known, "anna")[:6] == [f"{n}" for n in range(6)]
    assert set(users(known, "anna")[6:]) == {"again"}
    assert len(known.conversations(agent="anna")) == 1


def test_what_waits_is_stored_at_the_end_if_the_server_is_back_by_then(
    vendor: VendorServer, before: Gate, known: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.client.outbox.PAUSES_S", LONG_PAUSE)
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60),
    ):
        before.does(FAULTS["html with status 502"])
        chat(client, "Hello?")
        # After five tries of three requests each it pauses for long.
        assert until(lambda: asked_of(before, "conversations") >= 15)
        before.does(forward)

    assert users(known, "anna") == ["Hello?"]


def test_a_try_that_fails_as_the_block_ends_is_followed_by_another_at_once(
    vendor: VendorServer, before: Gate, known: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.client.outbox.PAUSES_S", LONG_PAUSE)
    failing, ended = threading.Event(), threading.Event()

    def fail(knock: Any, body: bytes) -> None:
        if asked_of(before, "conversations") >= 15:
            # After five tries of three requests each a failure is a reason to pause for long.
            failing.set()
            ended.wait(60)
        HTML(knock, body)

    block = learning(agent="anna", server_url=before.url, capture_only=True, flush_s=60)
    with openai_client(vendor) as client, block:
        before.does(fail)
        chat(client, "Hello?")
        assert failing.wait(60)
        before.does(forward)
        threading.Timer(0.5, ended.set).start()  # the block is ending by then

    assert users(known, "anna") == ["Hello?"]


@pytest.mark.parametrize("fault", ["gone", *FAULTS])
def test_the_end_of_a_block_waits_no_longer_than_was_said(
    vendor: VendorServer, before: Gate, fault: str
) -> None:
    with openai_client(vendor) as client:
        block = learning(
            agent="anna", server_url=before.url, capture_only=True, flush_s=0.5, timeout_s=0.5
        )
        block.__enter__()
        if fault == "gone":
            before.shut()
        else:
            before.does(FAULTS[fault])
        chat(client, "Hello?")
        with timed(0.5 + SLACK_S):  # a try would go on for 30 s, or 60
            block.__exit__(None, None, None)

    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_a_server_that_hangs_is_an_error_on_entry_within_seconds(
    before: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert BY_ITSELF_S <= 5.0
    monkeypatch.setattr("recollect.client.learning.ENTER_WITHIN_S", 0.5)
    before.does(hang)
    done = threading.Event()

    def enter() -> None:
        try:
            with learning(agent="anna", server_url=before.url, timeout_s=0.5):
                pass
        except Exception:
            done.set()

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    late = not done.wait(0.5 + 20)  # others wait for a minute
    before.ended.set()
    before.shut()
    thread.join(20)

    assert not late


def test_a_memory_that_its_owner_closes_is_one_warning(
    vendor: VendorServer, before: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    remote = connect(before.url)
    with (
        caplog.at_level(logging.DEBUG, "recollect"),
        openai_client(vendor) as client,
        timed(3 * SLACK_S),
        learning(agent="anna", memory=remote, flush_s=60),
    ):
        remote.close()
        replies = [chat(client, f"{n}").choices[0].message.content for n in range(3)]

    assert replies == [default_text(f"{n}") for n in range(3)]
    assert len(warnings_in(caplog)) == 1


def test_no_thread_of_ours_stays_forever_after_a_block_whose_server_never_came_back(
    vendor: VendorServer, before: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.client.outbox.GIVE_UP_S", 1.0)
    already = set(threading.enumerate())
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=before.url, capture_only=True, flush_s=0.2),
    ):
        before.shut()
        chat(client, "Hello?")

    def ours() -> list[threading.Thread]:
        return [
            one for one in set(threading.enumerate()) - already if one.name.startswith("recollect")
        ]

    gone = until(lambda: not ours(), within_s=20.0)  # it gives up after 30 s, if not told sooner
    before.open()  # so that it ends in any case
    assert until(lambda: not ours())
    assert gone


@pytest.mark.parametrize(
    "wrong", [{"flush_s": math.inf}, {"flush_s": math.nan}, {"timeout_s": -1}, {"timeout_s": "2"}]
)
def test_a_time_that_is_none_is_refused_where_it_is_given(
    known: Recollect, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        learning(agent="anna", memory=known, **wrong)
