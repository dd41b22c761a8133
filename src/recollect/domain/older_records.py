"""
Read memories and changes that were written before provenance and the kind of a change were fields.

Exports and agent files of older versions have the provenance in `metadata`, and changes without a
kind. Nothing here reads a reason, except to remove the word "held" that stands in the kind now.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from recollect.domain.change import ChangeKind
from recollect.domain.memory import Status
from recollect.domain.provenance import StatementFlag
from recollect.domain.transcript import Voice

_ENGINE = "engine"
_HELD = "held: "


def provenance_in_metadata(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of a `Provenance` in the metadata of a memory, and the other metadata."""
    rest = dict(metadata)
    voice, flags, dates = (rest.pop(name, None) for name in ("voice", "flags", "dates"))
    texts = {name: rest.pop(name, "") for name in ("rule", "session", "author")}
    event_id = rest.pop("event", None)
    values: dict[str, Any] = {
        name: value if isinstance(value, str) else "" for name, value in texts.items()
    }
    values["voice"] = _voice(voice)
    values["flags"] = [flag for flag in _list(flags) if flag in set(StatementFlag)]
    values["event_id"] = event_id if isinstance(event_id, str) and event_id else None
    values["dates"] = [
        [item["text"], item["from"]]
        for item in _list(dates)
        if isinstance(item, Mapping) and _is_date(item.get("from")) and item.get("text")
    ]
    return values, rest


def kind_of_older_change(before: str | None, after: str, by: str) -> ChangeKind:
    """Return what kind of change led from *before* to *after*."""
    if before is None:
        return ChangeKind.CREATED
    if before == after:
        return ChangeKind.HELD
    if before == Status.INBOX and after == Status.ARCHIVED:
        return ChangeKind.MERGED if by == _ENGINE else ChangeKind.REJECTED
    if before == Status.INBOX and after == Status.ACTIVE:
        return ChangeKind.PROMOTED
    if before != Status.ARCHIVED and after == Status.SUPERSEDED:
        return ChangeKind.SUPERSEDED
    if before == Status.ACTIVE and after == Status.CONTRADICTED:
        return ChangeKind.CONTRADICTED
    return ChangeKind.ARCHIVED if after == Status.ARCHIVED else ChangeKind.UNDONE


def upgraded_effects(effects: Mapping[str, Any]) -> dict[str, Any]:
    """Return the effects of an older change under their current names."""
    values = dict(effects)
    original = values.pop("duplicate_of", "")
    values.pop("confidence_before", None)  # without the value after it, it cannot be restored
    return {**values, "caused_by": original} if original else values


def reason_without_kind(reason: str) -> str:
    """Return the reason of an older entry without the word that is its kind now."""
    return reason.removeprefix(_HELD)


def _voice(value: object) -> str | None:
    if not value:
        return None
    return str(value) if value in set(Voice) else Voice.OTHER.value  # unknown: not to be trusted


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_date(value: object) -> bool:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True
