"""Writes on PostgreSQL wait for the server only when they need a result."""

import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from postgres_server import SCHEMAS, shared_server
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.errors import InvalidInput, StoreUnavailable
from recollect.store.postgres import postgres_transactions
from recollect.store.postgres.store import PostgresStore
from recollect.store.protocol import Tables
from store_records import agent
from support import FakeClock

pytestmark = pytest.mark.postgres
MOST_ROUND_TRIPS = 7  # BEGIN, the source, the project, the partition, the item, the client, COMMIT


class CountingProxy:
    """A socket in front of that of the server; counts how often a client waits for an answer."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self.round_trips = 0
        self._server = str(server / ".s.PGSQL.5432")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._forward, args=(client,), daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        is_answer = False
        with (
            client,
            socket.socket(socket.AF_UNIX) as server,
            selectors.DefaultSelector() as selector,
        ):
            server.connect(self._server)
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in selector.select():
                    assert isinstance(key.fileobj, socket.socket)
                    data = key.fileobj.recv(65_536)
                    if not data:
                        return
                    self.round_trips += key.fileobj is server and not is_answer
                    is_answer = key.fileobj is server
                    key.data.sendall(data)


@pytest.fixture
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CountingProxy]:
    opened = CountingProxy(tmp_path_factory.mktemp("p"), shared_server().folder)
    yield opened
    opened.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PostgresStore]:
    opened = PostgresStore(shared_server().address(SCHEMAS.schema_of(tmp_path)), FakeClock())
    yield opened
    opened.close()
    SCHEMAS.release()


def test_a_memory_is_stored_in_few_round_trips(tmp_path: Path, proxy: CountingProxy) -> None:
    url = shared_server().url(SCHEMAS.schema_of(tmp_path))
    settings = Settings(db=url.replace(str(shared_server().folder), str(proxy.folder)))
    with LocalRecollect(replace(settings, embedding_backend="none")) as rec:
        rec.ingest("The zebra sleeps.", project="zoo")
        before = proxy.round_trips

        rec.ingest("The lion sleeps.", project="zoo")

        assert proxy.round_trips - before <= MOST_ROUND_TRIPS
    SCHEMAS.release()


def test_a_write_that_hangs_with_statements_that_wait_loses_the_lock(
    tmp_path: Path, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_transactions, "IDLE_TIMEOUT_MS", 200)
    hanging = PostgresStore(shared_server().address(SCHEMAS.schema_of(tmp_path)), FakeClock())
    is_writing, is_over = threading.Event(), threading.Event()

    def hang(tables: Tables) -> None:
        tables.agents.get("a")
        tables.agents.add(agent("a", "anna"))
        is_writing.set()
        is_over.wait(10)

    with ThreadPoolExecutor(1) as thread:
        hung = thread.submit(hanging.write, hang)
        is_writing.wait(10)
        store.write(lambda tables: tables.agents.add(agent("b", "ben")))
        is_over.set()
        with pytest.raises(StoreUnavailable):
            hung.result()
    hanging.close()

    with store.read() as tables:
        assert [row.name for row in tables.agents.all()] == ["ben"]


def test_a_ticket_that_fails_before_its_first_statement_undoes_no_other_one(
    store: PostgresStore,
) -> None:
    may_begin = threading.Event()

    def refuse(_: Tables) -> None:
        raise InvalidInput("refused")

    def add(name: str) -> Callable[[Tables], None]:
        return lambda tables: tables.agents.add(agent(name, name))

    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(store.write, lambda _: may_begin.wait(10))
        results = []
        for number, work in enumerate((add("a"), refuse, add("b")), start=1):
            results.append(threads.submit(store.write, work))
            while store.load().queued_writes < number:
                pass
        may_begin.set()  # now they are one group, in this order
        first.result()
        with pytest.raises(InvalidInput, match="refused"):
            results[1].result()

    with store.read() as tables:
        assert [row.name for row in tables.agents.all()] == ["a", "b"]


def test_a_late_error_is_that_of_the_write_that_caused_it(store: PostgresStore) -> None:
    store.write(lambda tables: tables.agents.add(agent("taken", "anna")))
    are_queued = threading.Event()

    def write(number: int) -> str:
        def work(tables: Tables) -> str:
            # Its failure arrives after the next statement was sent, or at the end of this write.
            tables.agents.add(agent("taken" if number == 3 else f"a{number}", f"n{number}"))
            tables.agents.add(agent(f"b{number}", f"m{number}"))
            return f"stored {number}"

        try:
            return store.write(work)
        except InvalidInput:
            return f"refused {number}"

    def hold(_: Tables) -> None:
        are_queued.wait(10)

    with ThreadPoolExecutor(9) as threads:
        first = threads.submit(store.write, hold)
        results = [threads.submit(write, number) for number in range(8)]
        while store.load().queued_writes < 8:
            pass
        are_queued.set()  # now they are one group
        first.result()

    assert [result.result() for result in results] == [
        "refused 3" if number == 3 else f"stored {number}" for number in range(8)
    ]
    with store.read() as tables:
        ids = {row.id for row in tables.agents.all()}
    assert ids == {"taken"} | {
        f"{letter}{number}" for letter in "ab" for number in range(8) if number != 3
    }
