"""Convert between SQL rows and Python values: JSON, redactions, effects."""

import json
from collections.abc import Iterable
from datetime import date
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.change import NO_EFFECTS, ChangeEffects, ConfirmationChange
from recollect.domain.provenance import MentionedDate, StatementFlag
from recollect.domain.source import Evidence, Redaction

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


def parse_evidence(text: str) -> tuple[Evidence, ...]:
    """Return the evidence in the JSON *text*, a list of rows."""
    return tuple(
        Evidence(
            id=id_,
            memory_id=memory_id,
            source_id=source_id,
            start=start,
            end=end,
            quote=quote,
            voice=voice,
            created_at=from_micros(created_at),
        )
        for id_, memory_id, source_id, start, end, quote, voice, created_at in json.loads(text)
    )


def effects_json(effects: ChangeEffects) -> str:
    """Return *effects* as stored: an object with those fields that are set."""
    if effects is NO_EFFECTS:
        return "{}"
    unset = vars(NO_EFFECTS)
    values = {name: value for name, value in vars(effects).items() if value != unset[name]}
    if effects.confirmations:
        values["confirmations"] = [_confirmation_values(item) for item in effects.confirmations]
    return to_json(values)


def parse_effects(text: str) -> ChangeEffects:
    """Return the effects stored as *text*; raises ValueError or TypeError if it is malformed."""
    if text == "{}":
        return NO_EFFECTS
    values = json.loads(text)
    for name in ("superseded", "merged", "evidence", "links"):
        ids = values.get(name, [])
        if not (isinstance(ids, list) and all(isinstance(id, str) for id in ids)):
            raise ValueError(f"{name} of the effects of a change must be a list of ids")
        values[name] = tuple(ids)
    for name in ("caused_by", "policy_rule"):
        if not isinstance(values.get(name, ""), str):
            raise ValueError(f"{name} of the effects of a change must be text")
    confirmations = [_confirmation(*item) for item in values.pop("confirmations", ())]
    return ChangeEffects(**values, confirmations=tuple(confirmations))


def _confirmation_values(change: ConfirmationChange) -> list[Any]:
    times = (change.confirmed_before, change.confirmed_after)
    confidences = (change.confidence_before, change.confidence_after)
    return [change.memory_id, *confidences, *(to_micros(moment) for moment in times)]


def _confirmation(
    memory_id: str, before: float, after: float, confirmed_before: int, confirmed_after: int
) -> ConfirmationChange:
    shares = all(type(share) in (int, float) and 0 <= share <= 1 for share in (before, after))
    if not (shares and isinstance(memory_id, str)):
        raise ValueError("a confidence in the effects of a change is not between 0 and 1")
    return ConfirmationChange(
        memory_id=memory_id,
        confidence_before=before,
        confidence_after=after,
        confirmed_before=from_micros(confirmed_before),
        confirmed_after=from_micros(confirmed_after),
    )


def dates_json(dates: Iterable[MentionedDate]) -> str:
    """Return *dates* as JSON."""
    return to_json([[mentioned.text, mentioned.day.isoformat()] for mentioned in dates])


def parse_dates(text: str) -> tuple[MentionedDate, ...]:
    """Return the dates in the JSON *text*; raises ValueError or TypeError if it is malformed."""
    if text == "[]":
        return ()
    return tuple(MentionedDate(words, date.fromisoformat(day)) for words, day in json.loads(text))


def parse_flags(text: str) -> tuple[StatementFlag, ...]:
    """Return the flags in the JSON *text*; raises ValueError for an unknown one."""
    return () if text == "[]" else tuple(StatementFlag(flag) for flag in json.loads(text))
