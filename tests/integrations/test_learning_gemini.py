"""`learning()` with Google's own package, against a local server."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from google import genai
from google.genai import types

from chat_server import ChatServer, chat_server, json_reply, sse_reply
from learning_checks import OPENING, logged_warnings, stored_messages
from recollect import LocalRecollect, learning
from sample_responses import gemini_response
from sample_streams import gemini_stream
from support import open_memory

pytestmark = [
    pytest.mark.vendor,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of google-genai
]

FACT = "The boat is called Alba."
QUESTION = "What is the boat called?"
ANSWER = gemini_response({"text": "It is called Alba."})
STREAM = sse_reply(*(event.data for event in gemini_stream(ANSWER)), done=False)
MODEL = "gemini-3-pro"


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        rec.agents.create("anna")
        rec.ingest(FACT, agent="anna", scope="agent")
        yield rec


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        server.replies = [json_reply(ANSWER)]
        yield server


def make_client(server: ChatServer, **options: Any) -> genai.Client:
    http = types.HttpOptions(base_url=server.url, **options)
    return genai.Client(api_key="test", http_options=http)


def instruction(server: ChatServer) -> str:
    parts = server.requests[0].body["systemInstruction"]["parts"]
    return "\n".join(part["text"] for part in parts)


def test_a_call_gets_memory_after_its_own_instruction(
    rec: LocalRecollect, server: ChatServer
) -> None:
    config = types.GenerateContentConfig(system_instruction="Be short.")
    with learning(agent="anna", memory=rec), make_client(server) as client:
        answer = client.models.generate_content(model=MODEL, contents=QUESTION, config=config)

    assert instruction(server).startswith(f"Be short.\n{OPENING}")
    assert FACT in instruction(server)
    assert answer.text == "It is called Alba."
    stored = [(message.role, message.content) for message in stored_messages(rec, "anna")]
    assert stored == [("user", QUESTION), ("assistant", "It is called Alba.")]


def test_a_chat_is_streamed_and_recorded_once(rec: LocalRecollect, server: ChatServer) -> None:
    server.replies = [STREAM]
    with learning(agent="anna", memory=rec), make_client(server) as client:
        chat = client.chats.create(model=MODEL)
        first = "".join(chunk.text or "" for chunk in chat.send_message_stream(QUESTION))
        second = "".join(chunk.text or "" for chunk in chat.send_message_stream("Who built it?"))

    assert first == second == "It is called Alba."
    assert FACT in instruction(server)
    stored = [message.content for message in stored_messages(rec, "anna")]
    assert stored == [QUESTION, first, "Who built it?", second]


def test_a_function_that_the_package_calls_is_recorded(
    rec: LocalRecollect, server: ChatServer
) -> None:
    def look(at: str) -> str:
        """Look somewhere."""
        return f"A name is painted at {at}."

    call = {"functionCall": {"name": "look", "args": {"at": "the bow"}}}
    server.replies = [json_reply(gemini_response(call)), json_reply(ANSWER)]
    config = types.GenerateContentConfig(tools=[look])
    with learning(agent="anna", memory=rec), make_client(server) as client:
        client.models.generate_content(model=MODEL, contents=QUESTION, config=config)

    question, called, result, reply = stored_messages(rec, "anna")
    assert question.content == QUESTION
    assert called.tool_calls[0]["function"]["name"] == "look"
    assert (result.role, result.content) == ("tool", "A name is painted at the bow.")
    assert reply.content == "It is called Alba."


def test_an_asynchronous_call_over_httpx_gets_memory(
    rec: LocalRecollect, server: ChatServer
) -> None:
    async def scene() -> None:
        async with httpx.AsyncClient() as http:
            client = make_client(server, httpx_async_client=http)
            await client.aio.models.generate_content(model=MODEL, contents=QUESTION)

    with learning(agent="anna", memory=rec):
        asyncio.run(scene())

    assert FACT in instruction(server)


def test_a_block_whose_calls_went_through_aiohttp_says_so(
    rec: LocalRecollect, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        client = make_client(server)
        await client.aio.models.generate_content(model=MODEL, contents=QUESTION)
        await client.aio.aclose()

    with caplog.at_level(logging.WARNING, "recollect"), learning(agent="anna", memory=rec):
        asyncio.run(scene())

    [warning] = logged_warnings(caplog)
    assert "it called a model through aiohttp" in warning
    assert "systemInstruction" not in server.requests[-1].body
