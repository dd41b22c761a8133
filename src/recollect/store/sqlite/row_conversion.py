"""Convert between SQL rows and Python values: JSON, redactions, effects."""

import json
from collections.abc import Iterable
from typing import Any

from recollect.domain.memory import NO_EFFECTS, ChangeEffects
from recollect.domain.source import Redaction

Row = tuple[Any, ...]


def fetch_all(cursor: Iterable[Row]) -> list[Any]:
    """Return all rows; their types are known where the query is written."""
    return list(cursor)


_JSON = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def to_json(value: Any) -> str:
    """Return *value* as compact JSON with sorted keys; equal values give equal text."""
    return _JSON.encode(value)


def redactions_json(redactions: Iterable[Redaction]) -> str:
    """Return *redactions* as JSON."""
    return to_json([[r.kind, r.start, r.end, r.field] for r in redactions])


def parse_redactions(text: str) -> tuple[Redaction, ...]:
    """Return the redactions in the JSON *text*."""
    return tuple(Redaction(*values) for values in json.loads(text))


def effects_json(effects: ChangeEffects) -> str:
    """Return *effects* as stored: an object with those fields that are set."""
    if effects is NO_EFFECTS:
        return "{}"
    unset = vars(NO_EFFECTS)
    return to_json({name: value for name, value in vars(effects).items() if value != unset[name]})


def parse_effects(text: str) -> ChangeEffects:
    """Return the effects stored as *text*; raises ValueError or TypeError if it is malformed."""
    values = json.loads(text)
    superseded = values.pop("superseded", [])
    effects = ChangeEffects(**values, superseded=tuple(superseded))
    confidence = effects.confidence_before
    is_share = confidence is None or (type(confidence) in (int, float) and 0 <= confidence <= 1)
    ids = (*superseded, effects.duplicate_of)
    if not (isinstance(superseded, list) and is_share and all(isinstance(id, str) for id in ids)):
        raise ValueError("effects of memory_changes has the wrong shape")
    return effects
