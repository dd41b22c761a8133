"""What a search needs to know of the items it finds, each read once: its record, if it passes."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.clock import from_micros, to_micros
from recollect.domain.conversation import MessageFilters, Role
from recollect.domain.document import passes_filter
from recollect.domain.memory import UNREVIEWED, MemoryType
from recollect.domain.retrieval import Filters
from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.domain.transcript import Voice
from recollect.store.column_values import to_columns
from recollect.store.database_connection import DatabaseConnection, value_shape
from recollect.store.search_index import IndexedRecord

FOREVER_AGO = -(1 << 62)
FOREVER_AHEAD = 1 << 62

_PLAIN = value_shape()
# A query decodes hundreds of rows: looking a member up is cheaper than calling its enum.
_SCOPES = {scope.value: scope for scope in Scope}
_TYPES = {kind.value: kind for kind in MemoryType}
_ROLES = {role.value: role for role in Role}


class ItemRecords:
    """The items that one search has met; deleted ones are known to be missing."""

    def __init__(
        self,
        connection: DatabaseConnection,
        kind: ItemKind,
        filters: Filters | MessageFilters | None,
        ids: Collection[str] | None = None,
        *,
        with_preceding: bool = False,
    ) -> None:
        self._connection = connection
        self._kind = kind
        self._statement, values, self._parse = _reader(kind, filters, ids)
        self._values = to_columns(values)  # once for all calls of `load`
        if kind is ItemKind.MESSAGE:
            self._values["preceding"] = with_preceding
        self._records: dict[int, IndexedRecord | None] = {}  # None: deleted, or does not pass
        self._partitions: dict[int, int] = {}  # of the items that have vectors
        self._preceding: dict[int, tuple[int, str]] = {}

    def load(self, item_ids: Iterable[int]) -> None:
        """Read those of some items that were not read before."""
        records = self._records
        unread = [item_id for item_id in item_ids if item_id not in records]
        if not unread:
            return
        records |= dict.fromkeys(unread)
        values = {**self._values, "item_ids": unread}
        for row in self._connection.fetch_all(self._statement, values, _PLAIN):
            item_id, partition_id, has_vectors, record_id = row[:4]
            if has_vectors:
                self._partitions[item_id] = partition_id
            if record_id is not None:
                record = records[item_id] = self._parse(row)
                if record and self._kind is ItemKind.MESSAGE and row[-1] is not None:
                    self._preceding[item_id] = row[-2:]

    def record(self, item_id: int) -> IndexedRecord | None:
        """Return the record of an item; None if it was deleted or does not pass the filters."""
        return self._records[item_id]

    def passing(self, item_ids: Iterable[int]) -> dict[int, IndexedRecord]:
        """Return the records of those of some items that pass the filters."""
        self.load(item_ids := list(item_ids))
        rows = ((item_id, self._records[item_id]) for item_id in item_ids)
        return {item_id: record for item_id, record in rows if record is not None}

    def preceding(self, item_ids: Iterable[int]) -> Mapping[int, tuple[int, str]]:
        """Return the item written just before each of some items in its session, and its id."""
        if self._kind is ItemKind.MESSAGE:
            return self._preceding  # read with the records, by a search that asked for them
        values = {"item_ids": list(item_ids)}
        rows = self._connection.fetch_all("search_index.memory_preceding", values, _PLAIN)
        return {item_id: (before, before_id) for item_id, before, before_id in rows}

    def without_vectors(self, item_ids: Iterable[int], partition_ids: Collection[int]) -> list[int]:
        """Return which of some items have no vectors in those partitions, or were deleted."""
        self.load(item_ids := list(item_ids))
        partitions = self._partitions
        return [id_ for id_ in item_ids if partitions.get(id_) not in partition_ids]


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
) -> tuple[str, Mapping[str, Any], Callable[[Sequence[Any]], IndexedRecord | None]]:
    """Return the statement, its parameters, and the function that builds a record."""
    match kind, filters:
        case ItemKind.MEMORY, Filters():
            return "search_index.memory_records", memory_filter_values(filters), _memory_parser()
        case ItemKind.MESSAGE, MessageFilters():
            return (
                "search_index.message_records",
                _message_filter_values(filters),
                _message_parser(filters),
            )
        case ((ItemKind.BLOCK | ItemKind.FILE | ItemKind.DOCUMENT), None):
            values = {"ids": None if ids is None else sorted(ids)}
            return "search_index.text_records", values, _text
    raise TypeError(f"a search of {kind} items cannot have {type(filters).__name__}")


def _memory_parser() -> Callable[[Sequence[Any]], IndexedRecord]:
    owners: dict[tuple[str, str], Owner] = {}  # shared: hundreds of rows have few owners

    def parse(row: Sequence[Any]) -> IndexedRecord:
        item_id, _, _, memory_id, scope, owner_id, kind, *others = row
        confidence, at, session_id, status, voice, is_of_past = others
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
            is_of_past=bool(is_of_past),
        )

    return parse


def _message_parser(filters: MessageFilters) -> Callable[[Sequence[Any]], IndexedRecord | None]:
    conditions = filters.metadata

    def parse(row: Sequence[Any]) -> IndexedRecord | None:
        item_id, _, _, message_id, created_at, role, metadata, _, _ = row
        if conditions and not passes_filter(json.loads(metadata), conditions):
            return None
        return IndexedRecord(message_id, item_id, at=from_micros(created_at), role=_ROLES[role])

    return parse


def _text(row: Sequence[Any]) -> IndexedRecord:
    return IndexedRecord(row[3], row[0])


def _message_filter_values(filters: MessageFilters) -> dict[str, Any]:
    return {
        "roles": sorted(filters.roles),
        "conversation_id": filters.conversation_id,
        "besides": filters.besides_conversation,
        "project_id": filters.project_id,
        "call": json.dumps(filters.besides_calls_of) if filters.besides_calls_of else "",
        "with_metadata": bool(filters.metadata),
        **time_range_values(filters),
    }


def _micros_or(moment: datetime | None, default: int) -> int:
    return default if moment is None else to_micros(moment)
