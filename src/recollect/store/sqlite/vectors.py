"""Embeddings in SQLite: what waits to be embedded, what is known, what is near."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import apsw

from recollect.domain.scope import ItemKind
from recollect.store.sqlite import queries
from recollect.store.sqlite.indexed import IndexedRows
from recollect.store.sqlite.rows import Row, rows, to_json
from recollect.store.values import (
    Backdrop,
    InUse,
    KnownModel,
    Near,
    Shelf,
    Unembedded,
    Vector,
    Waiters,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.store.sqlite.codes import CodeCache

_SQL = queries.load("vectors")
SAMPLE = 64  # vectors that show how near items here usually are
MOST_SAMPLED_SHELVES = 8
NOBODY = -1  # a model id no model has
DROPPED_AT_ONCE = 2_000  # a fraction of a second: others write between two of these
LEAST_RESCORED = 400  # embeddings compared exactly: the best ten are among them 98 times in 100

_WAITING: Mapping[Waiters, tuple[str, ...]] = {
    Waiters.ALL: ("never_embedded", "embedded_before", "embedded_after"),
    Waiters.NEW: ("never_embedded",),
    Waiters.CHANGING: ("embedded_before", "embedded_after"),
}


class SqliteVectors:
    """See `recollect.store.protocol.Vectors`."""

    def __init__(
        self, db: apsw.Connection, rows_of: IndexedRows, caches: "dict[int, CodeCache]"
    ) -> None:
        self._db = db
        self._rows = rows_of
        self._caches = caches

    def model_id(self, name: str, dimension: int) -> int | None:
        """Return the id of a model that has embedded something here."""
        values = {"name": name, "dimension": dimension}
        row = self._db.execute(_SQL["model"], values).fetchone()
        return row[0] if row else None

    def latest_model(self, name: str) -> tuple[int, int] | None:
        """Return id and dimension of the newest model of that name that has embedded something."""
        row = self._db.execute(_SQL["latest_model"], {"name": name}).fetchone()
        return (row[0], row[1]) if row else None

    def add_model(self, name: str, dimension: int) -> int:
        """Make a model known; return its id."""
        return int(self._db.execute(_SQL["add_model"], {"name": name, "dimension": dimension}).get)

    def in_use(self) -> InUse:
        """Return which model the store wants, and whose vectors answer."""
        [row] = self._db.execute(_SQL["in_use"])
        wanted = None if row[0] is None else KnownModel(*row[:3])
        return InUse(wanted, None if row[3] is None else KnownModel(*row[3:]))

    def want(self, model_id: int) -> None:
        """Choose a model: programs whose settings name none embed with it from now on."""
        self._db.execute(_SQL["want"], {"model_id": model_id})

    def serve(self, model_id: int) -> None:
        """Let the vectors of a model answer questions from now on."""
        self._db.execute(_SQL["serve"], {"model_id": model_id})
        self._db.execute(_SQL["mark_back"], {"model_id": model_id})

    def waiting(self, model_id: int | None, limit: int, which: Waiters) -> list[Unembedded]:
        """Return items without vectors of that model, the newest first."""
        values = {"model_id": NOBODY if model_id is None else model_id, "limit": limit}
        found: list[Row] = []
        for kind_of_waiting in _WAITING[which]:
            values["limit"] = limit - len(found)
            found += rows(self._db.execute(_SQL[kind_of_waiting], values))
        return self._with_texts(found)

    def waiting_among(self, model_id: int | None, item_ids: Sequence[str]) -> list[Unembedded]:
        """Return which of some items have no vectors of that model."""
        values = {
            "model_id": NOBODY if model_id is None else model_id,
            "ids": to_json(list(item_ids)),
        }
        return self._with_texts(rows(self._db.execute(_SQL["waiting_among"], values)))

    def new_among(self, item_ids: Sequence[str]) -> list[Unembedded]:
        """Return which of some items no model has embedded."""
        values = {"ids": to_json(list(item_ids))}
        return self._with_texts(rows(self._db.execute(_SQL["new_among"], values)))

    def _with_texts(self, found: list[Row]) -> list[Unembedded]:
        by_kind: dict[str, list[str]] = {}
        for _, item_id, kind in found:
            by_kind.setdefault(kind, []).append(item_id)
        texts: dict[str, str] = {}
        for kind, ids in by_kind.items():
            texts |= self._rows.to_embed(ItemKind(kind), ids)
        return [Unembedded(seq, texts[item_id]) for seq, item_id, _ in found if item_id in texts]

    def count_waiting(self, model_id: int | None) -> int:
        """Return how many items have no vectors of that model."""
        values = {"model_id": NOBODY if model_id is None else model_id}
        return int(self._db.execute(_SQL["count_waiting"], values).get)

    def count_by_model(self) -> Mapping[str, int]:
        """Return how many items each model has embedded; '' counts those that wait."""
        return dict(rows(self._db.execute(_SQL["count_by_model"])))

    def count_vectors(self) -> Mapping[tuple[str, int], int]:
        """Return of how many items each model has vectors, by its name and dimension."""
        found = rows(self._db.execute(_SQL["count_vectors"]))
        return {(name, dimension): count for name, dimension, count in found}

    def known(self, model_id: int, hashes: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the vectors of texts that were embedded before, by the texts' hashes."""
        found = {}
        for digest in hashes:
            values = {"model_id": model_id, "hash": digest}
            if row := self._db.execute(_SQL["known"], values).fetchone():
                found[row[0]] = row[1]
        return found

    def put(self, model_id: int, seqs: Sequence[int], vectors: Sequence[Vector]) -> None:
        """Keep the vectors of some items, and note that they are embedded."""
        for vector in vectors:
            values = {
                "seq": vector.seq,
                "model_id": model_id,
                "chunk": vector.chunk,
                "chunks": vector.chunks,
                "hash": vector.hash,
                "vector": vector.data,
            }
            self._db.execute(_SQL["put"], values)
        self._db.execute(_SQL["mark"], {"model_id": model_id, "seqs": to_json(list(seqs))})

    def has_others(self) -> bool:
        """Say whether there are vectors of models that are neither wanted nor serving."""
        return bool(self._db.execute(_SQL["has_others"]).get)

    def drop_others(self) -> None:
        """Remove some of these."""
        self._db.execute(_SQL["drop_others"], {"limit": DROPPED_AT_ONCE})

    def near(
        self,
        model_id: int,
        query: "NDArray[np.float32]",
        shelves: Sequence[Shelf],
        *,
        limit: int,
        among: Sequence[int] | None = None,
    ) -> Mapping[int, Near]:
        """
        Return the *limit* items on *shelves* that are nearest in meaning, nearest first.

        Where *among* is given, other items are not looked at.
        """
        # NumPy is loaded by the first question, not by the first write.
        from recollect.store.sqlite.codes import fetch, rescore

        cache = self._cache(model_id)
        shelf_ids = [shelf.id for shelf in shelves]
        most = max(LEAST_RESCORED, 2 * limit)
        allowed = None if among is None else self._ids_of(model_id, among)
        if allowed is not None and len(allowed) <= most:
            return rescore(fetch(self._db, allowed), query, limit)
        found, held = cache.nearest(self._db, query, shelf_ids, most, among=allowed)
        best = rescore(found, query, limit)
        while held and (gone := cache.gone(self._db, best, shelf_ids)):
            found = found.besides(gone)
            best = rescore(found, query, limit)
        return best

    def _cache(self, model_id: int) -> "CodeCache":
        # As above.
        from recollect.store.sqlite.codes import CodeCache

        cache = self._caches.get(model_id)
        if cache is None:
            self._caches.clear()  # one model answers at a time
            cache = self._caches.setdefault(model_id, CodeCache(model_id))
        return cache

    def _ids_of(self, model_id: int, seqs: Sequence[int]) -> list[int]:
        values = {"model_id": model_id, "seqs": to_json(list(seqs))}
        return [row_id for (row_id,) in rows(self._db.execute(_SQL["ids_of"], values))]

    def backdrop(
        self, model_id: int, query: "NDArray[np.float32]", shelves: Sequence[Shelf]
    ) -> Backdrop:
        """Return how near the oldest items on the largest of *shelves* are to *query*."""
        # As above: NumPy only when meaning is asked for.
        from recollect.store.sqlite.codes import backdrop

        # Of equals not the one with the lower id: a rebuilt shelf may have another.
        by_size = sorted(shelves, key=lambda one: (-one.items, one.owner.scope, one.owner.id))
        largest = by_size[:MOST_SAMPLED_SHELVES]
        limit = SAMPLE // max(len(largest), 1)
        found: list[bytes] = []
        for shelf in largest:
            values = {"model_id": model_id, "shelf_id": shelf.id, "limit": limit}
            found += [blob for (blob,) in self._db.execute(_SQL["oldest"], values)]
        return backdrop(found, query)

    def alike(self, model_id: int, seqs: Sequence[int]) -> Mapping[tuple[int, int], float]:
        """Return the similarity of each two of some items, by their first pieces."""
        # As above: NumPy only when meaning is asked for.
        from recollect.store.sqlite.codes import pairwise

        values = {"model_id": model_id, "seqs": to_json(list(seqs))}
        return pairwise(rows(self._db.execute(_SQL["first_pieces"], values)))

    def vectors_of(self, model_id: int, seqs: Sequence[int]) -> "Mapping[int, NDArray[np.float32]]":
        """Return the first vector of some items; those without one are left out."""
        # As above: NumPy only when meaning is asked for.
        from recollect.store.sqlite.codes import as_vector

        values = {"model_id": model_id, "seqs": to_json(list(seqs))}
        found = rows(self._db.execute(_SQL["first_pieces"], values))
        return {seq: as_vector(blob) for seq, blob in found}

    def nearness(
        self,
        model_id: int,
        query: "NDArray[np.float32]",
        seqs: Iterable[int],
        shelves: Sequence[Shelf] = (),
    ) -> Mapping[int, Near]:
        """
        Return how near some items are; those without a vector are left out.

        Where the shelves are given on which they may stand, what is in memory is not read again.
        """
        # As above: NumPy only when meaning is asked for.
        from recollect.store.sqlite.codes import fetch_items, rescore

        left = list(seqs)
        best: dict[int, Near] = {}
        for rows_held in self._cache(model_id).held_of([shelf.id for shelf in shelves], left):
            best |= rescore(rows_held, query)
        left = [seq for seq in left if seq not in best]
        return best | rescore(fetch_items(self._db, model_id, left), query) if left else best
