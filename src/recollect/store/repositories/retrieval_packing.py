"""
Pack a logged retrieval into one small row, and unpack it.

A row has the query as text, the ids of its results as bytes, and the rest (scores, explanations,
outcomes, notes) compressed. Most of that text comes from a few sentence patterns, so compression
starts from a dictionary of them: a search with ten results takes about 500 bytes. The ids are not
compressed, so that the retrievals that returned a memory are found without unpacking any.

This module knows nothing of SQL. The format never changes in place: a new one gets a new number.
"""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from recollect.clock import from_micros, to_micros
from recollect.domain.retrieval import LoggedHit, LoggedItem, Parts, Retrieval
from recollect.errors import StoreDamaged
from recollect.lazy_dataclass import dataclass

RETURNED = "returned"

_FORMAT = b"\x01"
_JSON_FORMAT = b"\x00"  # written by the migration, which cannot compress
_UUID_BYTES = 16
_SCALE = 10_000  # scores are stored with four decimals
_ABSENT = -(1 << 31)
_HIT_FIELDS = tuple(LoggedHit.__dataclass_fields__)
_ITEM_FIELDS = tuple(LoggedItem.__dataclass_fields__)
_PARTS = sorted(Parts.__dataclass_fields__)
# Stored rows cannot be read with another dictionary: add a format instead of changing it.
_DICTIONARY = (
    '["block","message","summary","pin","file","skill","conversation_id":"everywhere":true,"types":'
    '["decision"],"scopes":["project"],"statuses":["active","contradicted"],"tags":["'
    "dropped: below 35% of the bestdropped: the budget is used up"
    "meaning was not compared: embeddings are switched offThe newest first: no question was asked."
    "score 0.; observed at a later time; observed 2 years ago; observed 3 months ago"
    "; in conflict with 1 other; confidence 0.; in the requested time rangeis linked"
    "of another project, linked to this oneof another project, shown because it clearly answers "
    "the question; session memory; agent memory; repo memory; global memory; observed 12 days ago."
    " and 2 more words and its meaning is somewhat related (similarity 0. and its meaning is very "
    "close (similarity 0.; project memory; observed today.tokens: blocks , decisions , facts , "
    "messages closest: , relevance 0., threshold 0.tokens counted as o200k_base"
    ' candidates above the threshold{"limit":10,"project":" and its meaning is close (similarity 0.'
    '; project memory; observed 1 day ago.","Matches “”, “'
).encode()


@dataclass(frozen=True, kw_only=True)
class PackedRetrieval:
    """A retrieval as one row: `returned` and `others` are the ids of its results."""

    id: str
    verb: str
    query: str
    agent_id: str | None
    conversation_id: str | None
    returned: bytes
    others: bytes
    content: bytes

    @property
    def size(self) -> int:
        """The bytes of the row, about."""
        texts = (self.id, self.verb, self.query, self.agent_id or "", self.conversation_id or "")
        sizes = (self.returned, self.others, self.content)
        return sum(len(text.encode()) for text in texts) + sum(map(len, sizes)) + 40


def pack(retrieval: Retrieval) -> PackedRetrieval:
    """Return *retrieval* as a row."""
    hits, items = retrieval.hits, retrieval.context
    asking = dict(retrieval.asking)
    agent_id, conversation_id = asking.pop("agent_id", None), asking.pop("conversation_id", None)
    ranks = [hit.rank for hit in hits]
    names = sorted({name for hit in hits for name in hit.parts})
    fields = [
        to_micros(retrieval.asked_at),
        asking,
        retrieval.notes,
        [hit.explanation for hit in hits],
        _shorten([hit.outcome for hit in hits], RETURNED),
        [] if ranks == list(range(1, len(hits) + 1)) else ranks,
        None if names == _PARTS else names,
        [item.kind for item in items],
        _shorten([item.tokens for item in items], 0),
        _shorten([item.outcome for item in items], RETURNED),
    ]
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    compressor = zlib.compressobj(9, zdict=_DICTIONARY)
    body = compressor.compress(text + b"\0" + _pack_scores(hits, names)) + compressor.flush()
    dropped = [hit.memory_id for hit in hits if hit.outcome != RETURNED]
    return PackedRetrieval(
        id=retrieval.id,
        verb=retrieval.verb,
        query=retrieval.query,
        agent_id=agent_id,
        conversation_id=conversation_id,
        returned=pack_ids([hit.memory_id for hit in hits if hit.outcome == RETURNED]),
        others=pack_ids([*dropped, *(item.item_id for item in items)]),
        content=_FORMAT + body,
    )


def unpack(row: PackedRetrieval) -> Retrieval:
    """Return the retrieval of a row; raises `StoreDamaged` if the row cannot be read."""
    try:
        return _unpack(row)
    except (ValueError, TypeError, StopIteration, zlib.error, struct.error) as error:
        raise StoreDamaged(
            f"the logged retrieval {row.id} cannot be read ({error}); the memories are not affected"
        ) from error


def _unpack(row: PackedRetrieval) -> Retrieval:
    if row.content[:1] == _JSON_FORMAT:
        return _unpack_json(row)
    if row.content[:1] != _FORMAT:
        raise ValueError("unknown format")
    decompressor = zlib.decompressobj(zdict=_DICTIONARY)
    body = decompressor.decompress(row.content[1:]) + decompressor.flush()
    if not decompressor.eof:
        raise ValueError("it ends too early")
    text, _, scores = body.partition(b"\0")
    asked_at, asking, notes, explanations, outcomes, ranks, names, kinds, tokens, item_outcomes = (
        json.loads(text)
    )
    count = len(explanations)
    outcomes = outcomes or [RETURNED] * count
    returned, others = iter(unpack_ids(row.returned)), iter(unpack_ids(row.others))
    hits = [
        LoggedHit(
            rank=rank,
            memory_id=next(returned if outcome == RETURNED else others),
            score=score,
            parts=parts,
            explanation=explanation,
            outcome=outcome,
        )
        for rank, outcome, explanation, (score, parts) in zip(
            ranks or range(1, count + 1),
            outcomes,
            explanations,
            _unpack_scores(scores, count, _PARTS if names is None else names),
            strict=True,
        )
    ]
    items = [
        LoggedItem(kind=kind, item_id=item_id, tokens=size, outcome=outcome)
        for kind, item_id, size, outcome in zip(
            kinds,
            others,
            tokens or [0] * len(kinds),
            item_outcomes or [RETURNED] * len(kinds),
            strict=True,
        )
    ]
    return _retrieval(row, asked_at, asking, notes, hits, items)


def _unpack_json(row: PackedRetrieval) -> Retrieval:
    asked_at, asking, notes, hit_rows, item_rows = json.loads(row.content[1:])
    hits = [LoggedHit(**dict(zip(_HIT_FIELDS, values, strict=True))) for values in hit_rows]
    items = [LoggedItem(**dict(zip(_ITEM_FIELDS, values, strict=True))) for values in item_rows]
    return _retrieval(row, asked_at, asking, notes, hits, items)


def _retrieval(
    row: PackedRetrieval,
    asked_at: int,
    asking: Mapping[str, Any],
    notes: Sequence[str],
    hits: Sequence[LoggedHit],
    items: Sequence[LoggedItem],
) -> Retrieval:
    ids = {"agent_id": row.agent_id, "conversation_id": row.conversation_id}
    return Retrieval(
        id=row.id,
        verb=row.verb,
        query=row.query,
        asking={**asking, **{name: value for name, value in ids.items() if value is not None}},
        notes=tuple(notes),
        asked_at=from_micros(asked_at),
        hits=tuple(hits),
        context=tuple(items),
    )


def pack_ids(ids: Sequence[str]) -> bytes:
    """Return *ids* as bytes: 16 for each if all are UUIDs, else lines of text."""
    try:
        uuids = [UUID(text) for text in ids]
    except ValueError:
        uuids = []
    if [str(uuid) for uuid in uuids] == list(ids):
        return b"".join(uuid.bytes for uuid in uuids)
    text = "".join(f"\n{text}\n" for text in ids).encode()
    return text if len(text) % _UUID_BYTES else text + b"\n"


def unpack_ids(data: bytes) -> list[str]:
    """Return the ids that `pack_ids` packed."""
    if len(data) % _UUID_BYTES:
        return [line.decode() for line in data.split(b"\n") if line]
    return [str(UUID(bytes=data[at : at + 16])) for at in range(0, len(data), _UUID_BYTES)]


def _shorten(values: list[Any], default: Any) -> list[Any]:
    """Return *values*, or an empty list if each of them is *default*."""
    return [] if all(value == default for value in values) else values


def _pack_scores(hits: Sequence[LoggedHit], names: Sequence[str]) -> bytes:
    """Return score and parts of the hits, column by column, with equal bytes side by side."""
    columns = [[hit.score for hit in hits]]
    columns += [[hit.parts.get(name) for hit in hits] for name in names]  # type: ignore[misc]
    values = [value for column in columns for value in column]
    data = struct.pack(f"<{len(values)}i", *(_to_fixed(value) for value in values))
    return b"".join(data[byte::4] for byte in range(4))


def _unpack_scores(
    data: bytes, count: int, names: Sequence[str]
) -> list[tuple[float, dict[str, float]]]:
    size = count * (len(names) + 1)
    if len(data) != 4 * size:
        raise ValueError("a score is missing")
    planes = [data[byte * size : (byte + 1) * size] for byte in range(4)]
    values = struct.unpack(
        f"<{size}i", bytes(value for four in zip(*planes, strict=True) for value in four)
    )
    return [
        (
            values[at] / _SCALE,
            {
                name: value / _SCALE
                for number, name in enumerate(names, start=1)
                if (value := values[number * count + at]) != _ABSENT
            },
        )
        for at in range(count)
    ]


def _to_fixed(value: float | None) -> int:
    if value is None:
        return _ABSENT
    return max(-(1 << 31) + 1, min(round(value * _SCALE), (1 << 31) - 1))
