"""
How the parts of a memory exchange correspond to records here: ids, times, sources and spans.

Used by the import and the export of exchanges. Writes nothing.
"""

import hashlib
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from recollect.clock import uuid7_text
from recollect.domain.memory import MemoryType
from recollect.domain.source import Source, SourceKind
from recollect.store.protocol import Tables
from recollect.wire.memory_exchange import (
    FORMAT_VERSION,
    ExchangeManifest,
    ExchangeObject,
    ExchangeRole,
    LifecycleKind,
)

METADATA = "exchange"  # the entry of a record's metadata that holds what only the origin knows
EXTENSION = "recollect.memory"  # what a memory of ours has besides its text
SUPPORTED_EXTENSIONS = frozenset({EXTENSION})
ENFORCED_ACTIONS = frozenset({"read", "write", "derive", "export", "delete", "*"})
SOURCE_KINDS = {
    ExchangeRole.TRANSCRIPT: SourceKind.CONVERSATION,
    ExchangeRole.SOURCE_ARTIFACT: SourceKind.DOCUMENT,
}
STATE_NAMES = {
    LifecycleKind.RETRACT: "retracted",
    LifecycleKind.INVALIDATE: "invalidated",
    LifecycleKind.EXPIRE: "expired",
}
_SPAN = re.compile(r"(?P<revision>.+)#(?:turn:(?P<turn>\d+)|chars:(?P<start>\d+)-(?P<end>\d+))")
_KEPT_FIELDS = (
    *("ref", "role", "scope", "policy", "derivation", "predecessor", "recorded_at"),
    *("applies_from", "applies_until", "expires_at", "extensions"),
)

Span = tuple[Source, int, int]


def refusal(manifest: ExchangeManifest) -> str:
    """Return why an exchange is not read at all, '' if it is."""
    name, _, version = manifest.format_version.rpartition("-")
    our_name, _, our_version = FORMAT_VERSION.rpartition("-")
    if name != our_name or version.split(".")[0] != our_version.split(".")[0]:
        return f"format {manifest.format_version} is not {FORMAT_VERSION}"
    missing = {*manifest.required_extensions} - SUPPORTED_EXTENSIONS
    missing |= {profile.name for profile in manifest.profiles if profile.required}
    return f"required extensions are not supported: {', '.join(sorted(missing))}" * bool(missing)


def local_id(revision_id: str) -> str:
    """Return the id by which a revision is known here: its own, if it is an id of Recollect."""
    with suppress(ValueError):
        if str(uuid.UUID(revision_id)) == revision_id:
            return revision_id
    digest = hashlib.sha256(b"exchange revision\0" + revision_id.encode()).digest()
    return uuid7_text(0, int.from_bytes(digest[:8]))


def stored_text(tables: Tables, record_id: str) -> str | None:
    """Return the text of a memory or a source, None if neither has this id."""
    if (memory := tables.memories.get(record_id)) is not None:
        return memory.content
    source = tables.sources.get(record_id)
    return None if source is None else source.content


def quoted_spans(tables: Tables, item: ExchangeObject) -> Iterator[Span]:
    """Yield the spans of stored sources that an object was derived from."""
    if item.derivation is None:
        return
    named = set()
    for span in item.derivation.spans:
        match = _SPAN.fullmatch(span)
        source = tables.sources.get(local_id(match["revision"])) if match else None
        if match is None or source is None:
            continue
        start, end = _turn(source, int(match["turn"])) if match["turn"] else _chars(source, match)
        if start < end:
            named.add(match["revision"])
            yield source, start, end
    for revision in item.derivation.used:
        source = None if revision in named else tables.sources.get(local_id(revision))
        if source is not None and source.content:
            yield source, 0, len(source.content)


def _turn(source: Source, number: int) -> tuple[int, int]:
    """Return the span of a line of a transcript."""
    start = 0
    for at, line in enumerate(source.content.splitlines(keepends=True)):
        if at == number:
            return start, start + len(line.rstrip("\n"))
        start += len(line)
    return 0, 0


def _chars(source: Source, match: re.Match[str]) -> tuple[int, int]:
    return int(match["start"]), min(int(match["end"]), len(source.content))


def origin_fields(item: ExchangeObject, *, keeps_identity: bool) -> dict[str, Any]:
    """Return what an object says that a record here has no column for."""
    fields = item.model_dump(mode="json", include=set(_KEPT_FIELDS), exclude_none=True)
    if keeps_identity:
        return {"revision_id": item.revision_id, **fields}
    inputs = {"activity": "re_derive", "used": [item.revision_id], "agent": "recollect"}
    return {"role": item.role.value, "derivation": inputs}


def own_fields(item: ExchangeObject) -> dict[str, Any]:
    """Return the fields of a memory that another store of Recollect wrote."""
    extension = item.extensions.get(EXTENSION)
    fields = extension if isinstance(extension, dict) else {}
    kind = _text(fields.get("type"))
    is_known = kind in set(MemoryType)
    default = MemoryType.PROJECT if item.scope.context.get("project") else MemoryType.PROFILE
    tags = fields.get("tags")
    return {
        "type": MemoryType(kind) if is_known else default,
        "title": _text(fields.get("title")),
        "rationale": _text(fields.get("rationale")),
        "tags": tuple(sorted(tag for tag in tags if isinstance(tag, str)))
        if isinstance(tags, list)
        else (),
    }


def parse_time(text: str | None) -> datetime | None:
    """Return a time of the exchange, None if it has none or is not one."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def is_past(text: str | None, now: datetime) -> bool:
    """Return whether a time of the exchange is over."""
    moment = parse_time(text)
    return moment is not None and moment <= now


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
