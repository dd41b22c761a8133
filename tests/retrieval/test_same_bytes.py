"""
The same store and the same question give the same bytes, whoever asks, when, and after what.

Over two hundred questions (many_questions.py) are answered once; each test puts them again under
other circumstances. Nothing is rounded or left out but the number of the log row.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import apsw
import pytest

import many_questions
from many_questions import ASKED_AT, QUESTIONS, answers, fill, opened, written
from recollect import Recollect
from recollect.engine.index import index_items
from recollect.store.sqlite.codes import CodeCache
from support import FakeClock

DERIVED = ("embeddings", "postings", "terms", "items", "shelves")


@dataclass(frozen=True)
class Asked:
    """A store on disk that nobody has open, and what it answered first."""

    path: Path
    first: Mapping[int, bytes]

    def copied(self, folder: Path) -> Path:
        return Path(shutil.copy(self.path, folder / "copy.db"))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """The store, filled, and asked everything once."""
    path = tmp_path_factory.mktemp("same_bytes") / "memory.db"
    clock = FakeClock()
    with opened(path, clock) as memory:
        fill(memory, clock)
        first = answers(memory)
    assert len(first) == len(QUESTIONS) >= 200
    return Asked(path, first)


def different(asked: Asked, again: Mapping[int, bytes]) -> list[str]:
    """Return the questions whose answers are not the same bytes."""
    return [
        f"{QUESTIONS[number].verb} {QUESTIONS[number].query[:60]!r} {QUESTIONS[number].given}"
        for number in again
        if again[number] != asked.first[number]
    ]


def test_another_process_answers_with_the_same_bytes(asked: Asked, tmp_path: Path) -> None:
    told = tmp_path / "answers"
    # Its sets and dicts of texts are in another order, whatever this process has.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    program = [sys.executable, many_questions.__file__, str(asked.copied(tmp_path)), str(told)]

    subprocess.run(program, check=True, env=os.environ | {"PYTHONHASHSEED": seed})

    assert told.read_bytes() == written(asked.first)


def test_after_every_index_is_rebuilt_and_everything_embedded_anew_the_bytes_are_the_same(
    asked: Asked, tmp_path: Path
) -> None:
    path = asked.copied(tmp_path)
    before = vectors(path)
    emptied(path, ["embeddings"])
    with opened(path) as memory:
        memory.rebuild_indexes()
        embed_in_another_order(memory)
        again = answers(memory)

        assert memory.verify().ok
    assert vectors(path) == before
    assert different(asked, again) == []


def test_with_indexes_made_from_nothing_the_bytes_are_the_same(
    asked: Asked, tmp_path: Path
) -> None:
    path = asked.copied(tmp_path)
    emptied(path, DERIVED)
    with opened(path) as memory:
        memory.rebuild_indexes()
        memory.drain()

        assert different(asked, answers(memory)) == []


def test_in_another_order_after_other_questions_and_at_once_the_bytes_are_the_same(
    asked: Asked, tmp_path: Path
) -> None:
    order = list(range(len(QUESTIONS)))
    Random(3).shuffle(order)
    with opened(asked.copied(tmp_path)) as memory:
        for number in range(20):
            memory.search(f"something else, number {number}", everywhere=True)
            memory.context_for("nobody asked this", agent="ben", asked_at=ASKED_AT)
        with ThreadPoolExecutor(3) as pool:
            parts = list(
                pool.map(lambda some: answers(memory, some), [order[n::3] for n in range(3)])
            )
        again = {number: told for part in parts for number, told in part.items()}

        assert different(asked, again) == []
        assert len(again) == len(asked.first)


def test_with_no_vector_held_in_memory_the_bytes_are_the_same(asked: Asked, tmp_path: Path) -> None:
    with opened(asked.copied(tmp_path)) as memory:
        with memory._deps.store.read() as tables:
            serving = tables.vectors.in_use().serving
        assert serving is not None
        memory._store._caches[serving.id] = CodeCache(serving.id, held_bytes=0)

        assert different(asked, answers(memory)) == []


def emptied(path: Path, tables: Sequence[str]) -> None:
    db = apsw.Connection(str(path))
    for table in tables:
        db.execute(f"DELETE FROM {table}")
    db.close()


def embed_in_another_order(memory: Recollect) -> None:
    """Embed everything: in another order, and other texts together, than `drain` would."""
    indexer = memory._deps.indexer()
    assert indexer is not None
    with memory._store.read() as tables:
        ids = [row[0] for row in tables.db.execute("SELECT id FROM items ORDER BY seq")]
    chance = Random(11)
    chance.shuffle(ids)
    while ids:
        most = chance.choice([1, 2, 7, 30, 90])
        index_items(memory._store, indexer.answering(), ids[:most])
        ids = ids[most:]
    memory.drain()


def vectors(path: Path) -> dict[tuple[int, int], bytes]:
    """Return every vector of a store, by its item and piece."""
    db = apsw.Connection(str(path))
    found = {
        (seq, chunk): blob
        for seq, chunk, blob in db.execute("SELECT seq, chunk, vector FROM embeddings")
    }
    db.close()
    return found
