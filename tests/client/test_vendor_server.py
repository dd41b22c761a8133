"""The vendors' own packages cannot tell our server from the real ones."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tables import each_row
from vendor_calls import (
    CALL_STYLES,
    RESOURCES,
    anthropic_client,
    make_client,
    observe,
    observe_async,
    openai_client,
    question,
    streamed_text,
)
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor

WEATHER = ScriptedCall("weather", {"city": "Zürich", "days": 3})
TIME = ScriptedCall("time")
ANSWERS = {
    "text": ScriptedResponse(text="Grüezi. 你好, 🦊!"),
    "one call": ScriptedResponse(calls=[WEATHER]),
    "two calls after a text": ScriptedResponse(text="Let me look.", calls=[WEATHER, TIME]),
    "a refusal": ScriptedResponse(refusal="I will not."),
    "a thought": ScriptedResponse(thinking="Hm, let me see.", text="42"),
    "a thought and a call": ScriptedResponse(thinking="Hm.", calls=[WEATHER]),
    "two choices": ScriptedResponse(text="One.", choices=["One.", "Two."]),
    "nothing": ScriptedResponse(text=""),
}
every_resource = each_row("resource", RESOURCES)
every_way = pytest.mark.parametrize("way", CALL_STYLES)


# Every way of asking


@every_resource
@every_way
def test_every_way_of_asking_gets_the_same_answer_awaited_or_not(
    vendor: VendorServer, resource: str, way: str
) -> None:
    ask = question(resource, "Hello?")

    seen = observe(vendor, resource, way, ask)

    assert observe_async(vendor, resource, way, ask) == seen
    assert observe(vendor, resource, way, ask) == seen
    if way in ("create_stream", "raw_stream", "streaming_lines"):
        assert streamed_text(seen) == default_text("Hello?")
    else:
        assert default_text("Hello?") in str(seen[-1])


@every_resource
@each_row("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_stream_ends_in_the_object_a_plain_call_gives(
    vendor: VendorServer, resource: str, answer: ScriptedResponse
) -> None:
    vendor.set_default(answer)
    usage = {"stream_options": {"include_usage": True}} if resource == "chat" else {}

    plain = observe(vendor, resource, "create", question(resource, "Hello?"))[-1]
    final = observe(vendor, resource, "stream", question(resource, "Hello?", **usage))[-1]

    for choice in final.get("choices", []):
        for call in choice["message"].get("tool_calls", []):
            del call["index"]  # only in a stream, at the vendor's too
    assert final == plain


@every_resource
@each_row("answer", ANSWERS.values(), ids=ANSWERS)
def test_all_that_is_sent_fits_the_types_of_the_package(
    vendor: VendorServer, resource: str, answer: ScriptedResponse
) -> None:
    vendor.set_default(answer)
    ask = question(resource, "Hello?")

    with make_client(resource, vendor) as client:
        asking = RESOURCES[resource].select(client)
        seen = [asking.create(**ask), *asking.create(stream=True, **ask)]

    for thing in seen:  # the packages themselves check nothing
        type(thing).model_validate(thing.to_dict())


def test_what_was_asked_is_kept_in_order_with_its_bytes(vendor: VendorServer) -> None:
    with openai_client(vendor) as openai_asks, anthropic_client(vendor) as anthropic_asks:
        openai_asks.chat.completions.create(**question("chat", "Grüezi"))
        openai_asks.responses.create(**question("responses", "Hello?"))
        anthropic_asks.messages.create(**question("messages", "Hello?"))

    requests = vendor.requests
    assert [request.path for request in requests] == [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/messages",
    ]
    assert requests[0].headers["authorization"] == "Bearer test"
    assert requests[0].body == question("chat", "Grüezi")
    assert "Grüezi".encode() in requests[0].raw


def test_many_may_ask_at_once(vendor: VendorServer) -> None:
    def ask(number: int) -> Any:
        completion = client.chat.completions.create(**question("chat", f"number {number}"))
        return completion.choices[0].message.content

    with openai_client(vendor) as client, ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(ask, range(40)))

    assert texts == [default_text(f"number {number}") for number in range(40)]
    assert len(vendor.requests) == 40
