"""
Several servers on one PostgreSQL database: they see each other's writes, and faults lose nothing.

The servers are processes, killed with SIGKILL while clients write, and the database server is
stopped without a checkpoint and started again.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from postgres_server import PostgresServer
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.models.scripted_models import ScriptedEmbedder
from server_process import ServerProcess, run_server, without_embedder
from support import FakeClock

pytestmark = pytest.mark.postgres

WRITERS = 4
SERVER_KILLS = 4
DATABASE_RESTARTS = 2
GIVE_UP_S = 120.0


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.remove()


def test_each_server_finds_what_another_one_stored_at_once(
    database: PostgresServer, tmp_path: Path
) -> None:
    env = without_embedder(XDG_STATE_HOME=str(tmp_path), RECOLLECT_DB=database.url("shared"))
    with (
        run_server(database.url("shared"), env=env) as one,
        run_server(database.url("shared"), env=env) as two,
        httpx2.Client(trust_env=False) as client,
    ):
        body = {"content": "The zebra sleeps standing.", "type": "project", "project": "zoo"}
        key = {"idempotency-key": "k1"}
        first = client.post(f"{one.url}/api/memories", json=body, headers=key)
        again = client.post(f"{two.url}/api/memories", json=body, headers=key)
        asked = {"query": "how does the zebra sleep?", "project": "zoo"}
        hits = client.post(f"{two.url}/api/search", json=asked).json()
        health = [client.get(f"{server.url}/health") for server in (one, two)]

    assert first.status_code == 200
    assert again.status_code == 409  # carried out by the other server
    assert [hit["memory"]["id"] for hit in hits] == [first.json()["id"]]
    assert [response.status_code for response in health] == [200, 200]
    assert "postgresql://" in health[0].json()["database_path"]


def test_the_vector_cache_of_each_process_follows_the_table(database: PostgresServer) -> None:
    settings = Settings(db=database.url("cached"))
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(
                LocalRecollect(settings, clock=FakeClock(), embedder=ScriptedEmbedder())
            )
            for _ in range(2)
        )
        clock = one._services.clock
        two._services.clock.new_id = clock.new_id  # type: ignore[method-assign]
        for number in range(30):
            writer, reader = (one, two) if number % 2 else (two, one)
            stored = writer.ingest(f"The locker number {number} holds a towel.", project="gym")
            writer.search("towel", project="gym")  # embeds it

            [best, *_] = reader.search(f"locker number {number} towel", project="gym")
            assert best.memory.id == stored.id
            assert best.parts.semantic > 0


@pytest.mark.timeout(600)
def test_killed_servers_and_a_restarted_database_lose_and_double_nothing(
    database: PostgresServer, tmp_path: Path
) -> None:
    url = database.url("faults")
    LocalRecollect(Settings(db=url, embedding_backend="none")).close()
    env = without_embedder(XDG_STATE_HOME=str(tmp_path), RECOLLECT_DB=url)
    addresses = ["", ""]
    acknowledged: list[str] = []
    is_over = threading.Event()
    problems: list[str] = []

    def write(writer: int) -> None:
        number = 0
        with httpx2.Client(trust_env=False, timeout=30) as client:
            while not is_over.is_set():
                text = f"Writer {writer} wrote fact number {number}."
                if not _store(client, addresses, text, problems):
                    is_over.set()
                    return
                acknowledged.append(text)
                number += 1

    def serve(place: int) -> ServerProcess:
        stacks[place] = ExitStack()
        server = stacks[place].enter_context(run_server(url, env=env))
        addresses[place] = server.url
        return server

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    stacks = [ExitStack(), ExitStack()]
    try:
        servers = [serve(place) for place in range(2)]
        for thread in threads:
            thread.start()
        for kill in range(SERVER_KILLS):
            place = kill % 2
            _wait_for(acknowledged, len(acknowledged) + 5, is_over)
            servers[place].process.kill()
            stacks[place].close()
            servers[place] = serve(place)
            if kill < DATABASE_RESTARTS:
                database.stop(kill=True)
                database.start()
        _wait_for(acknowledged, len(acknowledged) + 5, is_over)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
        for stack in stacks:
            stack.close()

    with LocalRecollect(Settings(db=url, embedding_backend="none")) as rec:
        rows = rec._store.export_rows()
        stored = [str(row["content"]) for row in rows if row["table"] == "memories"]
        assert rec.maintenance.verify().ok
    assert problems == []
    assert len(acknowledged) > 5 * SERVER_KILLS
    assert set(acknowledged) <= set(stored)
    assert len(stored) == len(set(stored))


def _store(client: httpx2.Client, addresses: list[str], text: str, problems: list[str]) -> bool:
    """Store *text*, trying again until a server says that it is stored."""
    give_up_at = time.monotonic() + GIVE_UP_S
    attempt = hash(text)
    while time.monotonic() < give_up_at:
        attempt += 1
        try:
            response = client.post(
                f"{addresses[attempt % 2]}/api/memories",
                json={"content": text, "type": "project", "project": "zoo"},
                headers={"idempotency-key": text},
            )
        except httpx2.TransportError:
            time.sleep(0.05)  # the server is being started again
            continue
        if response.status_code in (200, 201, 409):
            return True
        if response.status_code != 503:
            problems.append(f"{response.status_code}: {response.text[:300]}")
            return False
    problems.append(f"no server took {text!r} in time")
    return False


def _wait_for(acknowledged: list[str], count: int, is_over: threading.Event) -> None:
    give_up_at = time.monotonic() + GIVE_UP_S
    while len(acknowledged) < count and not is_over.is_set():
        assert time.monotonic() < give_up_at, "nothing was stored in time"
        time.sleep(0.02)
