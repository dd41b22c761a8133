"""The log of retrievals, and saved searches, in SQLite."""

import json

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.retrieval import LoggedHit, LoggedItem, Retrieval, View
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, to_json

_SQL = query_loader.load("retrievals")


class SqliteRetrievalTable:
    """See `recollect.store.protocol.RetrievalTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, retrieval: Retrieval) -> None:
        values = {
            "id": retrieval.id,
            "verb": retrieval.verb,
            "query": retrieval.query,
            "asking": to_json(dict(retrieval.asking)),
            "notes": to_json(list(retrieval.notes)),
            "asked_at": to_micros(retrieval.asked_at),
        }
        self._db.execute(_SQL["add_retrieval"], values)
        for hit in retrieval.hits:
            row = {
                "retrieval_id": retrieval.id,
                "rank": hit.rank,
                "memory_id": hit.memory_id,
                "score": hit.score,
                "parts": to_json(dict(hit.parts)),
                "explanation": hit.explanation,
                "outcome": hit.outcome,
            }
            self._db.execute(_SQL["add_hit"], row)
        for position, item in enumerate(retrieval.context):
            part = {
                "retrieval_id": retrieval.id,
                "place": position,
                "kind": item.kind,
                "item_id": item.item_id,
                "tokens": item.tokens,
                "outcome": item.outcome,
            }
            self._db.execute(_SQL["add_item"], part)

    def get(self, retrieval_id: str) -> Retrieval | None:
        row = self._db.execute(_SQL["retrieval"], {"id": retrieval_id}).fetchone()
        if row is None:
            return None
        id_, verb, query, asking, notes, asked_at = row
        hits = self._db.execute(_SQL["hits"], {"id": retrieval_id})
        return Retrieval(
            id=id_,
            verb=verb,
            query=query,
            asking=json.loads(asking),
            notes=tuple(json.loads(notes)),
            asked_at=from_micros(asked_at),
            hits=tuple(_hit(hit) for hit in hits),
            context=tuple(
                LoggedItem(kind=kind, item_id=item_id, tokens=tokens, outcome=outcome)
                for kind, item_id, tokens, outcome in self._db.execute(
                    _SQL["items"], {"id": retrieval_id}
                )
            ),
        )

    def count(self) -> int:
        return int(self._db.execute(_SQL["count"]).get)

    def prune(self, keep: int, *, limit: int) -> int:
        self._db.execute(_SQL["prune"], {"keep": keep, "limit": limit})
        return self._db.changes()

    def times_returned(self, memory_id: str) -> int:
        return int(self._db.execute(_SQL["times_returned"], {"memory_id": memory_id}).get)

    def scrub(self, memory_id: str, content: str) -> int:
        values = {"memory_id": memory_id, "content": content}
        ids = [row[0] for row in self._db.execute(_SQL["mentioning"], values)]
        for step in ("scrub", "scrub_hits"):
            self._db.execute(_SQL[step], {"ids": to_json(ids)})
        self._db.execute(_SQL["scrub_views"], {"content": content})
        return len(ids)

    def save_view(self, view: View) -> None:
        values = {
            "name": view.name,
            "query": view.query,
            "asking": to_json(dict(view.asking)),
            "created_at": to_micros(view.created_at),
            "updated_at": to_micros(view.updated_at),
        }
        self._db.execute(_SQL["save_view"], values)

    def view(self, name: str) -> View | None:
        row = self._db.execute(_SQL["view"], {"name": name}).fetchone()
        return _view(row) if row else None

    def views(self) -> list[View]:
        return [_view(row) for row in self._db.execute(_SQL["views"])]

    def delete_view(self, name: str) -> bool:
        return self._db.execute(_SQL["delete_view"], {"name": name}).fetchone() is not None


def _hit(row: Row) -> LoggedHit:
    rank, memory_id, score, parts, explanation, outcome = row
    return LoggedHit(
        rank=rank,
        memory_id=memory_id,
        score=score,
        parts=json.loads(parts),
        explanation=explanation,
        outcome=outcome,
    )


def _view(row: Row) -> View:
    name, query, asking, created_at, updated_at = row
    return View(
        name=name,
        query=query,
        asking=json.loads(asking),
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
    )
