"""Vectors held in memory: what is near is what a reading of the table would find, always."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import Recollect
from recollect.models.scripted import ScriptedEmbedder
from recollect.store.sqlite.codes import CodeCache, rescore
from recollect.store.sqlite.held import LONG, Held, Rows, joined, picked, widened
from recollect.store.sqlite.words import _best
from support import open_memory

DIMENSION = 100  # no multiple of 64
MOST = 40


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    """Three shelves of items, some of them in several pieces, many of them alike."""
    made = apsw.Connection(":memory:")
    made.execute(
        "CREATE TABLE items (seq INTEGER PRIMARY KEY, shelf_id INTEGER);"
        "CREATE TABLE embeddings (id INTEGER PRIMARY KEY, seq INTEGER, model_id INTEGER,"
        " chunks INTEGER, vector BLOB)"
    )
    chance = np.random.default_rng(5)
    for seq in range(1, 400):
        add(made, seq, shelf_id=1 + seq % 3, vectors=chance.standard_normal((1 + seq % 4, 100)))
    yield made
    made.close()


def add(db: apsw.Connection, seq: int, *, shelf_id: int, vectors: NDArray[np.float64]) -> None:
    db.execute("INSERT INTO items VALUES (?, ?)", (seq, shelf_id))
    for vector in vectors:
        blob = (vector / np.linalg.norm(vector)).astype("<f2").tobytes()
        db.execute(
            "INSERT INTO embeddings (seq, model_id, chunks, vector) VALUES (?, 1, ?, ?)",
            (seq, len(vectors), blob),
        )


def plainly(db: apsw.Connection, query: NDArray[np.float32], shelves: list[int]) -> list[int]:
    """Return the ids of the nearest codes as plainly as can be."""
    found = []
    for shelf_id in shelves:
        for row_id, seq, blob in db.execute(
            "SELECT e.id, e.seq, e.vector FROM items i JOIN embeddings e ON e.seq = i.seq"
            " WHERE i.shelf_id = ? ORDER BY e.id",
            (shelf_id,),
        ):
            vector = np.frombuffer(blob, dtype="<f2")
            found.append((int(((vector > 0) != (query > 0)).sum()), -seq, row_id))
    return [row_id for _, _, row_id in sorted(found)[:MOST]]


def found_by(
    cache: CodeCache, db: apsw.Connection, query: NDArray[np.float32], shelves: list[int]
) -> tuple[list[int], dict[int, float], bool]:
    rows, held = cache.nearest(db, query, shelves, MOST)
    scored = rescore(rows, query)
    return rows.seqs.tolist(), {seq: one.similarity for seq, one in scored.items()}, held


def test_held_and_fetched_vectors_give_what_a_plain_scan_gives(db: apsw.Connection) -> None:
    holds, fetches = CodeCache(1), CodeCache(1, held_bytes=0)
    chance = np.random.default_rng(6)
    for number in range(60):
        query = chance.standard_normal(DIMENSION).astype(np.float32)
        shelves = [[1], [2], [1, 3], [3, 1, 2]][number % 4]
        expected = [
            db.execute("SELECT seq FROM embeddings WHERE id = ?", (row_id,)).get
            for row_id in plainly(db, query, shelves)
        ]

        held = found_by(holds, db, query, shelves)
        fetched = found_by(fetches, db, query, shelves)

        assert held == (expected, fetched[1], True)
        assert fetched == (expected, fetched[1], False)


def test_the_order_in_which_items_were_embedded_does_not_matter(db: apsw.Connection) -> None:
    chance = np.random.default_rng(7)
    queries = [chance.standard_normal(DIMENSION).astype(np.float32) for _ in range(60)]
    before = [found_by(CodeCache(1), db, query, [1, 2, 3]) for query in queries]
    shuffled = "SELECT seq, chunks, vector FROM embeddings ORDER BY seq % 7, seq, id"
    stored = db.execute(shuffled).fetchall()
    db.execute("DELETE FROM embeddings")
    for row in stored:
        db.execute(
            "INSERT INTO embeddings (seq, model_id, chunks, vector) VALUES (?, 1, ?, ?)", row
        )

    assert [found_by(CodeCache(1), db, query, [1, 2, 3]) for query in queries] == before


def test_what_others_add_and_delete_is_seen_at_the_next_question(db: apsw.Connection) -> None:
    cache = CodeCache(1)
    query = np.ones(DIMENSION, dtype=np.float32)
    cache.nearest(db, query, [1], MOST)
    add(db, 1000, shelf_id=1, vectors=np.ones((1, DIMENSION)))
    rows, _ = cache.nearest(db, query, [1], MOST)
    assert rows.seqs[0] == 1000
    assert cache.gone(db, [1000], [1]) == []
    db.execute("DELETE FROM items WHERE seq = 1000; DELETE FROM embeddings WHERE seq = 1000")
    add(db, 1001, shelf_id=1, vectors=-np.ones((1, DIMENSION)))

    gone = cache.gone(db, [1000, 999_999], [1])

    assert gone == [1000, 999_999]  # deleted, and newer than this reader
    assert cache.held_of([1], [1000]) == []
    rows, _ = cache.nearest(db, query, [1], MOST)
    assert 1000 not in rows.seqs


def test_an_item_that_moved_to_another_shelf_is_gone_from_its_old_one(db: apsw.Connection) -> None:
    cache = CodeCache(1)
    cache.nearest(db, np.ones(DIMENSION, dtype=np.float32), [1], MOST)
    db.execute("UPDATE items SET shelf_id = 2 WHERE seq = 3")

    assert cache.gone(db, [3, 6], [1]) == [3]


def test_every_finite_half_is_widened_exactly() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]

    wide = widened(finite)

    assert (wide.view(np.uint32) == finite.astype(np.float32).view(np.uint32)).all()


def some_rows(first: int, count: int) -> Rows:
    seqs = np.arange(first, first + count, dtype=np.int64)
    return Rows(seqs, np.ones(count, dtype=np.int32), np.ones((count, 8), dtype=np.float16))


def test_rows_are_picked_from_several_shelves_in_the_order_asked_for() -> None:
    shelves = [some_rows(0, 5), some_rows(100, 0), some_rows(200, 7)]
    places = np.array([11, 0, 5, 4, 6, 1])

    assert picked(shelves, places).seqs.tolist() == joined(shelves).at(places).seqs.tolist()


def test_rows_of_items_are_found_wherever_they_stand() -> None:
    mixed = joined([some_rows(5, 2), some_rows(1, 3), some_rows(5, 1)])

    assert mixed.of([5, 2, 77]).seqs.tolist() == [2, 5, 5]
    assert mixed.of([]).seqs.tolist() == []


def test_a_shelf_that_was_not_asked_for_long_stands_back_for_one_that_is() -> None:
    one = some_rows(0, 10)
    held = Held(budget=2 * one.size)
    for shelf_id in (1, 2, 3):
        held.asked([shelf_id])
        held.keep(shelf_id, one)
    assert [held.get(shelf_id) is not None for shelf_id in (1, 2, 3)] == [True, True, False]

    for _ in range(LONG):
        held.asked([2])
    held.keep(3, one)

    assert [held.get(shelf_id) is not None for shelf_id in (1, 2, 3)] == [False, True, True]


def test_what_another_process_forgets_is_found_no_more(path: Path) -> None:
    def open_here() -> Recollect:
        return open_memory(path, embedder=ScriptedEmbedder())

    with open_here() as memory, open_here() as other:
        kept = [memory.ingest(f"The lamp number {number} is green.").id for number in range(5)]
        memory.drain()
        assert {hit.memory.id for hit in memory.search("green lamp")} == set(kept)
        other.forget(kept[0])
        added = other.ingest("The lamp number six is green.").id
        other.drain()

        assert {hit.memory.id for hit in memory.search("green lamp")} == {*kept[1:], added}
        other.rebuild_indexes()
        assert {hit.memory.id for hit in memory.search("green lamp")} == {*kept[1:], added}


def test_the_best_scores_are_those_a_whole_sort_puts_first() -> None:
    chance = Random(7)
    for _ in range(200):
        scores = {seq: chance.choice([0.5, 1.0, 1.5]) for seq in range(chance.randrange(60))}
        most = chance.randrange(1, 40)

        expected = sorted(scores, key=lambda seq: (-scores[seq], -seq))[:most]

        assert _best(scores, most) == expected
