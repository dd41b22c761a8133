"""
The same store and the same query give the same bytes, in any process, order and index state.

Over two hundred queries (sample_queries.py) are answered once; each test repeats a third of them
under other conditions, or all of them. Nothing is rounded or left out except the id of the log row.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import apsw
import pytest

import sample_queries
from recollect import LocalRecollect
from recollect.app.restore_backup import restore_backup
from recollect.app.store_encryption import encrypt_store
from recollect.config import Settings
from recollect.engine.embed_pending import embed_items
from recollect.store.indexes.bit_code_index import BitCodeIndex
from sample_queries import (
    ASKED_AT,
    QUESTIONS,
    answers,
    answers_as_bytes,
    in_part,
    opened,
    populate,
)
from support import FakeClock, file_store

pytestmark = pytest.mark.kill

DERIVED = ("embeddings", "postings", "terms", "items", "shelves")


@dataclass(frozen=True)
class AnsweredStore:
    """A closed store on disk, and its first answers."""

    path: Path
    first: Mapping[int, bytes]
    exhaustive: bool

    def asked(self, start: int) -> range:
        """Return the numbers of the queries that are asked again."""
        return in_part(start, exhaustive=self.exhaustive)

    def copy_to(self, folder: Path) -> Path:
        return Path(shutil.copy(self.path, folder / "copy.db"))


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, exhaustive: bool) -> AnsweredStore:
    """A filled store that has answered every query once."""
    path = tmp_path_factory.mktemp("determinism") / "memory.db"
    clock = FakeClock()
    with opened(path, clock) as memory:
        populate(memory, clock)
        first = answers(memory)
    assert len(first) == len(QUESTIONS) >= 200
    return AnsweredStore(path, first, exhaustive)


def differences(answered: AnsweredStore, again: Mapping[int, bytes]) -> list[str]:
    """Return the queries whose answers are not the same bytes."""
    return [
        f"{QUESTIONS[number].verb} {QUESTIONS[number].query[:60]!r} {QUESTIONS[number].arguments}"
        for number in again
        if again[number] != answered.first[number]
    ]


def test_another_process_answers_with_the_same_bytes(
    answered: AnsweredStore, tmp_path: Path
) -> None:
    output = tmp_path / "answers"
    # Another seed than in this process orders sets of texts differently.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    program = [
        sys.executable,
        sample_queries.__file__,
        str(answered.copy_to(tmp_path)),
        str(output),
        *map(str, answered.asked(0)),
    ]

    subprocess.run(program, check=True, env=os.environ | {"PYTHONHASHSEED": seed})

    first = {number: answered.first[number] for number in answered.asked(0)}
    assert output.read_bytes() == answers_as_bytes(first)


def test_after_rebuilding_every_index_and_embedding_again_the_bytes_are_the_same(
    answered: AnsweredStore, tmp_path: Path
) -> None:
    path = answered.copy_to(tmp_path)
    before = vectors(path)
    delete_rows(path, ["embeddings"])
    with opened(path) as memory:
        memory.maintenance.rebuild()
        embed_in_another_order(memory)
        again = answers(memory, answered.asked(1))

        assert memory.maintenance.verify().ok
    assert vectors(path) == before
    assert differences(answered, again) == []


def test_with_indexes_built_from_nothing_the_bytes_are_the_same(
    answered: AnsweredStore, tmp_path: Path
) -> None:
    path = answered.copy_to(tmp_path)
    delete_rows(path, DERIVED)
    with opened(path) as memory:
        memory.maintenance.rebuild()
        memory.drain()

        assert differences(answered, answers(memory, answered.asked(2))) == []


def test_in_another_order_after_other_queries_and_in_threads_the_bytes_are_the_same(
    answered: AnsweredStore, tmp_path: Path
) -> None:
    order = list(answered.asked(0))
    Random(3).shuffle(order)
    with opened(answered.copy_to(tmp_path)) as memory:
        for number in range(20):
            memory.search(f"something else, number {number}", everywhere=True)
            memory.context_for("nobody answered this", agent="ben", asked_at=ASKED_AT)
        with ThreadPoolExecutor(3) as pool:
            parts = list(
                pool.map(lambda numbers: answers(memory, numbers), [order[n::3] for n in range(3)])
            )
        again = {number: answer for part in parts for number, answer in part.items()}

        assert differences(answered, again) == []
        assert len(again) == len(order)


def test_without_a_vector_cache_the_bytes_are_the_same(
    answered: AnsweredStore, tmp_path: Path
) -> None:
    with opened(answered.copy_to(tmp_path)) as memory:
        with memory._services.store.read() as tables:
            serving = tables.embeddings.models_in_use().serving
        assert serving is not None
        file_store(memory)._code_indexes[serving.id] = BitCodeIndex(serving.id, cache_bytes=0)

        assert differences(answered, answers(memory, answered.asked(1))) == []


def test_encrypted_and_restored_from_a_backup_the_bytes_are_the_same(
    answered: AnsweredStore, tmp_path: Path
) -> None:
    settings = Settings(
        db=str(answered.copy_to(tmp_path)), key_file=str(tmp_path / "key"), keyring=False
    )
    encrypt_store(settings)
    with LocalRecollect(settings) as memory:
        memory.maintenance.backup(tmp_path / "backups")
        assert differences(answered, answers(memory, answered.asked(2))) == []
    elsewhere = replace(settings, db=str(tmp_path / "elsewhere" / "memory.db"))

    restore_backup(elsewhere, tmp_path / "backups", elsewhere.db_path)

    with LocalRecollect(elsewhere) as memory:
        assert differences(answered, answers(memory, answered.asked(0))) == []


def delete_rows(path: Path, tables: Sequence[str]) -> None:
    db = apsw.Connection(str(path))
    for table in tables:
        db.execute(f"DELETE FROM {table}")
    db.close()


def embed_in_another_order(rec: LocalRecollect) -> None:
    """Embed everything: in another order and in other batches than `drain` would."""
    indexer = rec._services.indexer()
    assert indexer is not None
    with file_store(rec).read() as tables:
        ids = [row[0] for row in tables.connection.db.execute("SELECT id FROM items ORDER BY seq")]
    random = Random(11)
    random.shuffle(ids)
    while ids:
        size = random.choice([1, 2, 7, 30, 90])
        embed_items(rec._store, indexer.serving_embedder(), ids[:size])
        ids = ids[size:]
    rec.drain()


def vectors(path: Path) -> dict[tuple[int, int], bytes]:
    """Return every vector of a store, by its item and chunk."""
    db = apsw.Connection(str(path))
    blobs = {
        (item_id, chunk): blob
        for item_id, chunk, blob in db.execute("SELECT seq, chunk, vector FROM embeddings")
    }
    db.close()
    return blobs
