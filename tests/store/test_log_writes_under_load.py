"""Retrievals are logged while others write: none is lost, and no search waits for it."""

import threading
import time
from pathlib import Path

import apsw
import pytest

from recollect import LocalRecollect, MemoryExplanation, Retrieval
from recollect.store import retrieval_queue
from recollect.store.protocol import Tables
from support import open_memory


def test_a_query_is_logged_during_a_long_write_of_the_same_process(
    words_only: LocalRecollect,
) -> None:
    words_only.ingest("The build uses pnpm.")
    begun = threading.Event()

    def long_write(tables: Tables) -> None:
        begun.set()
        time.sleep(0.6)

    thread = threading.Thread(target=words_only._services.store.write, args=(long_write,))
    thread.start()
    begun.wait()
    hit = words_only.search("which build?")[0]
    thread.join()

    assert hit.retrieval_id is not None
    assert words_only.explain(hit.retrieval_id)


def test_while_another_process_writes_a_search_is_answered_at_once_and_logged_later(
    path: Path,
) -> None:
    with open_memory(path, words_only=True) as rec:
        memory = rec.ingest("The build uses pnpm.")
        rec.search("which build?")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        started_at = time.monotonic()
        ids = [rec.search(f"which build {n}?")[0].retrieval_id or "" for n in range(20)]
        took_s = time.monotonic() - started_at
        waiting = [rec.explain(retrieval_id) for retrieval_id in ids]
        other.execute("ROLLBACK")
        other.close()
        explained = rec.explain(memory.id)

        assert took_s < 1.0
        assert [logged.query for logged in waiting if isinstance(logged, Retrieval)] == [
            f"which build {n}?" for n in range(20)
        ]
        assert isinstance(explained, MemoryExplanation)
        assert explained.shown_in == 21
    with open_memory(path, words_only=True) as rec:
        assert rec.maintenance.status().counts["retrievals"] == 21
        assert all(isinstance(rec.explain(retrieval_id), Retrieval) for retrieval_id in ids)


def test_a_write_that_fails_takes_no_retrieval_with_it(words_only: LocalRecollect) -> None:
    words_only.ingest("The build uses pnpm.")

    def fail(tables: Tables) -> None:
        raise ZeroDivisionError

    for _ in range(5):
        words_only.search("which build?")
        with pytest.raises(ZeroDivisionError):
            words_only._store.write(fail)

    assert words_only.maintenance.status().counts["retrievals"] == 5


def test_a_full_queue_makes_a_search_wait_a_little_and_then_answers_without_an_id(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval_queue, "MAX_WAITING", 3)
    monkeypatch.setattr(retrieval_queue, "FULL_WAIT_S", 0.05)
    with open_memory(path, words_only=True) as rec:
        rec.ingest("The build uses pnpm.")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        ids = {rec.search("which build?")[0].retrieval_id for _ in range(20)}
        other.execute("ROLLBACK")
        other.close()

        assert None in ids
        assert rec.search("which build?")[0].retrieval_id
