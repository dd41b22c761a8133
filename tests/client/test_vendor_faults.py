"""The vendors' packages and our vendor server: errors, delays and broken connections."""

import threading
from typing import Any

import anthropic
import openai
import pytest

from vendor_calls import (
    RESOURCES,
    anthropic_client,
    as_json,
    make_client,
    observe,
    observe_async,
    openai_client,
    question,
    streamed_text,
    vendor_package,
)
from vendor_server import OVERLOADED, ScriptedResponse, VendorServer, default_text, vendor_server

pytestmark = pytest.mark.vendor

every_resource = pytest.mark.parametrize("resource", RESOURCES)

ERRORS = {400: "BadRequestError", 401: "AuthenticationError", 403: "PermissionDeniedError"}
ERRORS |= {404: "NotFoundError", 429: "RateLimitError", 500: "InternalServerError"}


@every_resource
@pytest.mark.parametrize("way", ["create", "create_stream", "stream", "streaming"])
@pytest.mark.parametrize("status", [*ERRORS, OVERLOADED])
@pytest.mark.parametrize("asking", [observe, observe_async])
def test_an_error_raises_what_the_package_calls_it(
    vendor: VendorServer, resource: str, way: str, status: int, asking: Any
) -> None:
    package = vendor_package(resource)
    overloaded = "InternalServerError" if package is openai else "OverloadedError"
    expected = getattr(package, ERRORS.get(status, overloaded))
    vendor.script(ScriptedResponse(status=status, retry_after=7))

    with pytest.raises(expected) as raised:
        asking(vendor, resource, way, question(resource, "Hello?"))

    openai_overloaded = status == OVERLOADED and package is openai
    assert raised.value.status_code == (503 if openai_overloaded else status)
    assert raised.value.response.headers["retry-after"] == "7"
    assert raised.value.request_id


@every_resource
def test_a_package_that_may_try_again_does(vendor: VendorServer, resource: str) -> None:
    vendor.script(ScriptedResponse(status=429, retry_after=0))

    seen = observe(vendor, resource, "create", question(resource, "Hello?"), max_retries=1)

    assert default_text("Hello?") in str(seen)
    assert len(vendor.requests) == 2


@every_resource
@pytest.mark.parametrize("way", ["create", "create_stream", "stream"])
@pytest.mark.parametrize("asking", [observe, observe_async])
def test_an_answer_that_breaks_off_is_not_taken_for_whole(
    vendor: VendorServer, resource: str, way: str, asking: Any
) -> None:
    vendor.script(ScriptedResponse(break_after=4))

    with pytest.raises(Exception, match=r"Connection error|peer closed connection") as raised:
        asking(vendor, resource, way, question(resource, "Hello?"))

    # Whether a package wraps what its transport raises has changed between versions.
    assert type(raised.value).__name__ in ("APIConnectionError", "RemoteProtocolError")


@every_resource
@pytest.mark.parametrize("way", ["create_stream", "stream"])
def test_an_error_in_the_middle_of_a_stream_is_raised_after_what_came_before(
    vendor: VendorServer, resource: str, way: str
) -> None:
    package = vendor_package(resource)
    vendor.script(ScriptedResponse(error_after=5))
    seen = []

    def read() -> None:
        with make_client(resource, vendor) as client:
            asking = getattr(RESOURCES[resource].select(client), way.removesuffix("_stream"))
            raw = {"stream": True} if way == "create_stream" else {}
            with asking(**question(resource, "Hello?"), **raw) as stream:
                seen.extend(stream)

    with pytest.raises(package.APIError, match=r"had an error|Overloaded"):
        read()
    assert seen


@every_resource
def test_a_slow_answer_lasts_longer_than_its_caller(vendor: VendorServer, resource: str) -> None:
    package = vendor_package(resource)
    vendor.script(ScriptedResponse(hold_after=0))

    with pytest.raises(package.APITimeoutError):
        observe(vendor, resource, "create", question(resource, "Hello?"), timeout=0.2)


@every_resource
def test_the_first_events_arrive_while_the_rest_is_held_back(
    vendor: VendorServer, resource: str
) -> None:
    vendor.script(ScriptedResponse(hold_after=4))
    ask = question(resource, "Hello?")

    with (
        make_client(resource, vendor) as client,
        RESOURCES[resource].select(client).create(stream=True, **ask) as stream,
    ):
        early = [next(stream) for _ in range(3)]
        vendor.release()
        rest = list(stream)

    assert streamed_text([as_json(event) for event in early + rest]) == default_text("Hello?")


def test_the_end_of_the_server_ends_what_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    ended: list[Any] = []

    def ask() -> None:
        try:
            ended.append(observe(server, "chat", "create", question("chat", "Hello?")))
        except openai.APIConnectionError as error:
            ended.append(error)

    with vendor_server() as server:
        server.script(ScriptedResponse(hold_after=0))
        asking = threading.Thread(target=ask)
        asking.start()
        server.wait_for_requests(1)
        assert not ended
    asking.join(60)

    assert len(ended) == 1


def test_a_fault_of_the_server_itself_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    impossible: Any = object()

    def ask() -> None:
        with vendor_server() as server:
            server.script(ScriptedResponse(text=impossible))
            with pytest.raises(openai.APIConnectionError):
                observe(server, "chat", "create", question("chat", "Hello?"))

    with pytest.raises(TypeError, match="not JSON serializable"):
        ask()


# On the wire


@every_resource
@pytest.mark.parametrize("way", ["create", "create_stream", "stream", "streaming_lines"])
def test_squeezed_answers_come_out_the_same(vendor: VendorServer, resource: str, way: str) -> None:
    ask = question(resource, "Grüezi mitenand")
    bare = observe(vendor, resource, way, ask)
    vendor.script(ScriptedResponse(gzip=True))

    assert observe(vendor, resource, way, ask) == bare


@every_resource
def test_a_sign_of_several_bytes_may_arrive_in_two_chunks(
    vendor: VendorServer, resource: str
) -> None:
    with make_client(resource, vendor) as client:
        asking = RESOURCES[resource].select(client).with_streaming_response
        with asking.create(stream=True, **question(resource, "Hello?")) as response:
            chunks = list(response.iter_bytes())
        kind = response.headers["content-type"]

    assert any(chunk.endswith("✓".encode()[:1]) for chunk in chunks)
    assert kind == "text/event-stream; charset=utf-8"
    assert response.headers["transfer-encoding"] == "chunked"


@every_resource
def test_a_connection_is_used_again(vendor: VendorServer, resource: str) -> None:
    with make_client(resource, vendor) as client:
        asking = RESOURCES[resource].select(client)
        for _ in range(3):
            asking.create(**question(resource, "Hello?"))
        vendor.script(ScriptedResponse(status=429))
        with pytest.raises(Exception, match="Rate limit"):
            asking.create(**question(resource, "Hello?"))

    assert len({request.connection for request in vendor.requests}) == 1


# What a vendor refuses

USER = {"role": "user", "content": "Hello?"}
CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "4"}
USE = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}
USED = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "4"}]}
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
FUNCTION = {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "1", "output": "4"}

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "no messages": ("chat", {"messages": []}),
    "no such role": ("chat", {"messages": [{"role": "memory", "content": "x"}]}),
    "no content": ("chat", {"messages": [{"role": "system", "content": None}, USER]}),
    "a call without its result": ("chat", {"messages": [USER, CALLING, USER]}),
    "a result without its call": ("chat", {"messages": [USER, RESULT]}),
    "something between call and result": (
        "chat",
        {"messages": [USER, CALLING, {"role": "system", "content": "x"}, RESULT]},
    ),
    "instructions in parts": ("responses", {"instructions": ["x"]}),
    "an item of no kind": ("responses", {"input": [{"text": "x"}]}),
    "an output without its call": ("responses", {"input": [OUTPUT]}),
    "a call without its output": ("responses", {"input": [USER, FUNCTION]}),
    "system first": ("messages", {"messages": [{"role": "system", "content": "x"}, USER]}),
    "an empty block": ("messages", {"system": [{"type": "text", "text": ""}]}),
    "five cache marks": ("messages", {"system": [MARKED] * 5}),
    "no result after use": ("messages", {"messages": [USER, USE, USER]}),
    "a result after nothing": ("messages", {"messages": [USED]}),
}


@pytest.mark.parametrize(("resource", "broken"), REFUSED.values(), ids=REFUSED)
def test_a_request_the_vendor_would_refuse_is_refused_and_takes_no_answer(
    vendor: VendorServer, resource: str, broken: dict[str, Any]
) -> None:
    vendor.script(ScriptedResponse(text="Next."))

    with pytest.raises(vendor_package(resource).BadRequestError):
        observe(vendor, resource, "create", question(resource, "Hello?") | broken)

    assert "Next." in str(observe(vendor, resource, "create", question(resource, "Hello?")))


@pytest.mark.parametrize(
    ("resource", "whole"),
    [
        ("chat", {"messages": [USER, CALLING, RESULT]}),
        ("responses", {"input": [USER, FUNCTION, OUTPUT]}),
        ("responses", {"input": [OUTPUT], "previous_response_id": "resp_1"}),
        ("messages", {"messages": [USER, USE, USED], "system": [MARKED] * 4}),
        ("messages", {"messages": [USER, {"role": "system", "content": "x"}, USER]}),
    ],
)
def test_a_request_in_order_is_taken(
    vendor: VendorServer, resource: str, whole: dict[str, Any]
) -> None:
    assert observe(vendor, resource, "create", question(resource, "Hello?") | whole)


def test_there_is_nothing_elsewhere(vendor: VendorServer) -> None:
    with openai_client(vendor) as client, pytest.raises(openai.NotFoundError):
        client.responses.retrieve("resp_1")
    with anthropic_client(vendor) as client, pytest.raises(anthropic.NotFoundError):
        client.models.list()
