"""`learning()` with Ollama's own package, against a local server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ollama
import pytest

from chat_server import ChatServer, Reply, chat_server, json_reply
from learning_checks import OPENING, stored_messages
from recollect import LocalRecollect, learning
from sample_responses import ollama_response
from sample_streams import as_json_lines, ollama_stream
from support import open_memory

pytestmark = pytest.mark.vendor

FACT = "The boat is called Alba."
QUESTION = {"role": "user", "content": "What is the boat called?"}
ANSWER = ollama_response({"content": "It is called Alba."})
LOOK: Any = {"function": {"name": "look", "arguments": {"at": "the bow"}}}
STREAM = Reply(
    as_json_lines(ollama_stream(ANSWER)), headers={"Content-Type": "application/x-ndjson"}
)
WHOLE = json_reply(ANSWER, headers={"Content-Type": "application/json; charset=utf-8"})


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "memory.db", words_only=True) as rec:
        rec.agents.create("anna")
        rec.ingest(FACT, agent="anna", scope="agent")
        yield rec


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def said(rec: LocalRecollect) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in stored_messages(rec, "anna")]


def call(server: ChatServer, *, stream: bool) -> str:
    client = ollama.Client(host=server.url)
    answer = client.chat(model="llama3", messages=[QUESTION], stream=stream)
    if not stream:
        return str(answer.message.content)
    return "".join(str(part.message.content) for part in answer)


async def call_async(server: ChatServer, *, stream: bool) -> str:
    client = ollama.AsyncClient(host=server.url)
    answer = await client.chat(model="llama3", messages=[QUESTION], stream=stream)
    if not stream:
        return str(answer.message.content)
    return "".join([str(part.message.content) async for part in answer])


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("stream", [False, True])
def test_a_chat_gets_memory_and_is_recorded(
    rec: LocalRecollect, server: ChatServer, stream: bool, is_async: bool
) -> None:
    server.replies = [STREAM if stream else WHOLE]
    with learning(agent="anna", memory=rec):
        if is_async:
            answer = asyncio.run(call_async(server, stream=stream))
        else:
            answer = call(server, stream=stream)

    [request] = server.requests
    memory, question = request.body["messages"]
    assert memory["role"] == "system"
    assert OPENING in memory["content"]
    assert FACT in memory["content"]
    assert question == QUESTION
    assert answer == "It is called Alba."
    assert said(rec) == [("user", QUESTION["content"]), ("assistant", answer)]


def test_a_tool_call_and_its_result_are_recorded_once(
    rec: LocalRecollect, server: ChatServer
) -> None:
    calls = ollama_response({"tool_calls": [LOOK]})
    server.replies = [json_reply(calls), WHOLE]
    client = ollama.Client(host=server.url)
    with learning(agent="anna", memory=rec):
        first = client.chat(model="llama3", messages=[QUESTION])
        result = {"role": "tool", "tool_name": "look", "content": "A painted name."}
        client.chat(model="llama3", messages=[QUESTION, first.message, result])

    user, assistant, tool, reply = stored_messages(rec, "anna")
    assert user.content == QUESTION["content"]
    assert assistant.tool_calls[0]["function"]["name"] == "look"
    assert (tool.role, tool.name, tool.content) == ("tool", "look", "A painted name.")
    assert reply.content == "It is called Alba."
