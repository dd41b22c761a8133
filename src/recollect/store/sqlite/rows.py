"""Turn rows into values and back: JSON, times, and the small types in between."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from recollect.clock import to_micros
from recollect.domain.retrieval import Filters
from recollect.domain.source import Redaction

Row = tuple[Any, ...]


def rows(cursor: Iterable[Row]) -> list[Any]:
    """Return all rows; what types they have is known to whoever wrote the query."""
    return list(cursor)


FOREVER_AGO = -(1 << 62)
FOREVER_AHEAD = 1 << 62


def to_json(value: Any) -> str:
    """Return *value* as compact JSON with sorted keys: the same value, the same bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def micros(moment: datetime | None, otherwise: int) -> int:
    """Return *moment* as the store keeps it, or *otherwise* where there is none."""
    return otherwise if moment is None else to_micros(moment)


def filter_values(filters: Filters) -> dict[str, Any]:
    """Return *filters* as the parameters the queries expect."""
    return {
        "statuses": to_json(sorted(filters.statuses)),
        "types": to_json(sorted(filters.types)),
        "tags": to_json(sorted(filters.tags)),
        "any_tags": to_json(sorted(filters.any_tags)),
        "since": micros(filters.since, FOREVER_AGO),
        "until": micros(filters.until, FOREVER_AHEAD),
    }


def redactions_json(redactions: Iterable[Redaction]) -> str:
    """Return *redactions* as the store keeps them."""
    return to_json([[r.kind, r.start, r.end, r.field] for r in redactions])


def redactions_from(text: str) -> tuple[Redaction, ...]:
    """Return the redactions kept as *text*."""
    return tuple(Redaction(*values) for values in json.loads(text))
