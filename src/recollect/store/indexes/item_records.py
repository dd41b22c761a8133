"""What a search needs to know of the items it finds, each read once: its record, if it passes."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.conversation import MessageFilters, Role
from recollect.domain.memory import UNREVIEWED, MemoryType
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection, value_shape
from recollect.store.search_index import IndexedRecord

FOREVER_AGO = -(1 << 62)
FOREVER_AHEAD = 1 << 62

_PLAIN = value_shape()
# A query decodes hundreds of rows: looking a member up is cheaper than calling its enum.
_SCOPES = {scope.value: scope for scope in Scope}
_TYPES = {kind.value: kind for kind in MemoryType}
_ROLES = {role.value: role for role in Role}


@dataclass(slots=True)  # not frozen: see `IndexedRecord`
class _Item:
    partition_id: int
    has_vectors: bool
    record: IndexedRecord | None  # None if it does not pass the filters


class ItemRecords:
    """The items that one search has met; deleted ones are known to be missing."""

    def __init__(
        self,
        connection: DatabaseConnection,
        kind: ItemKind,
        filters: Filters | MessageFilters | None,
        ids: Collection[str] | None = None,
    ) -> None:
        self._connection = connection
        self._statement, self._values, self._parse = _reader(kind, filters, ids)
        self._items: dict[int, _Item | None] = {}

    def load(self, item_ids: Iterable[int]) -> None:
        """Read those of some items that were not read before."""
        unread = [item_id for item_id in item_ids if item_id not in self._items]
        if not unread:
            return
        self._items |= dict.fromkeys(unread)
        values = dict(self._values) | {"item_ids": unread}
        rows = self._connection.fetch_all(self._statement, values, _PLAIN)
        for item_id, partition_id, has_vectors, *columns in rows:
            record = None if columns[0] is None else self._parse(item_id, columns)
            self._items[item_id] = _Item(partition_id, bool(has_vectors), record)

    def record(self, item_id: int) -> IndexedRecord | None:
        """Return the record of an item; None if it was deleted or does not pass the filters."""
        item = self._items[item_id]
        return None if item is None else item.record

    def without_vectors(self, item_ids: Iterable[int], partition_ids: Collection[int]) -> list[int]:
        """Return which of some items have no vectors in those partitions, or were deleted."""
        ids = list(item_ids)
        self.load(ids)
        items = ((item_id, self._items[item_id]) for item_id in ids)
        return [
            item_id
            for item_id, item in items
            if item is None or not item.has_vectors or item.partition_id not in partition_ids
        ]


def memory_filter_values(filters: Filters) -> dict[str, Any]:
    """Return *filters* as query parameters."""
    values = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in vars(filters).items()
    }
    return values | time_range_values(filters)


def time_range_values(filters: Filters | MessageFilters) -> dict[str, int]:
    """Return the time range of *filters* as query parameters."""
    return {
        "since": _micros_or(filters.since, FOREVER_AGO),
        "until": _micros_or(filters.until, FOREVER_AHEAD),
    }


def _reader(
    kind: ItemKind, filters: Filters | MessageFilters | None, ids: Collection[str] | None
) -> tuple[str, Mapping[str, Any], Callable[[int, Sequence[Any]], IndexedRecord]]:
    """Return the statement, its parameters, and the function that builds a record."""
    match kind, filters:
        case ItemKind.MEMORY, Filters():
            return "search_index.memory_records", memory_filter_values(filters), _memory_parser()
        case ItemKind.MESSAGE, MessageFilters():
            return "search_index.message_records", _message_filter_values(filters), _message
        case ((ItemKind.BLOCK | ItemKind.FILE | ItemKind.DOCUMENT), None):
            values = {"ids": None if ids is None else sorted(ids)}
            return "search_index.text_records", values, _text
    raise TypeError(f"a search of {kind} items cannot have {type(filters).__name__}")


def _memory_parser() -> Callable[[int, Sequence[Any]], IndexedRecord]:
    owners: dict[tuple[str, str], Owner] = {}  # shared: hundreds of rows have few owners

    def parse(item_id: int, columns: Sequence[Any]) -> IndexedRecord:
        memory_id, scope, owner_id, kind, confidence, at, session_id, status, voice = columns
        owner = owners.get((scope, owner_id))
        if owner is None:
            owner = owners[scope, owner_id] = Owner(_SCOPES[scope], owner_id)
        return IndexedRecord(
            memory_id,
            item_id,
            owner,
            from_micros(at),
            session_id,
            _TYPES[kind],
            confidence,
            is_reviewed=status not in UNREVIEWED,
            is_typed=voice == Voice.USER,
        )

    return parse


def _message(item_id: int, columns: Sequence[Any]) -> IndexedRecord:
    message_id, created_at, role = columns
    return IndexedRecord(message_id, item_id, at=from_micros(created_at), role=_ROLES[role])


def _text(item_id: int, columns: Sequence[Any]) -> IndexedRecord:
    return IndexedRecord(columns[0], item_id)


def _message_filter_values(filters: MessageFilters) -> dict[str, Any]:
    return {
        "roles": sorted(filters.roles),
        "conversation_id": filters.conversation_id,
        "besides": filters.besides_conversation,
        "project_id": filters.project_id,
        "call": json.dumps(filters.besides_calls_of) if filters.besides_calls_of else "",
        **time_range_values(filters),
    }


def _micros_or(moment: datetime | None, default: int) -> int:
    return default if moment is None else to_micros(moment)
