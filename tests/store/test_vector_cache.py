"""The bit code index and its vector cache find what a scan of the table would find."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from recollect import LocalRecollect
from recollect.domain.scope import ItemKind
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.store.indexes.bit_code_index import BitCodeIndex, rescore
from recollect.store.indexes.item_records import ItemRecords
from recollect.store.indexes.vector_cache import (
    IDLE_QUERIES,
    EmbeddingRows,
    VectorCache,
    concatenate,
    take_from,
    to_float32,
)
from recollect.store.indexes.word_scores import best_items
from recollect.store.search_index import QueryVector
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from support import open_memory

DIMENSION = 100  # no multiple of 64
LIMIT = 40


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    """Three partitions of items; some items have several chunks, and many are alike."""
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE TABLE items (seq INTEGER PRIMARY KEY, shelf_id INTEGER, id TEXT,"
        " words INTEGER DEFAULT 1, embedded_by INTEGER);"
        "CREATE TABLE embeddings (id INTEGER PRIMARY KEY, seq INTEGER, model_id INTEGER,"
        " chunks INTEGER, vector BLOB)"
    )
    random = np.random.default_rng(5)
    for item_id in range(1, 400):
        add(
            connection,
            item_id,
            partition_id=1 + item_id % 3,
            vectors=random.standard_normal((1 + item_id % 4, 100)),
        )
    yield connection
    connection.close()


def add(
    db: apsw.Connection, item_id: int, *, partition_id: int, vectors: NDArray[np.float64]
) -> None:
    db.execute("INSERT INTO items (seq, shelf_id) VALUES (?, ?)", (item_id, partition_id))
    for vector in vectors:
        blob = (vector / np.linalg.norm(vector)).astype("<f2").tobytes()
        db.execute(
            "INSERT INTO embeddings (seq, model_id, chunks, vector) VALUES (?, 1, ?, ?)",
            (item_id, len(vectors), blob),
        )


def scan_table(db: apsw.Connection, query: NDArray[np.float32], partitions: list[int]) -> list[int]:
    """Return the ids of the embeddings with the nearest codes, by a scan of the table."""
    distances = []
    for partition_id in partitions:
        for row_id, item_id, blob in db.execute(
            "SELECT e.id, e.seq, e.vector FROM items i JOIN embeddings e ON e.seq = i.seq"
            " WHERE i.shelf_id = ? ORDER BY e.id",
            (partition_id,),
        ):
            vector = np.frombuffer(blob, dtype="<f2")
            distances.append((int(((vector > 0) != (query > 0)).sum()), -item_id, row_id))
    return [row_id for _, _, row_id in sorted(distances)[:LIMIT]]


def newest(db: apsw.Connection) -> int:
    """Return the id of the newest embedding."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM embeddings").get)


def search(
    index: BitCodeIndex, db: apsw.Connection, query: NDArray[np.float32], partitions: list[int]
) -> tuple[list[int], dict[int, float], bool]:
    rows, cached = index.nearest(SqliteConnection(db), query, partitions, LIMIT, newest=newest(db))
    matches = rescore(rows, QueryVector(1, query))
    return (
        rows.item_ids.tolist(),
        {item_id: match.similarity for item_id, match in matches.items()},
        cached,
    )


def test_cached_and_fetched_vectors_give_what_a_scan_gives(db: apsw.Connection) -> None:
    caching, fetching = BitCodeIndex(1), BitCodeIndex(1, cache_bytes=0)
    random = np.random.default_rng(6)
    for number in range(60):
        query = random.standard_normal(DIMENSION).astype(np.float32)
        partitions = [[1], [2], [1, 3], [3, 1, 2]][number % 4]
        expected = [
            db.execute("SELECT seq FROM embeddings WHERE id = ?", (row_id,)).get
            for row_id in scan_table(db, query, partitions)
        ]

        cached = search(caching, db, query, partitions)
        fetched = search(fetching, db, query, partitions)

        assert cached == (expected, fetched[1], True)
        assert fetched == (expected, fetched[1], False)


@pytest.mark.kill
def test_the_order_in_which_items_were_embedded_does_not_matter(db: apsw.Connection) -> None:
    random = np.random.default_rng(7)
    queries = [random.standard_normal(DIMENSION).astype(np.float32) for _ in range(60)]
    before = [search(BitCodeIndex(1), db, query, [1, 2, 3]) for query in queries]
    shuffled = "SELECT seq, chunks, vector FROM embeddings ORDER BY seq % 7, seq, id"
    stored = db.execute(shuffled).fetchall()
    db.execute("DELETE FROM embeddings")
    for row in stored:
        db.execute(
            "INSERT INTO embeddings (seq, model_id, chunks, vector) VALUES (?, 1, ?, ?)", row
        )

    assert [search(BitCodeIndex(1), db, query, [1, 2, 3]) for query in queries] == before


def test_what_others_add_and_delete_is_seen_at_the_next_query(db: apsw.Connection) -> None:
    index = BitCodeIndex(1)
    query = np.ones(DIMENSION, dtype=np.float32)
    index.nearest(SqliteConnection(db), query, [1], LIMIT, newest=newest(db))
    add(db, 1000, partition_id=1, vectors=np.ones((1, DIMENSION)))
    rows, _ = index.nearest(SqliteConnection(db), query, [1], LIMIT, newest=newest(db))
    assert rows.item_ids[0] == 1000
    index.drop_stale(SqliteConnection(db), [], [1])
    assert len(index.cached_rows([1], [1000])) == 1
    db.execute("DELETE FROM items WHERE seq = 1000; DELETE FROM embeddings WHERE seq = 1000")
    add(db, 1001, partition_id=1, vectors=-np.ones((1, DIMENSION)))

    index.drop_stale(SqliteConnection(db), [999_999], [1])
    assert len(index.cached_rows([1], [1000])) == 1  # an item newer than this reader is not stale
    index.drop_stale(SqliteConnection(db), [1000, 999_999], [1])

    assert index.cached_rows([1], [1000]) == []
    rows, _ = index.nearest(SqliteConnection(db), query, [1], LIMIT, newest=newest(db))
    assert 1000 not in rows.item_ids


def test_a_partition_that_grew_out_of_the_cache_is_compared_by_its_own_vectors(
    db: apsw.Connection,
) -> None:
    index = BitCodeIndex(1, cache_bytes=100_000)
    query = np.ones(DIMENSION, dtype=np.float32)
    assert search(index, db, query, [1])[2], "the partition was not cached at first"
    random = np.random.default_rng(8)
    for item_id in range(1000, 1400):
        add(db, item_id, partition_id=1, vectors=random.standard_normal((1, DIMENSION)))
    # So many new embeddings that the whole partition is read again.
    db.execute("UPDATE embeddings SET id = id + 50000 WHERE seq >= 1000")

    assert search(index, db, query, [1]) == search(BitCodeIndex(1, cache_bytes=0), db, query, [1])


def test_an_item_whose_text_was_replaced_is_compared_by_its_new_vector_only(
    db: apsw.Connection,
) -> None:
    early, late = BitCodeIndex(1), BitCodeIndex(1)  # asked before the new embedding, or after it
    query = np.ones(DIMENSION, dtype=np.float32)
    add(db, 999, partition_id=1, vectors=np.ones((1, DIMENSION)))
    for index in (early, late):
        index.nearest(SqliteConnection(db), query, [1], LIMIT, newest=newest(db))
    add(db, 1000, partition_id=1, vectors=np.ones((1, DIMENSION)))  # ids of vectors only grow
    db.execute("DELETE FROM embeddings WHERE seq = 999")

    early.drop_stale(SqliteConnection(db), [999], [1])
    assert early.cached_rows([1], [999]) == []
    db.execute("DELETE FROM items WHERE seq = 999")
    add(db, 999, partition_id=1, vectors=-np.ones((1, DIMENSION)))
    for index in (early, late):
        rows, _ = index.nearest(SqliteConnection(db), query, [1], 10_000, newest=newest(db))
        assert rows.item_ids.tolist().count(999) == 1
        assert rescore(rows, QueryVector(1, query))[999].similarity < 0


def test_an_item_that_moved_to_another_partition_has_no_vectors_in_its_old_one(
    db: apsw.Connection,
) -> None:
    db.execute("UPDATE items SET shelf_id = 2 WHERE seq = 3")
    db.execute("DELETE FROM embeddings WHERE seq = 6")
    records = ItemRecords(SqliteConnection(db), ItemKind.BLOCK, None)

    assert records.without_vectors([3, 6, 9, 999_999], [1]) == [3, 6, 999_999]


def test_an_embedded_item_whose_text_became_blank_has_no_vectors(db: apsw.Connection) -> None:
    # The row of an embedded item with words says that it has vectors; here it does not.
    db.execute("UPDATE items SET embedded_by = 1")
    db.execute("UPDATE items SET words = 0 WHERE seq IN (3, 6)")
    db.execute("DELETE FROM embeddings WHERE seq = 6")
    records = ItemRecords(SqliteConnection(db), ItemKind.BLOCK, None)

    assert records.without_vectors([3, 6, 9], [1]) == [6]


def test_every_finite_half_precision_number_is_converted_exactly() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]

    wide = to_float32(finite)

    assert (wide.view(np.uint32) == finite.astype(np.float32).view(np.uint32)).all()


def some_rows(first: int, count: int) -> EmbeddingRows:
    item_ids = np.arange(first, first + count, dtype=np.int64)
    return EmbeddingRows(
        item_ids, np.ones(count, dtype=np.int32), np.ones((count, 8), dtype=np.float16)
    )


def test_rows_are_taken_from_several_partitions_in_the_requested_order() -> None:
    partitions = [some_rows(0, 5), some_rows(100, 0), some_rows(200, 7)]
    positions = np.array([11, 0, 5, 4, 6, 1])

    assert (
        take_from(partitions, positions).item_ids.tolist()
        == concatenate(partitions).take(positions).item_ids.tolist()
    )


def test_rows_of_items_are_found_at_any_position() -> None:
    mixed = concatenate([some_rows(5, 2), some_rows(1, 3), some_rows(5, 1)])

    assert mixed.of_items([5, 2, 77]).item_ids.tolist() == [2, 5, 5]
    assert mixed.of_items([]).item_ids.tolist() == []


def cached_partitions(cache: VectorCache) -> list[int]:
    return [partition_id for partition_id in (1, 2, 3) if cache.get(partition_id) is not None]


def test_a_partition_that_was_not_queried_for_long_is_evicted_for_one_that_is() -> None:
    rows = some_rows(0, 10)
    cache = VectorCache(budget_bytes=2 * rows.nbytes)
    for partition_id in (1, 2, 3):
        cache.record_query([partition_id])
        cache.put(partition_id, rows)
    assert cached_partitions(cache) == [1, 2]

    for _ in range(IDLE_QUERIES):
        cache.record_query([2])
    cache.put(3, rows)

    assert cached_partitions(cache) == [2, 3]


def test_what_another_process_forgets_is_not_found_again(path: Path) -> None:
    def open_here() -> LocalRecollect:
        return open_memory(path, embedder=ScriptedEmbedder())

    with open_here() as memory, open_here() as other:
        kept = [memory.ingest(f"The lamp number {number} is green.").id for number in range(5)]
        memory.drain()
        assert {hit.memory.id for hit in memory.search("green lamp")} == set(kept)
        other.forget(kept[0])
        added = other.ingest("The lamp number six is green.").id
        other.drain()

        assert {hit.memory.id for hit in memory.search("green lamp")} == {*kept[1:], added}
        other.maintenance.rebuild()
        assert {hit.memory.id for hit in memory.search("green lamp")} == {*kept[1:], added}


def test_the_best_scores_are_those_a_whole_sort_puts_first() -> None:
    random = Random(7)
    for _ in range(200):
        scores = {
            item_id: random.choice([0.5, 1.0, 1.5]) for item_id in range(random.randrange(60))
        }
        limit = random.randrange(1, 40)

        expected = sorted(scores, key=lambda item_id: (-scores[item_id], -item_id))[:limit]

        assert best_items(scores, limit) == expected
