"""A server that is told to stop leaves a load balancer time to notice, and loses nothing."""

import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from recollect import LocalRecollect
from recollect.config import Settings
from server_process import ServerProcess, run_server, without_embedder
from terminal import installed

DELAY_S = 1


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.door),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a new store, in a file and on PostgreSQL."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.db")
        return
    from postgres_server import SCHEMAS, shared_server  # psycopg: only for tests that need it

    yield shared_server().url(SCHEMAS.schema_of(tmp_path))
    SCHEMAS.release()


def status_of(client: httpx2.Client, server: ServerProcess, path: str) -> int:
    return client.get(f"{server.url}{path}").status_code


def test_a_stopping_server_serves_while_it_is_not_ready_and_a_second_signal_ends_it(
    db: str, tmp_path: Path
) -> None:
    env = without_embedder(RECOLLECT_SHUTDOWN_DELAY_S="60", XDG_STATE_HOME=str(tmp_path))
    with (
        run_server(db, env=env) as server,
        httpx2.Client(trust_env=False) as client,
    ):
        assert [status_of(client, server, path) for path in ("/ready", "/live")] == [200, 200]
        server.process.send_signal(signal.SIGTERM)
        give_up_at = time.monotonic() + 30
        while status_of(client, server, "/ready") == 200:
            assert time.monotonic() < give_up_at
            time.sleep(0.02)
        stored = client.post(f"{server.url}/api/memories", json={"content": "Zebras sleep."})
        live = status_of(client, server, "/live")
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(30)

    assert stored.status_code == 200
    assert stored.headers["connection"] == "close"
    assert live == 200
    assert server.process.returncode == 0


@pytest.mark.postgres
def test_a_server_is_not_ready_while_another_one_changes_the_tables(tmp_path: Path) -> None:
    import psycopg  # only for tests that need it

    from postgres_server import shared_server

    address = shared_server().address("tables_not_made_yet")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [installed("recollect"), "serve", "--db", shared_server().url(address.schema)]
    env = without_embedder(XDG_STATE_HOME=str(tmp_path))

    def is_ready() -> bool:
        try:
            return httpx2.get(f"http://127.0.0.1:{port}/ready", timeout=1).status_code == 200
        except httpx2.TransportError:
            return False

    with psycopg.connect(address.conninfo, autocommit=True) as migrating:
        migrating.execute("SELECT pg_advisory_lock(%s)", (address.lock_key,))
        with subprocess.Popen([*command, "--port", str(port)], env=env) as process:
            try:
                give_up_at = time.monotonic() + 60
                waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                while migrating.execute(waits).fetchone() is None:
                    assert time.monotonic() < give_up_at
                    time.sleep(0.05)
                assert not is_ready()
                assert process.poll() is None
                migrating.execute("SELECT pg_advisory_unlock(%s)", (address.lock_key,))
                while not is_ready():
                    assert time.monotonic() < give_up_at
                    time.sleep(0.05)
            finally:
                process.terminate()
                process.wait()
                migrating.execute(f"DROP SCHEMA IF EXISTS {address.schema} CASCADE")


def test_a_client_that_follows_the_ready_servers_sees_no_error_when_they_are_replaced(
    db: str, tmp_path: Path
) -> None:
    """Two servers of one store are replaced one after the other, as an orchestrator does it."""
    env = without_embedder(
        RECOLLECT_SHUTDOWN_DELAY_S=str(DELAY_S),
        RECOLLECT_REQUESTS_PER_SECOND="0",
        XDG_STATE_HOME=str(tmp_path),
    )
    addresses: list[str] = []
    failures: list[str] = []
    stored: list[str] = []
    is_over = threading.Event()

    def write(writer: int) -> None:
        with httpx2.Client(trust_env=False, timeout=30) as client:
            while not is_over.is_set():
                text = f"Writer {writer} wrote fact {len(stored)} at {time.monotonic_ns()}."
                url = next(url for url in list(addresses) if _is_ready(client, url))
                try:
                    response = client.post(f"{url}/api/memories", json={"content": text})
                except httpx2.TransportError as error:
                    failures.append(repr(error))
                    return
                if response.status_code != 200:
                    failures.append(response.text)
                stored.append(text)

    with run_server(db, env=env) as first, run_server(db, env=env) as second:
        addresses += [first.url, second.url]
        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        with run_server(db, env=env) as third:
            addresses.append(third.url)
            for server in (first, second):
                count = len(stored)
                server.process.send_signal(signal.SIGTERM)
                server.process.wait(60)
                assert len(stored) > count
            is_over.set()
            for thread in threads:
                thread.join()

    with LocalRecollect(Settings(db=db, embedding_backend="none")) as rec:
        rows = rec._store.export_rows()
        contents = [row["content"] for row in rows if row["table"] == "memories"]
    assert failures == []
    assert sorted(contents) == sorted(stored)


def _is_ready(client: httpx2.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/ready").status_code == 200
    except httpx2.TransportError:
        return False


@pytest.mark.door
def test_the_log_is_json_if_it_is_chosen(tmp_path: Path) -> None:
    log = tmp_path / "log"
    env = without_embedder(RECOLLECT_LOG_FORMAT="json", XDG_STATE_HOME=str(tmp_path))
    with (
        run_server(tmp_path / "memory.db", "--verbose", env=env, log=log) as server,
        httpx2.Client(trust_env=False) as client,
    ):
        client.get(f"{server.url}/agents/anna", headers={"x-request-id": "r1"})

    records = [json.loads(line) for line in log.read_text().splitlines()]
    [request] = [record for record in records if record.get("request_id") == "r1"]
    assert (request["route"], request["status"]) == ("/agents/{name}", 404)
    assert request["seconds"] > 0
    assert "anna" not in log.read_text()
