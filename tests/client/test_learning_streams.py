"""`learning()` with streams that are left, dropped, broken, very large or read elsewhere."""

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from learning_checks import stored_messages, user_texts
from recollect import LocalRecollect, learning
from vendor_calls import (
    anthropic_client,
    ask_chat,
    make_async_client,
    observe,
    openai_client,
    question,
    vendor_package,
)
from vendor_server import ScriptedResponse, VendorServer, default_text

pytestmark = pytest.mark.vendor

LONG = "one two three four five six seven eight nine ten"


def stream_of(client: Any, text: str) -> Any:
    return client.chat.completions.create(**question("chat", text), stream=True)


def replies(rec: LocalRecollect) -> list[str]:
    return [
        message.content for message in stored_messages(rec, "anna") if message.role == "assistant"
    ]


def test_a_stream_that_is_never_read_keeps_the_question(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        stream = stream_of(client, "Hello?")
    stream.close()

    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_a_stream_that_is_dropped_half_read_is_kept_as_far_as_it_was_read_and_in_order(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    vendor.script(ScriptedResponse(text=LONG))
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        for _, event in zip(range(5), stream_of(client, "first"), strict=False):
            assert event
        gc.collect()
        ask_chat(client, "second")

    assert user_texts(two_agents, "anna") == ["first", "second"]
    assert replies(two_agents)[0]
    assert LONG.startswith(replies(two_agents)[0].strip())


def test_a_stream_that_is_dropped_unread_is_not_held_until_the_block_ends(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        stream = stream_of(client, "first")
        response = stream.response
        del stream
        gc.collect()
        del response
        gc.collect()
        ask_chat(client, "second")

    assert user_texts(two_agents, "anna") == ["first", "second"]


def test_a_stream_that_is_read_after_the_block_is_whole_for_the_caller(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client:
        with learning(agent="anna", memory=two_agents):
            stream = stream_of(client, "Hello?")
            next(stream)
        rest = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)

    assert default_text("Hello?").endswith(rest)
    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_a_stream_closed_twice_and_left_by_break_is_kept_once(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        with stream_of(client, "Hello?") as stream:
            for _ in stream:
                break
        stream.close()
        stream.close()

    assert user_texts(two_agents, "anna") == ["Hello?"]


@pytest.mark.parametrize("resource", ["chat", "responses", "messages"])
def test_a_stream_with_an_error_in_the_middle_fails_as_ever_and_is_kept_once(
    vendor: VendorServer, two_agents: LocalRecollect, resource: str
) -> None:
    vendor.set_default(ScriptedResponse(text=LONG, error_after=4))
    refused = vendor_package(resource).APIError
    with pytest.raises(refused) as bare:
        observe(vendor, resource, "create_stream", question(resource, "Hello?"))

    with learning(agent="anna", memory=two_agents), pytest.raises(refused) as inside:
        observe(vendor, resource, "create_stream", question(resource, "Hello?"))

    assert (type(inside.value), str(inside.value)) == (type(bare.value), str(bare.value))
    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_a_stream_that_breaks_off_fails_as_ever(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    vendor.set_default(ScriptedResponse(text=LONG, break_after=4))
    with (
        openai_client(vendor) as client,
        learning(agent="anna", memory=two_agents),
        pytest.raises(openai.APIConnectionError),
    ):
        list(stream_of(client, "Hello?"))

    assert user_texts(two_agents, "anna") == ["Hello?"]


@pytest.mark.parametrize("gzip", [False, True])
def test_bytes_are_the_same_and_the_answer_is_kept_when_read_raw(
    vendor: VendorServer, two_agents: LocalRecollect, gzip: bool
) -> None:
    vendor.set_default(ScriptedResponse(text=LONG, gzip=gzip))

    def read(client: Any) -> bytes:
        asking = client.chat.completions.with_streaming_response
        with asking.create(**question("chat", "Hello?"), stream=True) as response:
            return b"".join(response.http_response.iter_raw(7))

    with openai_client(vendor) as client:
        bare = read(client)
        with learning(agent="anna", memory=two_agents):
            inside = read(client)

    assert inside == bare
    assert replies(two_agents) == [LONG]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("gzip", [False, True])
def test_an_answer_of_20_megabytes_comes_through_and_its_beginning_is_kept(
    vendor: VendorServer, two_agents: LocalRecollect, stream: bool, gzip: bool
) -> None:
    huge = "word and " * 2_200_000
    vendor.set_default(ScriptedResponse(text=huge, gzip=gzip))
    pieces = _sse(huge) if stream else _plain(huge)
    # A transport of our own: the vendors' server cuts streams into small events.
    client = openai.OpenAI(
        api_key="test",
        base_url=vendor.openai_url,
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: pieces)),
    )
    with client, learning(agent="anna", memory=two_agents, flush_s=60):
        made = ask_chat(client, "Much, please.", stream=stream)
        text = (
            "".join(chunk.choices[0].delta.content or "" for chunk in made)
            if stream
            else made.choices[0].message.content
        )

    assert text == huge
    (reply,) = replies(two_agents)
    assert huge.startswith(reply[:400_000])
    assert len(reply) < 1_000_000


def _plain(text: str) -> httpx2.Response:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return httpx2.Response(200, json=body)


def _sse(text: str) -> httpx2.Response:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    event = f"data: {json.dumps(chunk | {'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()

    def pieces() -> Iterator[bytes]:
        for at in range(0, len(event), 65_536):
            yield event[at : at + 65_536]

    headers = {"content-type": "text/event-stream"}
    return httpx2.Response(200, headers=headers, content=pieces())


def test_a_stream_read_by_another_thread_is_kept(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        stream = stream_of(client, "Hello?")
        thread = threading.Thread(target=lambda: list(stream))
        thread.start()
        thread.join()

    assert replies(two_agents) == [default_text("Hello?")]


def test_the_turn_of_a_stream_that_ends_late_does_not_tear_other_turns_apart(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=two_agents):
        stream = stream_of(client, "slow")
        next(stream)
        ask_chat(client, "quick")
        list(stream)

    texts = [message.content for message in stored_messages(two_agents, "anna")]
    assert texts == ["quick", default_text("quick"), "slow", default_text("slow")] or texts == [
        "slow",
        default_text("slow"),
        "quick",
        default_text("quick"),
    ]


def test_a_task_cancelled_in_the_middle_of_a_stream_is_cancelled_and_kept_as_far_as_read(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    vendor.set_default(ScriptedResponse(text=LONG, hold_after=4))

    async def scene() -> None:
        reading = asyncio.Event()

        async def read() -> None:
            async with make_async_client("chat", vendor) as client:
                async for _ in await stream_of(client, "Hello?"):
                    reading.set()

        async with learning(agent="anna", memory=two_agents):
            task = asyncio.create_task(read())
            await reading.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scene())
    assert user_texts(two_agents, "anna") == ["Hello?"]


def test_anthropics_text_stream_can_be_left_early(
    vendor: VendorServer, two_agents: LocalRecollect
) -> None:
    vendor.set_default(ScriptedResponse(text=LONG))
    with (
        anthropic_client(vendor) as client,
        learning(agent="anna", memory=two_agents),
        client.messages.stream(**question("messages", "Hello?")) as stream,
    ):
        for _ in stream.text_stream:
            break

    assert user_texts(two_agents, "anna") == ["Hello?"]
