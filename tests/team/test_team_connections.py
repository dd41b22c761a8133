"""All stores of a server share a bounded number of connections to PostgreSQL."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from postgres_server import PostgresServer
from recollect import StoreBusy
from recollect.store.postgres import database_connections
from recollect.store.postgres.store import PostgresStore
from store_records import agent
from support import FakeClock
from team_server import team_server

pytestmark = pytest.mark.postgres
USERS = [f"user-{number}" for number in range(30)]
LIMIT = 16
COUNT = """SELECT count(*) FROM pg_stat_activity
            WHERE application_name LIKE 'recollect%' AND backend_type = 'client backend'"""


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer]:
    server = PostgresServer("max_connections=40")
    yield server
    server.remove()


class ConnectionCounter:
    """Counts the connections of Recollect in a thread; `most` is the largest number."""

    def __init__(self, database: PostgresServer) -> None:
        self.most = 0
        self._is_over = threading.Event()
        self._conninfo = database.address("x").conninfo
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "ConnectionCounter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        with psycopg.connect(self._conninfo, autocommit=True) as db:
            while not self._is_over.wait(0.01):
                row = db.execute(COUNT).fetchone()
                assert row is not None
                self.most = max(self.most, row[0])


@pytest.mark.timeout(300)
def test_thirty_users_who_ask_at_once_are_answered_with_few_connections(
    database: PostgresServer,
) -> None:
    with (
        team_server(database.url("crowd"), USERS, db_connections=LIMIT) as team,
        ConnectionCounter(database) as counter,
    ):
        for name in USERS:
            team.rec.engine.team.set_member("site", name, "writer")

        def use(name: str) -> list[Any]:
            team.post(name, "/api/memories", content=f"The cat of {name} is called Mitzi.")
            team.post(name, "/api/captures/session", transcript="User: I like tea.\n")
            team.post(name, "/api/memories", content=f"{name} paints.", project="site")
            return [team.found(name, "cat"), team.found(name, f"{name} paints", project="site")[:1]]

        for _ in range(2):  # at first the stores are opened
            with ThreadPoolExecutor(len(USERS)) as threads:
                answers = dict(zip(USERS, threads.map(use, USERS), strict=True))

        assert len(team.dispatcher.open_apps()) == len(USERS)
        for name, (own, of_project) in answers.items():
            assert set(own) == {f"The cat of {name} is called Mitzi."}
            assert of_project == [f"{name} paints."]
    assert 3 < counter.most <= LIMIT


def test_a_writer_that_gets_no_connection_is_told_so(
    database: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_connections, "WRITER_WAIT_S", 0.05)
    first = PostgresStore(database.address("busy"), FakeClock(), connections=6)
    others = [
        PostgresStore(database.address(f"busy_{number}"), FakeClock(), connections_of=first)
        for number in range(2)
    ]
    is_over = threading.Event()
    writing = threading.Barrier(3)

    def hold(store: PostgresStore) -> None:
        store.write(lambda tables: (writing.wait(60), is_over.wait(60)))

    threads = [threading.Thread(target=hold, args=(store,)) for store in others]
    for thread in threads:
        thread.start()
    writing.wait(60)
    try:
        with pytest.raises(StoreBusy, match=r"every connection .* is in use"):
            first.write(lambda tables: tables.agents.add(agent("a", "anna")))
    finally:
        is_over.set()
        for thread in threads:
            thread.join()

    first.write(lambda tables: tables.agents.add(agent("a", "anna")))
    for store in (*others, first):
        store.close()


def test_a_store_that_closes_leaves_the_connections_to_the_others(
    database: PostgresServer,
) -> None:
    first = PostgresStore(database.address("shared"), FakeClock())
    other = PostgresStore(database.address("shared_2"), FakeClock(), connections_of=first)
    other.write(lambda tables: tables.agents.add(agent("a", "anna")))
    other.close()

    first.write(lambda tables: tables.agents.add(agent("b", "ben")))
    with first.read() as tables:
        assert [item.name for item in tables.agents.all()] == ["ben"]
    first.close()
    with psycopg.connect(database.address("x").conninfo, autocommit=True) as db:
        give_up_at = time.monotonic() + 60
        while db.execute(COUNT).fetchone() != (0,):  # the server notices a moment later
            assert time.monotonic() < give_up_at
