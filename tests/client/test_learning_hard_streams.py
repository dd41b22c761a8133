"""`with learning()`: streams that are left, dropped, broken, read elsewhere or enormous."""

import asyncio
import gc
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

from learning_scenes import chat, kept, users
from recollect import Recollect, learning
from vendor_calls import (
    anthropic_client,
    async_client_of,
    openai_client,
    package_of,
    question,
    see,
)
from vendor_server import Answer, VendorServer, default_text

LONG = "one two three four five six seven eight nine ten"


def stream_of(client: Any, text: str) -> Any:
    return client.chat.completions.create(**question("chat", text), stream=True)


def replies(memory: Recollect) -> list[str]:
    return [one.content for one in kept(memory, "anna") if one.role == "assistant"]


def test_a_stream_that_is_never_read_keeps_the_question(
    vendor: VendorServer, known: Recollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=known):
        stream = stream_of(client, "Hello?")
    stream.close()

    assert users(known, "anna") == ["Hello?"]


def test_a_stream_that_is_dropped_half_read_is_kept_as_far_as_it_was_read_and_in_order(
    vendor: VendorServer, known: Recollect
) -> None:
    vendor.script(Answer(text=LONG))
    with openai_client(vendor) as client, learning(agent="anna", memory=known):
        for _, event in zip(range(5), stream_of(client, "first"), strict=False):
            assert event
        gc.collect()
        chat(client, "second")

    assert users(known, "anna") == ["first", "second"]
    assert replies(known)[0]
    assert LONG.startswith(replies(known)[0].strip())


def test_a_stream_that_is_dropped_unread_is_not_held_until_the_block_ends(
    vendor: VendorServer, known: Recollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=known):
        stream = stream_of(client, "first")
        response = stream.response
        del stream
        gc.collect()
        del response
        gc.collect()
        chat(client, "second")

    assert users(known, "anna") == ["first", "second"]


def test_a_stream_that_is_read_after_the_block_is_whole_for_the_caller(
    vendor: VendorServer, known: Recollect
) -> None:
    with openai_client(vendor) as client:
        with learning(agent="anna", memory=known):
            stream = stream_of(client, "Hello?")
            next(stream)
        rest = "".join(one.choices[0].delta.content or "" for one in stream if one.choices)

    assert default_text("Hello?").endswith(rest)
    assert users(known, "anna") == ["Hello?"]


def test_a_stream_closed_twice_and_left_by_break_is_kept_once(
    vendor: VendorServer, known: Recollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=known):
        with stream_of(client, "Hello?") as stream:
            for _ in stream:
                break
        stream.close()
        stream.close()

    assert users(known, "anna") == ["Hello?"]


@pytest.mark.parametrize("resource", ["chat", "responses", "messages"])
def test_a_stream_with_an_error_in_the_middle_fails_as_ever_and_is_kept_once(
    vendor: VendorServer, known: Recollect, resource: str
) -> None:
    vendor.always(Answer(text=LONG, error_after=4))
    refused = package_of(resource).APIError
    with pytest.raises(refused) as bare:
        see(vendor, resource, "create_stream", question(resource, "Hello?"))

    with learning(agent="anna", memory=known), pytest.raises(refused) as inside:
        see(vendor, resource, "create_stream", question(resource, "Hello?"))

    assert (type(inside.value), str(inside.value)) == (type(bare.value), str(bare.value))
    assert users(known, "anna") == ["Hello?"]


def test_a_stream_that_breaks_off_fails_as_ever(vendor: VendorServer, known: Recollect) -> None:
    vendor.always(Answer(text=LONG, break_after=4))
    with (
        openai_client(vendor) as client,
        learning(agent="anna", memory=known),
        pytest.raises(openai.APIConnectionError),
    ):
        list(stream_of(client, "Hello?"))

    assert users(known, "anna") == ["Hello?"]


@pytest.mark.parametrize("gzip", [False, True])
def test_bytes_are_the_same_and_the_answer_is_kept_when_read_raw(
    vendor: VendorServer, known: Recollect, gzip: bool
) -> None:
    vendor.always(Answer(text=LONG, gzip=gzip))

    def read(client: Any) -> bytes:
        asking = client.chat.completions.with_streaming_response
        with asking.create(**question("chat", "Hello?"), stream=True) as response:
            return b"".join(response.http_response.iter_raw(7))

    with openai_client(vendor) as client:
        bare = read(client)
        with learning(agent="anna", memory=known):
            inside = read(client)

    assert inside == bare
    assert replies(known) == [LONG]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("gzip", [False, True])
def test_an_answer_of_20_megabytes_comes_through_and_its_beginning_is_kept(
    vendor: VendorServer, known: Recollect, stream: bool, gzip: bool
) -> None:
    huge = "word and " * 2_200_000
    vendor.always(Answer(text=huge, gzip=gzip))
    pieces = _sse(huge) if stream else _plain(huge)
    # A transport of our own: the vendors' server cuts streams into small events.
    client = openai.OpenAI(
        api_key="test",
        base_url=vendor.openai_url,
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(lambda _: pieces)),
    )
    with client, learning(agent="anna", memory=known, flush_s=60):
        made = chat(client, "Much, please.", stream=stream)
        text = (
            "".join(one.choices[0].delta.content or "" for one in made)
            if stream
            else made.choices[0].message.content
        )

    assert text == huge
    (reply,) = replies(known)
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


def test_a_stream_read_by_another_thread_is_kept(vendor: VendorServer, known: Recollect) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=known):
        stream = stream_of(client, "Hello?")
        thread = threading.Thread(target=lambda: list(stream))
        thread.start()
        thread.join()

    assert replies(known) == [default_text("Hello?")]


def test_the_turn_of_a_stream_that_ends_late_does_not_tear_other_turns_apart(
    vendor: VendorServer, known: Recollect
) -> None:
    with openai_client(vendor) as client, learning(agent="anna", memory=known):
        stream = stream_of(client, "slow")
        next(stream)
        chat(client, "quick")
        list(stream)

    said = [one.content for one in kept(known, "anna")]
    assert said == ["quick", default_text("quick"), "slow", default_text("slow")] or said == [
        "slow",
        default_text("slow"),
        "quick",
        default_text("quick"),
    ]


def test_a_task_cancelled_in_the_middle_of_a_stream_is_cancelled_and_kept_as_far_as_read(
    vendor: VendorServer, known: Recollect
) -> None:
    vendor.always(Answer(text=LONG, hold_after=4))

    async def scene() -> None:
        reading = asyncio.Event()

        async def read() -> None:
            async with async_client_of("chat", vendor) as client:
                async for _ in await stream_of(client, "Hello?"):
                    reading.set()

        async with learning(agent="anna", memory=known):
            task = asyncio.create_task(read())
            await reading.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(scene())
    assert users(known, "anna") == ["Hello?"]


def test_anthropics_text_stream_can_be_left_early(vendor: VendorServer, known: Recollect) -> None:
    vendor.always(Answer(text=LONG))
    with (
        anthropic_client(vendor) as client,
        learning(agent="anna", memory=known),
        client.messages.stream(**question("messages", "Hello?")) as stream,
    ):
        for _ in stream.text_stream:
            break

    assert users(known, "anna") == ["Hello?"]
