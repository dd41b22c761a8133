"""`/mcp` of the memory server stands behind the same guard as everything else there."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx2
import pytest
from mcp import Client
from starlette.testclient import TestClient

from in_process_server import serve_in_thread
from mcp_clients import PROTOCOL_VERSIONS, call_values, http_server, run_client
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app
from server_process import run_server
from support import open_memory

pytestmark = pytest.mark.door

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


def test_a_page_of_elsewhere_is_refused(rec: LocalRecollect) -> None:
    bad = (
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"host": "evil.example"},
    )
    with http_server(rec) as url:
        for more in bad:
            answer = httpx2.post(url, json=HELLO, headers={**HEADERS, **more}, timeout=60)
            assert answer.status_code == 403
        assert httpx2.post(url, json=HELLO, headers=HEADERS, timeout=60).status_code == 200


def test_the_token_is_asked_for(rec: LocalRecollect) -> None:
    with serve_in_thread(rec, worker=True, token="sesame") as url:
        refused = httpx2.post(f"{url}/mcp", json=HELLO, headers=HEADERS, timeout=60)
        headers = {**HEADERS, "authorization": "Bearer sesame"}
        let_in = httpx2.post(f"{url}/mcp", json=HELLO, headers=headers, timeout=60)

    assert (refused.status_code, let_in.status_code) == (401, 200)


def test_a_body_over_the_limit_is_refused(rec: LocalRecollect) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(3):
            yield b" " * 500_000

    with serve_in_thread(rec, worker=True, max_body_mb=1) as url:
        announced = httpx2.post(f"{url}/mcp", content=b" " * 1_500_000, headers=HEADERS, timeout=60)
        streamed = httpx2.post(f"{url}/mcp", content=chunks(), headers=HEADERS, timeout=60)

    assert (announced.status_code, streamed.status_code) == (413, 413)


def test_requests_beyond_the_rate_are_refused(rec: LocalRecollect) -> None:
    settings = Settings(requests_per_second=1, embedding_backend="none")
    local = "http://localhost"

    with TestClient(web_app(rec, settings), base_url=local) as client:
        answers = [client.post("/mcp", json=HELLO, headers=HEADERS) for _ in range(3)]

    assert [answer.status_code for answer in answers].count(429) >= 1
    assert answers[0].status_code == 200


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_many_clients_are_answered_at_once(rec: LocalRecollect, era: str) -> None:
    for n in range(6):
        rec.ingest(f"Project {n} has pump {n}.", project=f"p{n}")

    with http_server(rec, "") as url, ThreadPoolExecutor(6) as pool:
        jobs = [
            pool.submit(call_values, f"{url}?project=p{n}", "search", era, query="pump")
            for n in range(6)
        ]
        results = [[hit["content"] for hit in job.result()["hits"]] for job in jobs]

    assert results == [[f"Project {n} has pump {n}."] for n in range(6)]


def test_an_invalid_request_gets_an_error_and_the_server_continues(rec: LocalRecollect) -> None:
    bodies: tuple[Any, ...] = (b"", b"{", b"[]", b"null", b"\x00", json.dumps({"a": 1}).encode())
    with http_server(rec) as url:
        for body in bodies:
            answer = httpx2.post(url, content=body, headers=HEADERS, timeout=60)
            assert 400 <= answer.status_code < 500, body
        for version in ("1999-01-01", "2026-07-28", "x" * 5_000):
            headers = {**HEADERS, "mcp-protocol-version": version}
            assert httpx2.post(url, json=HELLO, headers=headers, timeout=60).status_code < 500
        assert httpx2.post(url, json=HELLO, headers={}, timeout=60).status_code < 500
        assert call_values(url, "status")["project"] == "site"


def test_a_profile_that_does_not_exist_is_said(rec: LocalRecollect) -> None:
    async def scene(client: Client) -> None:
        with pytest.raises(Exception, match="no profile 'nonsense'"):
            await client.list_tools()

    with http_server(rec, "?profile=nonsense") as url:
        run_client(url, scene)


def test_nobody_over_http_is_trusted(rec: LocalRecollect) -> None:
    with http_server(rec, "?project=site&trusted=true&trust=1") as url:
        result = call_values(url, "remember", content="We use pnpm.")

    assert result["status"] == "inbox"


def test_a_server_with_a_client_that_listens_stops_when_told(tmp_path: Path) -> None:
    """A client of the older era keeps a stream open; that must not hold the server up."""
    with run_server(tmp_path / "m.db") as server:

        async def scene(client: Client) -> int:
            await client.call_tool("status", {})
            server.process.terminate()
            return await anyio.to_thread.run_sync(lambda: server.process.wait(timeout=60))

        ended = run_client(f"{server.url}/mcp", scene)

    assert ended == 0
