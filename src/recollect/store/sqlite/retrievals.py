"""The log of retrievals, and saved searches, in SQLite."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime

from recollect.domain.retrieval import LoggedHit, LoggedItem, Retrieval, View
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.retrieval_packing import (
    PackedRetrieval,
    pack,
    pack_ids,
    unpack,
    unpack_ids,
)
from recollect.store.sqlite.row_conversion import FOREVER_AGO, FOREVER_AHEAD
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

SCRUBBED_NOTE = "query removed: something it met was forgotten"

_DELETABLE_KINDS = frozenset({"message", "block", "file"})
_packed = row_parser(
    PackedRetrieval, "id verb query agent_id conversation_id returned others content"
)
_view = row_parser(View, "name query asking created_at updated_at")


class SqliteRetrievalTable(SqliteTable):
    """See `recollect.store.protocol.RetrievalTable`."""

    _sql = query_loader.load("retrievals")

    def add(self, retrieval: Retrieval, *, logged_at: datetime) -> None:
        row = pack(self._without_deleted(retrieval))
        self._run("add", **field_values(row), size=row.size, logged_at=logged_at)

    def get(self, retrieval_id: str) -> Retrieval | None:
        row = self._first(_packed, "retrieval", id=retrieval_id)
        return None if row is None else unpack(row)

    def all(self) -> Iterator[Retrieval]:
        for row in self._run("all"):
            yield unpack(_packed(row))

    def queries(self) -> Iterator[tuple[str, str]]:
        yield from self._run("queries")

    def result_ids(self) -> Iterator[tuple[str, list[str]]]:
        for retrieval_id, returned, others in self._run("result_ids"):
            yield retrieval_id, [*unpack_ids(returned), *unpack_ids(others)]

    def count(self) -> int:
        return int(self._run("count").get)

    def count_prunable(self, *, before: datetime | None, most_bytes: int | None, limit: int) -> int:
        values = _limit_values(before, most_bytes)
        return int(self._run("count_prunable", **values, limit=limit).get)

    def prune(self, *, before: datetime | None, most_bytes: int | None, limit: int) -> int:
        self._run("prune", **_limit_values(before, most_bytes), limit=limit)
        return self._db.changes()

    def times_returned(self, memory_id: str) -> int:
        packed_id = pack_ids([memory_id]).rstrip(b"\n") if memory_id else b""
        return int(self._run("times_returned", id=packed_id).get)

    def scrub(self, retrieval_ids: Collection[str], *, gone: Collection[str] = ()) -> int:
        count = 0
        for retrieval_id in retrieval_ids:
            retrieval = self.get(retrieval_id)
            if retrieval is not None:
                self._overwrite(pack(scrubbed(retrieval, gone)))
                count += 1
        return count

    def save_view(self, view: View) -> None:
        self._run("save_view", **field_values(view))

    def view(self, name: str) -> View | None:
        return self._first(_view, "view", name=name)

    def views(self) -> list[View]:
        return self._all(_view, "views")

    def delete_view(self, name: str) -> bool:
        return self._run("delete_view", name=name).fetchone() is not None

    def _without_deleted(self, retrieval: Retrieval) -> Retrieval:
        """
        Return *retrieval* scrubbed if one of its results was deleted since the search.

        A retrieval waits in a queue before it is logged. What was forgotten meanwhile must not
        come back with it.
        """
        ids = [hit.memory_id for hit in retrieval.hits]
        ids += [item.item_id for item in retrieval.context if item.kind in _DELETABLE_KINDS]
        gone = set(ids).difference(self._column("existing_among", ids=ids)) if ids else ()
        return scrubbed(retrieval, gone) if gone else retrieval

    def _overwrite(self, row: PackedRetrieval) -> None:
        values = field_values(row, without=("verb", "agent_id", "conversation_id"))
        self._run("overwrite", **values)


def _limit_values(before: datetime | None, most_bytes: int | None) -> dict[str, object]:
    return {
        "before": FOREVER_AGO if before is None else before,
        "most_bytes": FOREVER_AHEAD if most_bytes is None else most_bytes,
    }


def scrubbed(retrieval: Retrieval, gone: Collection[str]) -> Retrieval:
    """Return *retrieval* without its words and without the results in *gone*."""
    asking = {
        name: value
        for name, value in retrieval.asking.items()
        if name in ("agent_id", "conversation_id")
    }
    return replace(
        retrieval,
        query="",
        asking=asking,
        notes=(SCRUBBED_NOTE,),
        hits=tuple(_without_words(hit) for hit in retrieval.hits if hit.memory_id not in gone),
        context=tuple(
            _item_without_words(item) for item in retrieval.context if item.item_id not in gone
        ),
    )


def _without_words(hit: LoggedHit) -> LoggedHit:
    return replace(hit, explanation="")  # it repeats words of the query


def _item_without_words(item: LoggedItem) -> LoggedItem:
    outcome = item.outcome if item.outcome.startswith("dropped: ") else "returned"
    return replace(item, outcome=outcome)
