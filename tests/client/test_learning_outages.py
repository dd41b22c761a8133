"""`learning()` with a server that is stopped, hangs, responds with garbage or returns."""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import apsw
import httpx2
import pytest

from fault_proxy import (
    Behavior,
    FaultProxy,
    answer,
    answer_slowly,
    first_times,
    forward,
    forward_after,
    never_answer,
    wait_until,
)
from learning_checks import logged_warnings, memory_was_injected, user_texts
from recollect import (
    InvalidInput,
    LocalRecollect,
    RecollectError,
    ServerUnavailable,
    StoreError,
    StoreNewer,
    connect,
    learning,
)
from recollect.client.learning import ENTER_TIMEOUT_S as BY_ITSELF_S
from recollect.client.recall import MAX_PARALLEL
from recollect.store.sqlite.connection import connect as sqlite_connect
from support import open_memory
from vendor_calls import ask_chat, make_async_client, make_client, openai_client, question
from vendor_server import VendorServer, default_text

pytestmark = pytest.mark.vendor

SLACK_S = 8.0  # for a machine that has other things to do
# Quick tries, then a pause that no test outlasts: only the end of a block ends it.
LONG_DELAYS_S = (0.01, 0.01, 0.01, 0.01, 100.0)


@contextmanager
def timed(most_s: float) -> Iterator[None]:
    start = time.monotonic()
    yield
    spent = time.monotonic() - start
    assert spent < most_s, f"{spent:.2f} s, of at most {most_s} s"


def asked_of(proxy: FaultProxy, part: str) -> int:
    return sum(part in one for one in proxy.requests)


HTML = answer(502, b"<html><body>Bad Gateway</body></html>", "text/html")
FAULTS: dict[str, Behavior] = {
    "hangs": never_answer,
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
    proxy: FaultProxy,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
) -> None:
    # Longer than twenty calls take: how long a rest is has tests of its own.
    monkeypatch.setattr("recollect.client.circuit_breaker.FIRST_PAUSE_S", 60.0)
    with (
        caplog.at_level(logging.DEBUG, "recollect"),
        openai_client(vendor) as client,
        timed(0.5 + 0.5 + SLACK_S),
        learning(agent="anna", server_url=proxy.url, timeout_s=0.5, flush_s=0.5),
    ):
        proxy.set_behavior(FAULTS[fault])
        replies = [ask_chat(client, f"{n}").choices[0].message.content for n in range(20)]
        asked = asked_of(proxy, "context")

    assert replies == [default_text(f"{n}") for n in range(20)]
    assert memory_was_injected(vendor) == [False] * 20
    assert len(logged_warnings(caplog)) == 1
    assert asked <= 2, "a memory that fails is left alone for a while"


@pytest.mark.parametrize(
    "fault",
    list(FAULTS.keys() - {"no token any more"}),
)
def test_what_was_said_while_a_server_failed_is_stored_once_it_is_well(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect, fault: str
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60, timeout_s=0.5),
    ):
        proxy.set_behavior(
            first_times(1, FAULTS[fault]) if fault != "hangs" else forward_after(1.0)
        )
        for n in range(5):
            ask_chat(client, f"{n}")
        assert wait_until(lambda: asked_of(proxy, "conversations") >= 1)

    assert user_texts(two_agents, "anna") == [f"{n}" for n in range(5)]


def test_a_server_that_is_gone_delays_no_call_after_the_first(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, flush_s=0.2),
    ):
        proxy.stop_listening()
        ask_chat(client, "the one that finds out")
        start = time.monotonic()
        for n in range(30):
            ask_chat(client, f"{n}")
        inside = time.monotonic() - start
    start = time.monotonic()
    with openai_client(vendor) as client:
        for n in range(31):
            ask_chat(client, f"{n}")
    outside = time.monotonic() - start

    assert inside - outside < 5, "each of them would try three times, and pause in between"


def test_the_time_for_context_is_kept_though_the_server_drips(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, timeout_s=0.4, flush_s=1),
    ):
        proxy.set_behavior(answer_slowly(0.3), only="context")  # for a minute at least
        with timed(0.4 + SLACK_S):
            ask_chat(client, "Who am I?")
        proxy.ended.set()  # which ends the drip


def test_a_slow_server_is_waited_for_as_long_as_was_said(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, timeout_s=0.2),
    ):
        proxy.set_behavior(forward_after(60), only="context")
        with timed(0.2 + SLACK_S):
            ask_chat(client, "Who am I?")
        proxy.ended.set()

    assert memory_was_injected(vendor) == [False]


def test_memory_is_told_again_soon_after_a_short_outage_of_many_calls_at_once(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    def ask(n: int) -> None:
        with openai_client(vendor) as client:
            ask_chat(client, f"{n}")

    with openai_client(vendor) as client, learning(agent="anna", server_url=proxy.url):
        failing = threading.Barrier(MAX_PARALLEL)

        def fail(knock: Any, body: bytes) -> None:
            failing.wait(60)  # all at once, so that no one finds the memory resting
            answer(503, b'{"detail": "busy", "error": "StoreBusy"}')(knock, body)

        proxy.set_behavior(fail, only="context")
        threads = [threading.Thread(target=ask, args=(n,)) for n in range(MAX_PARALLEL)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        proxy.set_behavior(forward)

        def is_told() -> bool:
            ask_chat(client, "And now?")
            return memory_was_injected(vendor)[-1]

        # Were each of them an outage, the last rest would be one of 30 s.
        assert wait_until(is_told, within_s=15.0), "one outage is one outage, however many met it"


def test_a_refused_question_does_not_cost_other_calls_their_memory(
    vendor: VendorServer, proxy: FaultProxy
) -> None:
    refused = answer(422, b'{"detail": "no such thing", "error": "InvalidInput"}')
    with openai_client(vendor) as client, learning(agent="anna", server_url=proxy.url):
        proxy.set_behavior(first_times(1, refused), only="context")
        ask_chat(client, "one")
        ask_chat(client, "two")

    assert memory_was_injected(vendor) == [False, True], (
        "the memory is up: it said no to one question"
    )


def test_a_server_that_is_restarted_in_the_middle_keeps_all_in_order_and_tells_again(
    vendor: VendorServer, proxy: FaultProxy, two_agents: LocalRecollect
) -> None:
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, flush_s=60),
    ):
        for n in range(3):
            ask_chat(client, f"{n}")
        proxy.stop_listening()
        for n in range(3, 6):
            ask_chat(client, f"{n}")
        proxy.listen()

        def is_told() -> bool:
            ask_chat(client, "again")
            return memory_was_injected(vendor)[-1]

        assert wait_until(is_told)

    assert user_texts(two_agents, "anna")[:6] == [f"{n}" for n in range(6)]
    assert set(user_texts(two_agents, "anna")[6:]) == {"again"}
    assert len(two_agents.conversations.list(agent="anna")) == 1


def test_what_waits_is_stored_at_the_end_if_the_server_is_back_by_then(
    vendor: VendorServer,
    proxy: FaultProxy,
    two_agents: LocalRecollect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recollect.client.outbox.RETRY_DELAYS_S", LONG_DELAYS_S)
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60),
    ):
        proxy.set_behavior(FAULTS["html with status 502"])
        ask_chat(client, "Hello?")
        # After five tries of three requests each it pauses for long.
        assert wait_until(lambda: asked_of(proxy, "conversations") >= 15)
        proxy.set_behavior(forward)

    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_a_try_that_fails_as_the_block_ends_is_followed_by_another_at_once(
    vendor: VendorServer,
    proxy: FaultProxy,
    two_agents: LocalRecollect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recollect.client.outbox.RETRY_DELAYS_S", LONG_DELAYS_S)
    failing, ended = threading.Event(), threading.Event()

    def fail(knock: Any, body: bytes) -> None:
        if asked_of(proxy, "conversations") >= 15:
            # After five tries of three requests each a failure is a reason to pause for long.
            failing.set()
            ended.wait(60)
        HTML(knock, body)

    block = learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=60)
    with openai_client(vendor) as client, block:
        proxy.set_behavior(fail)
        ask_chat(client, "Hello?")
        assert failing.wait(60)
        proxy.set_behavior(forward)
        threading.Timer(0.5, ended.set).start()  # the block is ending by then

    assert user_texts(two_agents, "anna") == ["Hello?"]


@pytest.mark.parametrize("fault", ["gone", *FAULTS])
def test_the_end_of_a_block_waits_no_longer_than_was_said(
    vendor: VendorServer, proxy: FaultProxy, fault: str
) -> None:
    with openai_client(vendor) as client:
        block = learning(
            agent="anna", server_url=proxy.url, capture_only=True, flush_s=0.5, timeout_s=0.5
        )
        block.__enter__()
        if fault == "gone":
            proxy.stop_listening()
        else:
            proxy.set_behavior(FAULTS[fault])
        ask_chat(client, "Hello?")
        with timed(0.5 + SLACK_S):  # a try would go on for 30 s, or 60
            block.__exit__(None, None, None)

    assert not hasattr(httpx2.Client.send, "__wrapped__")


def test_a_required_server_that_hangs_is_an_error_on_entry_within_seconds(
    proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert BY_ITSELF_S <= 5.0
    monkeypatch.setattr("recollect.client.learning.ENTER_TIMEOUT_S", 0.5)
    proxy.set_behavior(answer_slowly(0.3))  # no single read would time out

    block = learning(agent="anna", server_url=proxy.url, required=True)
    with timed(0.5 + SLACK_S), pytest.raises(ServerUnavailable, match=r"within 0\.5 s"), block:
        pass
    proxy.ended.set()


@pytest.mark.parametrize("how", ["chat", "messages", "async chat", "async messages"])
@pytest.mark.parametrize("fault", ["gone", "hangs", "no token any more"])
def test_blocks_run_without_memory_while_there_is_none_and_warn_once(
    vendor: VendorServer,
    proxy: FaultProxy,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    fault: str,
    how: str,
) -> None:
    monkeypatch.setattr("recollect.client.learning.ENTER_TIMEOUT_S", 0.5)
    monkeypatch.setattr("recollect.client.circuit_breaker.FIRST_PAUSE_S", 60.0)
    if fault == "gone":
        proxy.stop_listening()
    else:
        proxy.set_behavior(FAULTS[fault])
    resource = how.split()[-1]

    def block() -> Any:
        # The end of each block would wait for a minute.
        return learning(agent="anna", server_url=proxy.url, timeout_s=0.5, flush_s=60)

    def ask(client: Any, text: str) -> Any:
        calls = client.chat.completions if resource == "chat" else client.messages
        return calls.create(**question(resource, text))

    async def run_async() -> None:
        async with make_async_client(resource, vendor) as client:
            for n in range(4):
                async with block():
                    await ask(client, f"{n}")

    with caplog.at_level(logging.DEBUG, "recollect"), timed(0.5 + SLACK_S):
        if how.startswith("async"):
            asyncio.run(run_async())
        else:
            with make_client(resource, vendor) as client:
                for n in range(4):
                    with block():
                        ask(client, f"{n}")

    assert len(vendor.requests) == 4
    [warning] = logged_warnings(caplog)
    assert "required=True" in warning
    if fault == "gone":
        assert "recollect serve --background" in warning


def test_the_end_of_a_block_costs_its_flush_time_once_per_outage(
    vendor: VendorServer,
    proxy: FaultProxy,
    two_agents: LocalRecollect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recollect.client.circuit_breaker.FIRST_PAUSE_S", 0.01)

    def run_block(text: str, *, then: Callable[[], None] = lambda: None) -> float:
        block = learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=1.0)
        block.__enter__()
        ask_chat(client, text)
        then()
        start = time.monotonic()
        block.__exit__(None, None, None)
        return time.monotonic() - start

    with openai_client(vendor) as client:
        run_block("before")
        proxy.set_behavior(HTML)
        first = run_block("first")
        later = [run_block(f"later {n}") for n in range(5)]
        proxy.set_behavior(forward)
        again = run_block("again")

    assert wait_until(lambda: len(user_texts(two_agents, "anna")) == 8), "nothing is lost"
    assert first < 1.0 + SLACK_S
    assert max(later) < 0.5, "the outage is known"
    assert again < 1.0 + SLACK_S


def test_memory_is_used_again_in_a_block_that_began_without_it(
    vendor: VendorServer,
    proxy: FaultProxy,
    two_agents: LocalRecollect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("recollect.client.circuit_breaker.FIRST_PAUSE_S", 0.1)
    proxy.stop_listening()
    with openai_client(vendor) as client, learning(agent="anna", server_url=proxy.url, flush_s=60):
        ask_chat(client, "first")
        proxy.listen()

        def is_told() -> bool:
            ask_chat(client, "again")
            return memory_was_injected(vendor)[-1]

        assert wait_until(is_told)
        assert wait_until(lambda: user_texts(two_agents, "anna")[:1] == ["first"])


@contextmanager
def locked(path: Path) -> Iterator[None]:
    db = apsw.Connection(str(path))
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        db.close()


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [("damaged", StoreError), ("newer", StoreNewer), ("locked", RecollectError)],
)
def test_a_store_file_that_cannot_be_opened_costs_one_warning_and_no_call(
    vendor: VendorServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    trouble: str,
    kind: type[Exception],
) -> None:
    monkeypatch.setattr("recollect.client.learning.ENTER_TIMEOUT_S", 1.0)
    path = tmp_path / "embedded.db"
    open_memory(path).close()
    if trouble == "damaged":
        path.write_bytes(path.read_bytes()[:100] + b"\xff" * 20_000)
    elif trouble == "newer":
        db = sqlite_connect(path)
        db.execute("INSERT INTO migrations SELECT max(number) + 1, 'later', 'x', 0 FROM migrations")
        db.close()

    with (
        locked(path) if trouble == "locked" else nullcontext(),
        caplog.at_level(logging.DEBUG, "recollect"),
        openai_client(vendor) as client,
        timed(2 * 1.0 + SLACK_S),
    ):
        for n in range(3):
            with learning(agent="anna", memory=path, timeout_s=1.0, flush_s=60):
                ask_chat(client, f"{n}")
        with pytest.raises(kind), learning(agent="anna", memory=path, required=True):
            pass

    assert len(vendor.requests) == 3
    assert len(logged_warnings(caplog)) == 1


def test_a_store_file_is_opened_for_a_block_and_closed_after_it(
    vendor: VendorServer, tmp_path: Path
) -> None:
    path = tmp_path / "embedded.db"
    with openai_client(vendor) as client, learning(agent="anna", memory=path):
        ask_chat(client, "Hello?")

    with open_memory(path, words_only=True) as rec:
        assert user_texts(rec, "anna") == ["Hello?"]


def test_a_memory_that_its_owner_closes_is_one_warning(
    vendor: VendorServer, proxy: FaultProxy, caplog: pytest.LogCaptureFixture
) -> None:
    remote = connect(proxy.url)
    with (
        caplog.at_level(logging.DEBUG, "recollect"),
        openai_client(vendor) as client,
        timed(3 * SLACK_S),
        learning(agent="anna", memory=remote, flush_s=60),
    ):
        remote.close()
        replies = [ask_chat(client, f"{n}").choices[0].message.content for n in range(3)]

    assert replies == [default_text(f"{n}") for n in range(3)]
    assert len(logged_warnings(caplog)) == 1


def test_no_thread_of_ours_stays_forever_after_a_block_whose_server_never_came_back(
    vendor: VendorServer, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.client.outbox.GIVE_UP_S", 1.0)
    already = set(threading.enumerate())
    with (
        openai_client(vendor) as client,
        learning(agent="anna", server_url=proxy.url, capture_only=True, flush_s=0.2),
    ):
        proxy.stop_listening()
        ask_chat(client, "Hello?")

    def ours() -> list[threading.Thread]:
        return [
            one for one in set(threading.enumerate()) - already if one.name.startswith("recollect")
        ]

    gone = wait_until(
        lambda: not ours(), within_s=20.0
    )  # it gives up after 30 s, if not told sooner
    proxy.listen()  # so that it ends in any case
    assert wait_until(lambda: not ours())
    assert gone


@pytest.mark.parametrize(
    "wrong", [{"flush_s": math.inf}, {"flush_s": math.nan}, {"timeout_s": -1}, {"timeout_s": "2"}]
)
def test_a_time_that_is_none_is_refused_where_it_is_given(
    two_agents: LocalRecollect, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput):
        learning(agent="anna", memory=two_agents, **wrong)
