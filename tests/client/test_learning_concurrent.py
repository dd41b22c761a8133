"""Two hundred calls at once inside `learning()`: each of them gets memory within the timeout."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

from learning_checks import OPENING, logged_warnings, user_texts
from recollect import LocalRecollect, learning
from sample_responses import chat_response
from server_process import run_server
from support import open_memory

pytestmark = [pytest.mark.vendor, pytest.mark.timeout(300)]

CALLS = 200
TIMEOUT_S = 2.0  # the default
SUBJECTS = ("boat", "garden", "violin", "bicycle", "kitchen", "holiday", "dentist", "novel")


def fill(rec: LocalRecollect) -> None:
    """Add a fact and 800 messages about a few subjects."""
    rec.agents.create("anna")
    rec.ingest("The boat is called Alba.", agent="anna", scope="agent")
    talk = rec.conversations.start(agent="anna")
    said = [f"About the {SUBJECTS[n % 8]}: I noted number {n} today." for n in range(800)]
    rec.conversations.append_many(talk, [{"role": "user", "content": text} for text in said])
    rec.conversations.end(talk)
    rec.drain()


@contextmanager
def opened(place: str, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the arguments of `learning()` for a filled store, here or behind a server."""
    with open_memory(path) as rec:
        fill(rec)
        if place == "this process":
            yield {"memory": rec}
            return
    with run_server(path) as server:
        yield {"server_url": server.url}


@pytest.mark.parametrize("place", ["this process", "server"])
def test_every_one_of_many_calls_gets_memory_in_time_and_is_stored(
    place: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    queries = [f"What did I note about the {SUBJECTS[n % 8]}, number {n}?" for n in range(CALLS)]
    bodies: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(request.content.decode())
        return httpx2.Response(200, json=chat_response({"content": "Well."}))

    async def ask_all(where: dict[str, Any]) -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as http:
            client = openai.AsyncOpenAI(api_key="k", http_client=http, max_retries=0)

            async def ask(text: str) -> None:
                await client.chat.completions.create(
                    model="gpt-test", messages=[{"role": "user", "content": text}]
                )

            async with learning(agent="anna", timeout_s=TIMEOUT_S, flush_s=120, **where):
                await asyncio.gather(*map(ask, queries))

    path = tmp_path / "memory.db"
    with caplog.at_level(logging.WARNING, "recollect"), opened(place, path) as where:
        asyncio.run(ask_all(where))

    assert len(bodies) == CALLS
    assert [body for body in bodies if OPENING not in body] == []
    assert logged_warnings(caplog) == []
    with open_memory(path) as rec:
        assert sorted(set(user_texts(rec, "anna")) & set(queries)) == sorted(queries)
