"""The vendors' own packages cannot tell our server from the real ones."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import pytest

from vendor_calls import (
    CALL_STYLES,
    RESOURCES,
    Note,
    anthropic_client,
    as_json,
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
every_resource = pytest.mark.parametrize("resource", RESOURCES)
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
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
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
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
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


@every_resource
def test_structured_output_fits_its_schema_and_says_the_default(
    vendor: VendorServer, resource: str
) -> None:
    note = Note(title=default_text("Hello?"), count=1)

    with make_client(resource, vendor) as client:
        asking = RESOURCES[resource].select(client)
        form = {RESOURCES[resource].format_keyword: Note}
        parsed = asking.parse(**question(resource, "Hello?"), **form)
        with asking.stream(**question(resource, "Hello?"), **form) as stream:
            streamed = getattr(stream, RESOURCES[resource].final_method)()

    for final in (parsed, streamed):
        if resource == "chat":
            assert final.choices[0].message.parsed == note
        elif resource == "responses":
            assert final.output_parsed == note
        else:
            assert final.content[0].parsed_output == note


# What a model may do


def test_openai_shows_tool_calls_refusals_choices_and_why_it_stopped(vendor: VendorServer) -> None:
    vendor.script(*ANSWERS.values(), ScriptedResponse(text="On and", truncated=True))

    with openai_client(vendor) as client:
        seen = [client.chat.completions.create(**question("chat", "?")) for _ in range(9)]

    calls = seen[2].choices[0].message.tool_calls
    assert [call.function.name for call in calls or [] if call.type == "function"] == [
        "weather",
        "time",
    ]
    assert len({call.id for call in calls or []}) == 2
    assert seen[2].choices[0].finish_reason == "tool_calls"
    assert seen[3].choices[0].message.refusal == "I will not."
    assert [choice.message.content for choice in seen[6].choices] == ["One.", "Two."]
    assert seen[8].choices[0].finish_reason == "length"
    assert len({completion.id for completion in seen}) == 9


def test_responses_show_reasoning_and_incomplete_answers(vendor: VendorServer) -> None:
    vendor.script(ANSWERS["a thought"], ScriptedResponse(text="On and", truncated=True))

    with openai_client(vendor) as client:
        thought = client.responses.create(**question("responses", "?"))
        cut_off = list(client.responses.create(**question("responses", "?"), stream=True))

    assert [item.type for item in thought.output] == ["reasoning", "message"]
    assert thought.output_text == "42"
    assert cut_off[-1].type == "response.incomplete"


def test_anthropic_shows_thinking_tool_use_and_why_it_stopped(vendor: VendorServer) -> None:
    vendor.script(*ANSWERS.values(), ScriptedResponse(text="On and", truncated=True))

    with anthropic_client(vendor) as client:
        seen = [client.messages.create(**question("messages", "?")) for _ in range(9)]

    assert [block.type for block in seen[4].content] == ["thinking", "text"]
    assert [block.type for block in seen[2].content] == ["text", "tool_use", "tool_use"]
    assert seen[1].content[0].to_dict()["input"] == WEATHER.arguments
    reasons = [seen[index].stop_reason for index in (0, 2, 3, 8)]
    assert reasons == ["end_turn", "tool_use", "refusal", "max_tokens"]


def test_a_chat_stream_tells_its_usage_only_when_asked_to(vendor: VendorServer) -> None:
    ask = question("chat", "One two three")

    without = observe(vendor, "chat", "create_stream", ask)
    observed = observe(
        vendor, "chat", "create_stream", ask | {"stream_options": {"include_usage": True}}
    )

    assert not any("usage" in chunk for chunk in without)
    assert observed[-1]["choices"] == []
    assert observed[-1]["usage"]["prompt_tokens"] == 3


def test_a_caller_who_wants_several_choices_gets_as_many(vendor: VendorServer) -> None:
    seen = observe(vendor, "chat", "stream", question("chat", "Hello?", n=3))

    texts = [choice["message"]["content"] for choice in seen[-1]["choices"]]
    assert texts == [default_text("Hello?")] * 3


def test_a_response_is_told_in_the_vendors_order_and_numbered(vendor: VendorServer) -> None:
    vendor.script(ScriptedResponse(thinking="Hm.", text="Yes", calls=[WEATHER]))

    seen = observe(vendor, "responses", "create_stream", question("responses", "?"))

    names = [event["type"].removeprefix("response.") for event in seen]
    assert [event["sequence_number"] for event in seen] == list(range(len(seen)))
    assert names == [
        *("created", "in_progress", "output_item.added", "reasoning_summary_part.added"),
        *["reasoning_summary_text.delta"] * 3,
        *("reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"),
        *("output_item.added", "content_part.added"),
        *["output_text.delta"] * 3,
        *("output_text.done", "content_part.done", "output_item.done", "output_item.added"),
        *["function_call_arguments.delta"] * 4,
        *("function_call_arguments.done", "output_item.done", "completed"),
    ]


def test_anthropic_streams_name_their_events_and_ping(vendor: VendorServer) -> None:
    lines = observe(vendor, "messages", "streaming_lines", question("messages", "Hello?"))

    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    assert names == [
        *("message_start", "content_block_start", "ping"),
        *["content_block_delta"] * 4,
        *("content_block_stop", "message_delta", "message_stop"),
    ]


@pytest.mark.parametrize("streams", [False, True])
def test_a_tool_runner_gets_its_call_and_then_its_answer(
    vendor: VendorServer, streams: bool
) -> None:
    vendor.script(ScriptedResponse(calls=[ScriptedCall("shout", {"word": "hey"})]))

    @anthropic.beta_tool
    def shout(word: str) -> str:
        """Shout a word."""
        return word.upper()

    with anthropic_client(vendor) as client:
        if not hasattr(client.beta.messages, "tool_runner"):
            pytest.skip("no tool_runner here")
        ask = question("beta", "Shout hey.", tools=[shout], stream=streams)
        final = client.beta.messages.tool_runner(**ask).until_done()

    assert as_json(final)["content"] == [{"type": "text", "text": default_text("Shout hey.")}]
    assert vendor.requests[1].body["messages"][-1]["content"][0]["content"] == "HEY"


def test_a_thread_holds_what_was_said_and_its_system(vendor: VendorServer) -> None:
    with anthropic_client(vendor) as client:
        if not hasattr(client.beta.messages, "thread"):
            pytest.skip("this version has no thread")
        thread = client.beta.messages.thread(model="m", max_tokens=9, system="Be brief.")
        thread.send({"role": "user", "content": "Hello?"})
        second = thread.send({"role": "user", "content": "And now?"})
        going_on = {"type": "continue", "previous_message_id": second.id}
        ask = question("beta", "?", thread=going_on, betas=["message-threads-2026-08-12"])
        with pytest.raises(anthropic.BadRequestError, match="thread_fingerprint_mismatch"):
            client.beta.messages.create(**ask, system="Something else.")

    assert as_json(second)["content"][0]["text"] == default_text("And now?")
    assert len(vendor.requests[1].body["messages"]) == 1


# Equal calls, equal answers


@every_resource
def test_what_the_answer_says_depends_on_the_last_user_message_alone(
    vendor: VendorServer, resource: str
) -> None:
    texts = [{"type": "input_text" if resource == "responses" else "text", "text": "Hello?"}]
    turns = [
        {"role": "user", "content": "Before"},
        {"role": "assistant", "content": "Yes."},
        {"role": "system", "content": "Remember this."},
        {"role": "user", "content": texts},
    ]
    more: dict[str, Any] = {"input" if resource == "responses" else "messages": turns}
    if resource != "chat":
        more |= {"instructions" if resource == "responses" else "system": "Be brief."}

    bare = observe(vendor, resource, "create", question(resource, "Hello?"))

    assert observe(vendor, resource, "create", question(resource, "Hello?") | more) == bare
    assert observe(vendor, resource, "create", question(resource, "Hello!")) != bare


def test_instructions_come_back_in_a_response_only_where_a_test_wants_it(
    vendor: VendorServer,
) -> None:
    ask = question("responses", "Hello?", instructions="Be brief.")

    before = observe(vendor, "responses", "create", ask)[0]
    vendor.echoes_instructions = True

    assert "instructions" not in before
    assert observe(vendor, "responses", "stream", ask)[-1]["instructions"] == "Be brief."


@every_resource
def test_objects_and_heads_are_equal_to_the_last_field(vendor: VendorServer, resource: str) -> None:
    with make_client(resource, vendor) as client:
        asking = RESOURCES[resource].select(client).with_raw_response
        first, second = (asking.create(**question(resource, "Hello?")) for _ in range(2))

    assert first.parse() == second.parse()
    assert first.parse()._request_id.startswith("req_")
    assert dict(first.headers) == dict(second.headers)


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
