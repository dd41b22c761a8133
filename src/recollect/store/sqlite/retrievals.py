"""The log of retrievals, and saved searches, in SQLite."""

from dataclasses import replace

from recollect.domain.retrieval import LoggedHit, LoggedItem, Retrieval, View
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_retrieval = row_parser(Retrieval, "id verb query asking notes asked_at")
_hit = row_parser(LoggedHit, "rank memory_id score parts explanation outcome")
_item = row_parser(LoggedItem, "kind item_id tokens outcome")
_view = row_parser(View, "name query asking created_at updated_at")


class SqliteRetrievalTable(SqliteTable):
    """See `recollect.store.protocol.RetrievalTable`."""

    _sql = query_loader.load("retrievals")

    def add(self, retrieval: Retrieval) -> None:
        self._run("add_retrieval", **field_values(retrieval, without=("hits", "context")))
        for hit in retrieval.hits:
            self._run("add_hit", **field_values(hit), retrieval_id=retrieval.id)
        for place, item in enumerate(retrieval.context):
            self._run("add_item", **field_values(item), retrieval_id=retrieval.id, place=place)

    def get(self, retrieval_id: str) -> Retrieval | None:
        retrieval = self._first(_retrieval, "retrieval", id=retrieval_id)
        if retrieval is None:
            return None
        hits = self._all(_hit, "hits", id=retrieval_id)
        items = self._all(_item, "items", id=retrieval_id)
        return replace(retrieval, hits=tuple(hits), context=tuple(items))

    def count(self) -> int:
        return int(self._run("count").get)

    def prune(self, keep: int, *, limit: int) -> int:
        self._run("prune", keep=keep, limit=limit)
        return self._db.changes()

    def times_returned(self, memory_id: str) -> int:
        return int(self._run("times_returned", memory_id=memory_id).get)

    def scrub(self, memory_id: str, content: str) -> int:
        ids = self._column("mentioning", memory_id=memory_id, content=content)
        for step in ("scrub", "scrub_hits"):
            self._run(step, ids=ids)
        self._run("scrub_views", content=content)
        return len(ids)

    def save_view(self, view: View) -> None:
        self._run("save_view", **field_values(view))

    def view(self, name: str) -> View | None:
        return self._first(_view, "view", name=name)

    def views(self) -> list[View]:
        return self._all(_view, "views")

    def delete_view(self, name: str) -> bool:
        return self._run("delete_view", name=name).fetchone() is not None
