"""Write logged retrievals as rows of an export, readable by people, and read them again."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.retrieval import LoggedHit, LoggedItem, Retrieval
from recollect.store.repositories.retrieval_packing import PackedRetrieval, unpack
from recollect.store.repositories.retrievals import RetrievalRepository
from recollect.store.row_conversion import fetch_all
from recollect.store.transfer.table_rows import TableRows

# Older exports have the results in tables of their own, after the retrievals. They are left out.
OLD_TABLES = frozenset({"retrieval_hits", "retrieval_context"})

_PACKED_COLUMNS = tuple(PackedRetrieval.__dataclass_fields__)
_COLUMNS = frozenset(Retrieval.__dataclass_fields__) | {"logged_at"}

Row = Mapping[str, Any]


def export_retrievals(rows: TableRows) -> Iterator[Row]:
    """Yield every logged retrieval as a row."""
    logged_at = dict(fetch_all(rows.select("SELECT id, logged_at FROM retrievals")))
    for retrieval in RetrievalRepository(rows.connection).all():
        yield {"table": "retrievals", **exported_row(retrieval, logged_at[retrieval.id])}


def exported_row(retrieval: Retrieval, logged_at: int) -> Row:
    """Return a retrieval as it is exported."""
    asked_at = to_micros(retrieval.asked_at)
    return {**asdict(retrieval), "asked_at": asked_at, "logged_at": logged_at}


def import_retrieval(rows: TableRows, row: Row, ids: Mapping[str, str]) -> bool:
    """
    Add a retrieval to the log; return False if it is there already. *ids* maps imported ids.

    The row is one of an export, or one of the table itself.
    """
    if isinstance(row.get("content"), bytes):
        stored = unpack(PackedRetrieval(**{name: row[name] for name in _PACKED_COLUMNS}))
        row = exported_row(stored, row["logged_at"])
    retrieval, logged_at = _parse(row, ids)
    table = RetrievalRepository(rows.connection)
    if table.get(retrieval.id) is not None:
        return False
    table.add(retrieval, logged_at=logged_at)
    return True


def _parse(row: Row, ids: Mapping[str, str]) -> tuple[Retrieval, datetime]:
    """Return the retrieval of a row; raises ValueError, TypeError or KeyError if it is none."""
    if unknown := row.keys() - _COLUMNS:
        raise ValueError(f"unknown columns {sorted(unknown)}")
    asking, notes = row["asking"], row["notes"]
    if isinstance(asking, str):  # an older export has JSON in it
        asking, notes = json.loads(asking), json.loads(notes)
    if not isinstance(asking, dict) or not isinstance(notes, list | tuple):
        raise ValueError("asking or notes of retrievals has the wrong shape")
    asking = {
        name: ids.get(value, value) if name.endswith("_id") and isinstance(value, str) else value
        for name, value in asking.items()
    }
    retrieval = Retrieval(
        id=_text(row["id"]),
        verb=_text(row["verb"]),
        query=_text(row["query"]),
        asking=asking,
        notes=tuple(_text(note) for note in notes),
        asked_at=from_micros(row["asked_at"]),
        hits=tuple(_parse_hit(hit) for hit in row.get("hits", ())),
        context=tuple(_parse_item(item, ids) for item in row.get("context", ())),
    )
    return retrieval, from_micros(row.get("logged_at", row["asked_at"]))


def _parse_hit(values: Row) -> LoggedHit:
    return LoggedHit(
        rank=int(values["rank"]),
        memory_id=_text(values["memory_id"]),
        score=float(values["score"]),
        parts={_text(name): float(value) for name, value in dict(values["parts"]).items()},
        explanation=_text(values["explanation"]),
        outcome=_text(values["outcome"]),
    )


def _parse_item(values: Row, ids: Mapping[str, str]) -> LoggedItem:
    item_id = _text(values["item_id"])
    return LoggedItem(
        kind=_text(values["kind"]),
        item_id=ids.get(item_id, item_id),
        tokens=int(values["tokens"]),
        outcome=_text(values["outcome"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is expected, not {type(value).__name__}")
    return value
