"""Exchanges that wait for an adapter: which are dropped, and when the others are recorded."""

import httpx2
import pytest

from recollect.client import pending_exchanges
from recollect.client.intercept.model_call import ResponseRecorder, parse_model_request
from recollect.client.pending_exchanges import PendingExchanges

REPLY = {"choices": [{"message": {"role": "assistant", "content": "In the park."}}]}


@pytest.fixture
def recorded() -> list[str]:
    return []


@pytest.fixture
def held(recorded: list[str]) -> PendingExchanges:
    return PendingExchanges(lambda exchange: recorded.append(exchange.last_user_text()))


@pytest.fixture
def with_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_exchanges._adapter, "is_in_use", True)


def exchange(text: str) -> ResponseRecorder:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    request = httpx2.Request("POST", "https://vendor.test/v1/chat/completions", json=body)
    model_request = parse_model_request(request)
    assert model_request is not None
    return ResponseRecorder(model_request, httpx2.Response(200, json=REPLY), lambda _: None)


def test_without_an_adapter_nothing_waits(
    held: PendingExchanges, recorded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending_exchanges._adapter, "is_in_use", False)
    held.add(exchange("Where is Rex?"))

    assert recorded == ["Where is Rex?"]


@pytest.mark.usefixtures("with_adapter")
def test_what_an_adapter_stored_before_or_after_the_call_is_not_recorded(
    held: PendingExchanges, recorded: list[str]
) -> None:
    held.add(exchange("Where is Rex?"))
    held.note_stored(["Where is  Rex?\n"])
    held.add(exchange("Where is Rex?"))  # the next step of the run
    held.add(exchange("Where is Rex?\n\n<memory>Rex is a dog.</memory>"))  # added by a framework
    held.release()

    assert recorded == []


@pytest.mark.usefixtures("with_adapter")
def test_what_no_adapter_stored_is_recorded_in_order_at_the_end(
    held: PendingExchanges, recorded: list[str]
) -> None:
    held.note_stored(["yes", ""])
    for text in ("yesterday", "yes", "oh yes", ""):
        held.add(exchange(text))
    assert recorded == []
    held.release()
    held.release()

    assert recorded == ["yesterday", "oh yes", ""]


@pytest.mark.usefixtures("with_adapter")
def test_an_exchange_waits_for_a_limited_time_and_so_does_what_is_noted(
    held: PendingExchanges, recorded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    held.note_stored(["one"])
    held.add(exchange("two"))
    monkeypatch.setattr(pending_exchanges, "HOLD_S", -1.0)
    held.add(exchange("one"))  # said again, much later

    assert recorded == ["two", "one"]


@pytest.mark.usefixtures("with_adapter")
@pytest.mark.parametrize(("limit", "value"), [("MAX_PENDING", 2), ("MAX_PENDING_BYTES", 200)])
def test_only_so_many_exchanges_wait(
    held: PendingExchanges,
    recorded: list[str],
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
) -> None:
    monkeypatch.setattr(pending_exchanges, limit, value)
    for number in range(9):
        held.add(exchange(f"{number}"))

    assert recorded == [f"{number}" for number in range(9)][: len(recorded)]
    assert 5 <= len(recorded) <= 8
