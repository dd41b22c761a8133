"""MCP over HTTP by two servers of one store: a load balancer may send each request to another."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from in_process_server import serve_in_thread
from mcp_clients import PROTOCOL_VERSIONS
from recollect import LocalRecollect
from support import open_memory

pytestmark = pytest.mark.door
QUERY = "/mcp?project=site&agent=coder"
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


class RoundRobin(httpx2.AsyncBaseTransport):
    """A load balancer: sends each request to the next server; `sent` says which got what."""

    def __init__(self, urls: list[str]) -> None:
        self._urls = cycle([httpx2.URL(url) for url in urls])
        self._transport = httpx2.AsyncHTTPTransport()
        self.sent: list[tuple[int, str]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = next(self._urls)
        assert url.port is not None
        self.sent.append((url.port, request.method))
        request.url = request.url.copy_with(host=url.host, port=url.port)
        request.headers["host"] = f"{url.host}:{url.port}"
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        await self._transport.aclose()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[str]]:
    with ExitStack() as stack:
        memories: list[LocalRecollect] = [
            stack.enter_context(open_memory(tmp_path / "m.db", words_only=True)) for _ in range(2)
        ]
        memories[1]._services.clock.new_id = memories[0]._services.clock.new_id  # type: ignore[method-assign]
        yield [stack.enter_context(serve_in_thread(rec, worker=True)) for rec in memories]


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_a_client_behind_a_load_balancer_is_answered_by_every_server(
    servers: list[str], era: str
) -> None:
    balancer = RoundRobin(servers)
    answers: list[Any] = []

    async def use() -> None:
        async with httpx2.AsyncClient(transport=balancer, timeout=60) as http_client:
            transport = streamable_http_client(servers[0] + QUERY, http_client=http_client)
            async with Client(transport, mode=era) as client:
                answers.append(await client.list_tools())
                for number in range(4):
                    fact = {"content": f"Door {number} is painted in blue."}
                    answers.append(await client.call_tool("remember", fact))
                    answers.append(await client.call_tool("search", {"query": "blue"}))

    anyio.run(use)

    assert not any(getattr(answer, "is_error", False) for answer in answers)
    assert {port for port, method in balancer.sent if method == "POST"} == {
        httpx2.URL(url).port for url in servers
    }


def test_a_session_that_ended_is_unknown_where_it_began(servers: list[str]) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with httpx2.Client(headers=HEADERS, timeout=60, trust_env=False) as client:
        begun = client.post(servers[0] + QUERY, json=hello)
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        here = client.post(servers[0] + QUERY, json=ask, headers=session)
        there = client.post(servers[1] + QUERY, json=ask, headers=session)
        stream = client.get(servers[1] + QUERY, headers=session)
        ended_there = client.delete(servers[1] + QUERY, headers=session)
        ended = client.delete(servers[0] + QUERY, headers=session)
        after = client.post(servers[0] + QUERY, json=ask, headers=session)

    assert [here.status_code, there.status_code] == [200, 200]
    assert [stream.status_code, ended_there.status_code] == [405, 405]
    assert ended.status_code == 200
    assert after.status_code == 404
