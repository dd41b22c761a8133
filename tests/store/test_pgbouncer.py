"""A store behind PgBouncer in transaction mode: each transaction may get another connection."""

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pgbouncer_process import pgbouncer
from postgres_server import SCHEMAS, PostgresServer, shared_server
from recollect import LocalRecollect, StoreUnavailable
from recollect.app.background_worker import BackgroundWorker
from recollect.config import Settings
from recollect.store.postgres import job_listener
from recollect.store.postgres.job_listener import PostgresJobListener
from recollect.store.postgres.server_address import parse_address

pytestmark = pytest.mark.postgres

THREADS = 8
CONNECTIONS = 3  # of PgBouncer to the server
FACTS = 12  # of each thread: psycopg prepares a statement when it is run for the sixth time
SESSION = [{"role": "user", "content": "We use pnpm here, not npm."}]


@pytest.fixture(scope="module")
def pooled() -> Iterator[Path]:
    with pgbouncer(shared_server(), connections=CONNECTIONS) as folder:
        yield folder


@pytest.fixture
def url(pooled: Path, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store through the pooler, without saying that there is one."""
    schema = SCHEMAS.schema_of(tmp_path)
    yield f"postgresql:///postgres?host={pooled}&port=6432&user=recollect&schema={schema}"
    SCHEMAS.release()


def settings(url: str) -> Settings:
    return Settings(db=f"{url}&pooler=transaction", embedding_backend="none")


def store_and_search(rec: LocalRecollect, writer: int, errors: list[Exception]) -> None:
    try:
        for number in range(FACTS):
            memory = rec.ingest(f"The locker {writer} {number} holds a towel.", project="gym")
            hits = rec.search(f"what is in locker {writer} {number}?", project="gym")
            assert memory.id in [hit.memory.id for hit in hits]
    except Exception as error:  # of any kind: it is shown by the test
        errors.append(error)


def test_many_threads_of_two_processes_share_few_connections(url: str) -> None:
    errors: list[Exception] = []
    with LocalRecollect(settings(url)) as one, LocalRecollect(settings(url)) as two:
        threads = [
            threading.Thread(target=store_and_search, args=((one, two)[n % 2], n, errors))
            for n in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert one.maintenance.status().counts["memories"] == THREADS * FACTS
        assert one.maintenance.verify().ok
        assert one.maintenance.rebuild()
        exported = list(two._store.export_rows())  # with a cursor of the server

    assert sum(row["table"] == "memories" for row in exported) == THREADS * FACTS


def test_a_pooler_that_was_not_named_is_an_error_that_says_what_to_do(url: str) -> None:
    errors: list[Exception] = []
    unnamed = Settings(db=url, embedding_backend="none")
    with LocalRecollect(unnamed) as one, LocalRecollect(unnamed) as two:
        threads = [
            threading.Thread(target=store_and_search, args=((one, two)[n % 2], n, errors))
            for n in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert errors
    assert all(isinstance(error, StoreUnavailable) for error in errors), errors
    assert "add pooler=transaction to the address" in str(errors[0])


def test_jobs_are_found_by_polling(url: str) -> None:
    done = threading.Event()
    with LocalRecollect(settings(url)) as one, LocalRecollect(settings(url)) as two:
        background = BackgroundWorker(two, poll_s=0.05)
        background.start()
        event = one.capture_session(SESSION)
        for _ in range(1_200):
            if one.captures.get(event.id).state == "done":
                done.set()
                break
            done.wait(0.05)
        listens = background.is_listening
        background.stop()

    assert done.is_set()
    assert not listens


def test_a_listener_notices_that_the_pooler_delivers_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address does not say that there is a pooler; another client gets the connection."""
    monkeypatch.setattr(job_listener, "ECHO_S", 0.5)
    address = parse_address(url)
    with LocalRecollect(settings(url)):
        listener = PostgresJobListener(address)
        is_over = threading.Event()
        is_over.wait(1.5)
        listening = listener.is_listening
        listener.close()

    assert not listening


def test_a_restarted_database_is_found_again(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        with pgbouncer(server, connections=CONNECTIONS) as folder:
            url = f"postgresql:///postgres?host={folder}&port=6432&user=recollect&schema=again"
            with LocalRecollect(settings(url)) as rec:
                rec.ingest("The zebra sleeps standing.")
                server.stop(kill=True)
                with pytest.raises((StoreUnavailable, psycopg.Error)):
                    rec.ingest("Nobody hears this.")
                server.start()
                for _ in range(100):  # PgBouncer waits before it connects again
                    try:
                        rec.ingest("The quagga is extinct.")
                        break
                    except StoreUnavailable:
                        threading.Event().wait(0.2)

                contents = {hit.memory.content for hit in rec.search("quagga extinct")}
                assert "The quagga is extinct." in contents
    finally:
        server.remove()
