"""The log of retrievals, and saved searches."""

import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime

from recollect.calling_client import LIBRARY
from recollect.domain.retrieval import LoggedHit, LoggedItem, Retrieval, SavedSearch
from recollect.store.database_connection import DatabaseConnection, record_shape, value_shape
from recollect.store.repositories.clients import ClientRepository
from recollect.store.repositories.repository import EARLIEST, Repository, field_values
from recollect.store.repositories.retrieval_packing import (
    PackedRetrieval,
    pack,
    pack_ids,
    unpack,
    unpack_ids,
)

SCRUBBED_NOTE = "query removed: something it met was forgotten"

_DELETABLE_KINDS = frozenset({"message", "block", "file"})
_packed = record_shape(
    PackedRetrieval, "id verb query agent_id conversation_id returned others content"
)
_query = value_shape(str, str)
_result_ids = value_shape(str, bytes, bytes)
_view = record_shape(SavedSearch, "name query asking created_at updated_at")


class RetrievalRepository(Repository):
    """The log of retrievals, and saved searches."""

    _statements = "retrievals"

    def __init__(self, connection: DatabaseConnection) -> None:
        super().__init__(connection)
        self._clients = ClientRepository(connection)

    def add(self, retrieval: Retrieval, *, logged_at: datetime) -> None:
        """Add a retrieval to the log; without its words if one of its results was deleted since."""
        row = pack(self._without_deleted(retrieval))
        self._run("add", **field_values(row), size=row.size, logged_at=logged_at)
        self._clients.count_retrieval(retrieval.asking.get("client") or LIBRARY, at=logged_at)

    def get(self, retrieval_id: str) -> Retrieval | None:
        """Return a logged retrieval with its results in rank order, or None."""
        row = self._first(_packed, "retrieval", id=retrieval_id)
        return None if row is None else unpack(row)

    def all(self) -> Iterator[Retrieval]:
        """Yield every logged retrieval, oldest first."""
        yield from map(unpack, self._stream(_packed, "all"))

    def latest(
        self, *, agent_id: str | None, memory_id: str | None, limit: int, offset: int
    ) -> list[Retrieval]:
        """Return retrievals, newest first: of one agent, or that returned one memory, if given."""
        packed_id = None if memory_id is None else pack_ids([memory_id]).rstrip(b"\n")
        values = {"agent_id": agent_id, "memory_id": packed_id, "limit": limit, "offset": offset}
        return [unpack(row) for row in self._all(_packed, "latest", **values)]

    def queries(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the query of every logged retrieval that has one."""
        return self._stream(_query, "queries")

    def result_ids(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the id of every logged retrieval, and the ids of the items it met."""
        for retrieval_id, returned, others in self._stream(_result_ids, "result_ids"):
            yield retrieval_id, [*unpack_ids(returned), *unpack_ids(others)]

    def count(self) -> int:
        """Return how many retrievals the log has."""
        return int(self._value("count"))

    def count_prunable(self, *, before: datetime | None, max_bytes: int | None, limit: int) -> int:
        """Return how many of the oldest *limit* retrievals are too old or too many."""
        values = _limit_values(before, max_bytes)
        return int(self._value("count_prunable", **values, limit=limit))

    def prune(self, *, before: datetime | None, max_bytes: int | None, limit: int) -> int:
        """Delete of the oldest *limit* those that are too old or too many; return how many."""
        return self._run_counted("prune", **_limit_values(before, max_bytes), limit=limit)

    def times_returned(self, memory_id: str) -> int:
        """Return how often a memory was returned by the retrievals in the log."""
        packed_id = pack_ids([memory_id]).rstrip(b"\n") if memory_id else b""
        return int(self._value("times_returned", id=packed_id))

    def scrub(self, retrieval_ids: Collection[str], *, deleted_ids: Collection[str] = ()) -> int:
        """Remove the words of some retrievals, and the results *deleted_ids*; return how many."""
        count = 0
        for retrieval_id in retrieval_ids:
            retrieval = self.get(retrieval_id)
            if retrieval is not None:
                self._overwrite(pack(without_deleted(retrieval, deleted_ids)))
                count += 1
        return count

    def save_view(self, view: SavedSearch) -> None:
        """Store a saved search under its name."""
        self._run("save_view", **field_values(view))

    def view(self, name: str) -> SavedSearch | None:
        """Return the saved search of that name, or None."""
        return self._first(_view, "view", name=name)

    def views(self) -> list[SavedSearch]:
        """Return every saved search, by name."""
        return self._all(_view, "views")

    def delete_view(self, name: str) -> bool:
        """Delete a saved search; return whether there was one."""
        return bool(self._run_counted("delete_view", name=name))

    def _without_deleted(self, retrieval: Retrieval) -> Retrieval:
        """
        Return *retrieval* without its results that were deleted since the search.

        A retrieval waits in a queue before it is logged. What was forgotten meanwhile must not
        come back with it.
        """
        ids = [hit.memory_id for hit in retrieval.hits]
        ids += [item.item_id for item in retrieval.context if item.kind in _DELETABLE_KINDS]
        deleted_ids = set(ids).difference(self._column("existing_among", ids=ids)) if ids else ()
        return without_deleted(retrieval, deleted_ids) if deleted_ids else retrieval

    def _overwrite(self, row: PackedRetrieval) -> None:
        values = field_values(row, without=("verb", "agent_id", "conversation_id"))
        self._run("overwrite", **values)


def _limit_values(before: datetime | None, max_bytes: int | None) -> dict[str, object]:
    return {
        "before": before or EARLIEST,
        "max_bytes": sys.maxsize if max_bytes is None else max_bytes,
    }


def without_deleted(retrieval: Retrieval, deleted_ids: Collection[str]) -> Retrieval:
    """Return *retrieval* without its words and without the results in *deleted_ids*."""
    asking = {
        name: value
        for name, value in retrieval.asking.items()
        if name in ("agent_id", "conversation_id", "client")
    }
    return replace(
        retrieval,
        query="",
        asking=asking,
        notes=(SCRUBBED_NOTE,),
        hits=tuple(
            _without_words(hit) for hit in retrieval.hits if hit.memory_id not in deleted_ids
        ),
        context=tuple(
            _item_without_words(item)
            for item in retrieval.context
            if item.item_id not in deleted_ids
        ),
    )


def _without_words(hit: LoggedHit) -> LoggedHit:
    return replace(hit, explanation="")  # it repeats words of the query


def _item_without_words(item: LoggedItem) -> LoggedItem:
    outcome = item.outcome if item.outcome.startswith("dropped: ") else "returned"
    return replace(item, outcome=outcome)
