"""Workers of other processes are woken when a job is stored, and poll while nobody wakes them."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from postgres_server import SCHEMAS, shared_server
from recollect import LocalRecollect
from recollect.app import background_worker
from recollect.app.background_worker import BackgroundState, BackgroundWorker
from recollect.config import Settings
from recollect.store.postgres import job_listener
from recollect.store.postgres.job_listener import APPLICATION_NAME, PostgresJobListener

pytestmark = pytest.mark.postgres

NEVER = 3600.0
SESSION = [{"role": "user", "content": "We use pnpm here, not npm."}]
CUT_LISTENERS = f"""SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                     WHERE application_name = '{APPLICATION_NAME}'"""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    yield shared_server().url(SCHEMAS.schema_of(tmp_path))
    SCHEMAS.release()


@contextmanager
def opened(url: str) -> Iterator[LocalRecollect]:
    with LocalRecollect(Settings(db=url, embedding_backend="none")) as rec:
        yield rec


@contextmanager
def working(rec: LocalRecollect, *, poll_s: float) -> Iterator[BackgroundWorker]:
    background = BackgroundWorker(rec, poll_s=poll_s)
    background.start()
    try:
        yield background
    finally:
        background.stop()


def until(condition: object, *, within_s: float = 60.0) -> float:
    """Wait until *condition* returns true; return how long that took."""
    begun = time.monotonic()
    while not condition():  # type: ignore[operator]
        assert time.monotonic() - begun < within_s
        time.sleep(0.005)
    return time.monotonic() - begun


def cut_listeners(url: str) -> int:
    with psycopg.connect(shared_server().address("x").conninfo, autocommit=True) as db:
        return len(db.execute(CUT_LISTENERS).fetchall())


def is_idle(background: BackgroundWorker) -> bool:
    return background.is_listening and background.state is BackgroundState.IDLE


def test_a_job_stored_by_one_process_is_begun_by_the_worker_of_another_one_at_once(
    url: str,
) -> None:
    with opened(url) as one, opened(url) as two, working(two, poll_s=NEVER) as background:
        until(lambda: is_idle(background))
        event = one.capture_session(SESSION)
        waited_s = until(lambda: one.captures.get(event.id).state == "done")

    assert waited_s < 10  # far from the poll; a busy machine may take a second


def test_a_listener_of_another_store_of_the_database_is_not_woken(url: str, tmp_path: Path) -> None:
    woken = threading.Event()
    other = shared_server().address("nobody_writes_here")
    listener = PostgresJobListener(other)
    listener.subscribe(other.schema, woken.set)
    try:
        until(lambda: listener.is_listening)
        woken.clear()
        with opened(url) as rec:
            told = threading.Event()
            own = rec.engine.listen_for_jobs(told.set)
            assert own is not None
            until(lambda: own.is_listening)
            told.clear()
            rec.capture_session(SESSION)
            assert told.wait(60)
        assert not woken.is_set()
    finally:
        listener.close()


def test_a_connection_that_is_cut_is_opened_again_and_the_worker_is_woken(url: str) -> None:
    with opened(url) as one, opened(url) as two, working(two, poll_s=NEVER) as background:
        until(lambda: is_idle(background))
        assert cut_listeners(url) == 1
        until(lambda: not background.is_listening)
        event = one.capture_session(SESSION)  # while nobody listens

        until(lambda: one.captures.get(event.id).state == "done")
        assert background.is_listening


def test_polling_finds_jobs_while_the_connection_is_cut(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_listener, "RECONNECT_S", NEVER)
    with opened(url) as one, opened(url) as two, working(two, poll_s=0.05) as background:
        until(lambda: is_idle(background))
        cut_listeners(url)
        until(lambda: not background.is_listening)
        event = one.capture_session(SESSION)

        until(lambda: one.captures.get(event.id).state == "done")
        assert not background.is_listening


def test_a_database_that_is_away_is_logged_once(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(job_listener, "RECONNECT_S", 0.01)
    tries: list[object] = []

    def refuse(*arguments: object, **options: object) -> None:
        tries.append(arguments)
        raise psycopg.OperationalError("no server\nis there")

    conninfo = shared_server().address("x").conninfo
    with (
        psycopg.connect(conninfo, autocommit=True) as db,
        opened(url) as rec,
        caplog.at_level("INFO", logger=job_listener.__name__),
    ):
        listener = rec.engine.listen_for_jobs(lambda: None)
        assert listener is not None
        until(lambda: listener.is_listening)
        monkeypatch.setattr(psycopg, "connect", refuse)
        db.execute(CUT_LISTENERS)
        until(lambda: len(tries) > 3)

    [record] = caplog.records
    assert "\n" not in record.getMessage()


def test_a_connection_that_delivers_nothing_is_not_relied_on(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a pooler that gives every transaction another connection."""
    monkeypatch.setattr(job_listener, "CHANNEL", "recollect_jobs; UNLISTEN *")
    monkeypatch.setattr(job_listener, "ECHO_S", 0.1)
    monkeypatch.setattr(background_worker, "LISTENING_POLL_S", NEVER)
    with opened(url) as one, opened(url) as two, working(two, poll_s=0.05) as background:
        event = one.capture_session(SESSION)

        until(lambda: one.captures.get(event.id).state == "done")
        assert not background.is_listening
