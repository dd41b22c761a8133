"""Write the retrieval log as it was before it was packed: with a row for each result."""

import json

import apsw

from recollect.clock import to_micros
from recollect.domain.retrieval import Retrieval
from recollect.store.repositories.retrievals import RetrievalRepository
from recollect.store.sqlite.sqlite_connection import SqliteConnection

OLD_LOG_TABLES = frozenset({"retrievals", "retrieval_hits", "retrieval_context"})


def copy_retrievals(source: str, target: apsw.Connection) -> list[Retrieval]:
    """Copy the retrievals of the store *source* to a database of an old schema; return them."""
    db = apsw.Connection(source, flags=apsw.SQLITE_OPEN_READONLY)
    retrievals = list(RetrievalRepository(SqliteConnection(db)).all())
    db.close()
    tables = "SELECT 1 FROM main.sqlite_schema WHERE name = 'retrieval_hits'"
    for retrieval in retrievals if target.execute(tables).fetchone() else ():
        write_old_retrieval(target, retrieval)
    return retrievals


def write_old_retrieval(db: apsw.Connection, retrieval: Retrieval) -> None:
    """Insert one retrieval with its results."""
    asking, notes = json.dumps(dict(retrieval.asking)), json.dumps(retrieval.notes)
    values = (retrieval.id, retrieval.verb, retrieval.query, asking, notes)
    db.execute(
        "INSERT INTO retrievals VALUES (?, ?, ?, ?, ?, ?)", (*values, to_micros(retrieval.asked_at))
    )
    for hit in retrieval.hits:
        scores = (hit.score, json.dumps(dict(hit.parts)))
        db.execute(
            "INSERT INTO retrieval_hits VALUES (?, ?, ?, ?, ?, ?, ?)",
            (retrieval.id, hit.rank, hit.memory_id, *scores, hit.explanation, hit.outcome),
        )
    for place, item in enumerate(retrieval.context):
        db.execute(
            "INSERT INTO retrieval_context VALUES (?, ?, ?, ?, ?, ?)",
            (retrieval.id, place, item.kind, item.item_id, item.tokens, item.outcome),
        )
