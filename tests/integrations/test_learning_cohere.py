"""`learning()` with Cohere's own package: its calls are not recorded, and a warning says so."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import cohere
import pytest

from chat_server import ChatServer, chat_server, json_reply, sse_reply
from learning_checks import logged_warnings
from recollect import learning
from support import open_memory

pytestmark = pytest.mark.vendor

QUESTION: Any = [{"role": "user", "content": "What is the boat called?"}]
MESSAGE = {"role": "assistant", "content": [{"type": "text", "text": "Alba."}]}
ANSWER = {"id": "1", "finish_reason": "COMPLETE", "message": MESSAGE}
DELTA = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Alba."}}}}
STREAM = sse_reply(DELTA, {"type": "message-end", "id": "1"}, done=False)


def chat(server: ChatServer) -> str:
    client = cohere.ClientV2(api_key="k", base_url=server.url)
    return str(client.chat(model="command-a-03-2025", messages=QUESTION).message.content[0].text)


def stream(server: ChatServer) -> str:
    client = cohere.ClientV2(api_key="k", base_url=server.url)
    events = client.chat_stream(model="command-a-03-2025", messages=QUESTION)
    texts = [event.delta.message.content.text for event in events if event.type == "content-delta"]
    return "".join(texts)


def chat_async(server: ChatServer) -> str:
    async def ask() -> str:
        client = cohere.AsyncClientV2(api_key="k", base_url=server.url)
        answer = await client.chat(model="command-a-03-2025", messages=QUESTION)
        return str(answer.message.content[0].text)

    return asyncio.run(ask())


@pytest.mark.parametrize("call", [chat, stream, chat_async])
def test_calls_of_cohere_pass_unchanged_and_a_block_of_them_names_it(
    call: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        chat_server() as server,
        open_memory(tmp_path / "memory.db", words_only=True) as rec,
        caplog.at_level(logging.WARNING, "recollect"),
    ):
        server.replies = [STREAM if call is stream else json_reply(ANSWER)]
        with learning(agent="anna", memory=rec):
            assert call(server) == "Alba."
        assert rec.conversations.list(agent="anna") == []

    [request] = server.requests
    assert request.body["messages"] == QUESTION
    [warning] = logged_warnings(caplog)
    assert "it called Cohere, which" in warning
