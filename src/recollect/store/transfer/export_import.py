"""
Export every canonical row, and import them into a store.

A row is `{"table": name, column: value, …}`. Rows are exported in an order in which they can be
imported: parents before children, evidence before its memory. Memories are in the order in which
they were written, so that an importing store breaks ties as the first one did. Derived tables are
not exported.

A *synced* export has only the tables and columns that sync sends (record_kinds.py), memories by
their id and columns by their name, so that devices that have synced write the same bytes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.clock import Clock, SystemClock, from_micros
from recollect.domain.job import JobKind
from recollect.domain.scope import ItemKind
from recollect.errors import ImportRefused
from recollect.store.row_conversion import parse_dates, parse_effects, parse_flags, to_json
from recollect.store.transfer import retrieval_export
from recollect.store.transfer.record_kinds import KINDS, OMITTED, SYNCED_TABLES
from recollect.store.transfer.table_rows import TableRows
from recollect.text.fingerprint import sha256_hex

# In the order of importing. Constants only: these names are put into SQL.
_TABLES_TEXT = """
tombstones
projects project_links repos agents blocks agent_blocks block_history block_proposals conversations
summaries messages pins runs run_calls sources ingestion_events jobs model_calls evidence memories
sleeptime_runs sleeptime_edits
unsettled memory_tags memory_changes memory_links views skills agent_skills files agent_files
documents
retrievals
"""
TABLES = tuple(_TABLES_TEXT.split())

# A row with the same natural key is the same record under another id: the imported id is mapped to
# ours. A key whose last column is empty does not count: many repos may have no remote.
_NATURAL_KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "projects": (("identity",),),
    "repos": (("remote",), ("project_id", "name")),
    "agents": (("name",),),
    "blocks": (("scope", "label", "owner_id"),),
    "agent_blocks": (("agent_id", "label"),),
    "conversations": (("agent_id", "key"),),
    "skills": (("project_id", "origin", "path", "sha256", "name"),),
    "files": (("project_id", "path"),),
    "documents": (("namespace", "key"),),
    "sources": (("sha256", "kind"),),
    "memory_links": (("from_id", "relation", "to_kind", "to_id"),),
}

# The JSON columns that readers rely on: objects, and lists.
_JSON_OBJECTS = """
agents.metadata blocks.metadata conversations.metadata messages.metadata skills.metadata
sources.metadata memories.metadata memory_changes.effects views.asking
jobs.payload
"""
_JSON_LISTS = """
messages.parts messages.tool_calls sources.redactions memories.alternatives memories.redactions
memories.flags memories.dates
"""
JSON_TYPES: dict[str, type] = dict.fromkeys(_JSON_OBJECTS.split(), dict)
JSON_TYPES |= dict.fromkeys(_JSON_LISTS.split(), list)
_ITEM_KINDS: Mapping[str, ItemKind] = {
    "memories": ItemKind.MEMORY,
    "messages": ItemKind.MESSAGE,
    "blocks": ItemKind.BLOCK,
    "files": ItemKind.FILE,
    "documents": ItemKind.DOCUMENT,
}
_COMPARED_TABLES = frozenset({"agents", "blocks", "skills", "files", "documents"})
# What a store counts for itself; another number is no difference.
_COUNTERS = frozenset({("conversations", "revision")})
_OWNER_COLUMNS = ("scope", "project_id", "repo_id", "agent_id", "session_id")

_PARENT_COLUMN: Mapping[str, str] = {
    "memory_tags": "memory_id",
    "memory_changes": "memory_id",
    "block_history": "block_id",
    "block_proposals": "block_id",
}

_CONVERSATION_COLUMN: Mapping[str, str] = {
    "conversations": "id",
    "messages": "conversation_id",
    "summaries": "conversation_id",
    "pins": "conversation_id",
    "runs": "conversation_id",
    "run_calls": "conversation_id",
    "sleeptime_runs": "conversation_id",
}

# Tables of which sync sends only the rows that a column of another table names.
_NAMING_TABLES: Mapping[str, tuple[str, str]] = {
    table: (kind, column)
    for kind, layout in KINDS.items()
    for table, column in layout.shared_parts.items()
}

# References that may be empty, but without which the row is not shown to anybody.
_OWNED_BY = frozenset({("conversations", "agent_id"), ("memories", "agent_id")})

# The tombstones of sources that a memory here still quotes, by id or as the same material. The
# memory needs its quote, so such a tombstone does not count: it is not kept, and not exported.
TOMBSTONES_OF_QUOTED_SOURCES = """SELECT t.id FROM tombstones t WHERE t.kind = 'source' AND (
    EXISTS (SELECT 1 FROM evidence e WHERE e.source_id = t.id)
    OR EXISTS (SELECT 1 FROM sources s JOIN evidence e ON e.source_id = s.id
                WHERE t.sha256 <> '' AND s.sha256 = t.sha256 AND s.captured_at <= t.deleted_at))"""

MAX_CONFLICTS = 1_000  # reported of one import
RECORDS_AT_ONCE = 50  # then the budget of the step is asked

ImportedRow = dict[str, Any]


def row_counts(rows: TableRows) -> dict[str, int]:
    """Return the number of rows of each canonical table."""
    return {name: next(rows.select(f"SELECT count(*) FROM {name}"))[0] for name in TABLES}


def export_rows(rows: TableRows, *, synced: bool = False) -> Iterator[Mapping[str, Any]]:
    """Yield every canonical row; if *synced*, only what sync sends."""
    for name in TABLES:
        if synced and name not in SYNCED_TABLES:
            continue
        if name == "retrievals":
            yield from retrieval_export.export_retrievals(rows)
            continue
        columns = rows.columns(name)
        if synced:
            columns = sorted(set(columns) - OMITTED.get(name, frozenset()))
        listed = ", ".join(f't."{column}"' for column in columns)
        keys = ", ".join(f't."{column}"' for column in rows.primary_key(name))
        if name == "memories" and not synced:
            origin, keys = "memories t LEFT JOIN items i ON i.id = t.id", "i.seq NULLS FIRST, t.id"
        else:
            origin = f"{name} t"
        # A conversation that is being deleted is gone for everybody, and for exports too.
        column = _CONVERSATION_COLUMN.get(name)
        hidden = "SELECT id FROM hidden_conversations"
        where = f'WHERE t."{column}" NOT IN ({hidden})' if column else ""
        if name == "tombstones":
            where = f"WHERE t.kind <> 'source' OR t.id NOT IN ({TOMBSTONES_OF_QUOTED_SOURCES})"
        if synced and name in _NAMING_TABLES:
            naming, column = _NAMING_TABLES[name]
            where = f'WHERE t.id IN (SELECT "{column}" FROM {naming})'
        for row in rows.select(f"SELECT {listed} FROM {origin} {where} ORDER BY {keys}"):
            yield {"table": name, **dict(zip(columns, row, strict=True))}


def delete_tombstones_of_quoted_sources(rows: TableRows) -> None:
    """Delete the tombstones of sources that a memory here still quotes."""
    ids = f"SELECT id FROM ({TOMBSTONES_OF_QUOTED_SOURCES}) quoted"
    rows.execute(f"DELETE FROM tombstones WHERE kind = 'source' AND id IN ({ids})")


class RowImporter:
    """
    The state of one import: rows added, rows that exist, and the ids that were mapped.

    Rows that have a tombstone in the database are left out. Tombstones among the rows are stored,
    and have no effect on the rows after them.
    """

    def __init__(self, rows: TableRows, clock: Clock | None = None) -> None:
        self.rows = rows
        self.clock = clock or SystemClock()
        self.now = self.clock.now()
        self._columns = {name: rows.columns(name) for name in TABLES}
        self._keys = {name: rows.primary_key(name) for name in TABLES}
        self._ids: dict[str, str] = {}
        self.added: dict[str, int] = {}
        self.unchanged = 0
        self.conflicts: list[str] = []
        self._new_items: dict[ItemKind, list[str]] = {}
        self._unchanged_ids: set[str] = set()
        self.merged: dict[str, int] = {}
        self._rivals: list[tuple[str, str]] = []
        self._replacements: list[tuple[str, str]] = []
        self.replacing_ids: set[str] = set()  # memories that replace others by an added link
        self._new_conversation_ids: set[str] = set()
        self._grown_conversation_ids: set[str] = set()
        self._required = {name: rows.required_columns(name) for name in TABLES}
        self._deleted_ids: set[str] = set()
        self._deleted_hashes: dict[str, int] = {}
        for deleted_id, sha256, at in rows.select("SELECT id, sha256, deleted_at FROM tombstones"):
            self._deleted_ids.add(deleted_id)
            if sha256:
                self._deleted_hashes[sha256] = at

    def take_rivals(self) -> list[tuple[str, str]]:
        """Return each new memory that became contradicted, with the active one of its fact."""
        rivals, self._rivals = self._rivals, []
        return rivals

    def take_replacements(self) -> list[tuple[str, str]]:
        """Return each memory that replaces another one by an added link, with the replaced one."""
        replacements, self._replacements = self._replacements, []
        return replacements

    def take_grown_conversations(self) -> set[str]:
        """Return the conversations that were here, and to which messages were added."""
        grown, self._grown_conversation_ids = self._grown_conversation_ids, set()
        return grown - self._new_conversation_ids

    def leave_out(self, record_id: str) -> None:
        """Leave out a record, and the rows that refer to it."""
        self._deleted_ids.add(record_id)

    def count_merged(self, table: str) -> None:
        """Count a record that was here and changed."""
        self.merged[table] = self.merged.get(table, 0) + 1

    def is_deleted(self, row: ImportedRow) -> bool:
        """Return whether a person deleted the record of *row*, or its source, before."""
        if row.get("id") in self._deleted_ids:
            return True
        deleted_at = self._deleted_hashes.get(row.get("sha256") or "")
        if row.get("table") != "sources" or deleted_at is None or row["captured_at"] > deleted_at:
            return False
        self._deleted_ids.add(row["id"])
        return True

    def take_new_items(self) -> Mapping[ItemKind, Sequence[str]]:
        """Return the ids of the added records that are to be indexed, each once."""
        items, self._new_items = self._new_items, {}
        return items

    def add(self, row: ImportedRow) -> bool:
        """Add a row unless it exists; return whether it was added."""
        table = row.pop("table", None)
        if table in retrieval_export.OLD_TABLES:
            return False
        if table == "retrievals":
            return self._add_retrieval(row)
        if table not in self._columns:
            raise ImportRefused(
                f"the import has rows of an unknown table {table!r}; it may come from a newer "
                "Recollect: upgrade with pip install -U recollect"
            )
        unknown = row.keys() - set(self._columns[table])
        if unknown:
            raise ImportRefused(
                f"the import has unknown columns {sorted(unknown)} in {table}; it may come from a "
                "newer Recollect: upgrade with pip install -U recollect"
            )
        for column, value in row.items():
            if column.endswith("_id") and isinstance(value, str):
                row[column] = self._ids.get(value, value)
        if table == "tombstones":
            return self._add_deletion(row)
        if self._refers_to_deleted(table, row):
            return False
        if table == "jobs":
            row["payload"] = self._map_payload_ids(row["payload"])
        parent_id = row.get(_PARENT_COLUMN.get(table, ""))
        if parent_id in self._unchanged_ids:
            return False  # the imported history does not fit the record that stays as it is
        if self._exists(table, row):
            return False
        if table == "agent_skills" and self._has_skill_of_that_name(row):
            return False
        check_row(table, row)
        if table == "memories":
            self._avoid_second_active_fact(row)
        if table == "messages":
            self._avoid_used_position(row)
        if table == "runs":
            self._avoid_second_open_run(row)
        if table == "sleeptime_runs":
            self._avoid_second_open_sleeptime(row)
        if table == "memory_links" and row["relation"] == "supersedes":
            self._replacements.append((row["from_id"], row["to_id"]))
            self.replacing_ids.add(row["from_id"])
        if table == "conversations":
            self._new_conversation_ids.add(row["id"])
        if table == "messages":
            self._grown_conversation_ids.add(row["conversation_id"])
        if table in _ITEM_KINDS:
            self._new_items.setdefault(_ITEM_KINDS[table], []).append(row["id"])
        self.rows.insert(table, row)
        self.added[table] = self.added.get(table, 0) + 1
        return True

    def _add_deletion(self, row: ImportedRow) -> bool:
        """Store what was deleted on the other machine; the first record of it counts."""
        if self.rows.find("tombstones", self._keys["tombstones"], row) is not None:
            self.unchanged += 1
            return False
        self.rows.insert("tombstones", row)
        return True

    def _refers_to_deleted(self, table: str, row: ImportedRow) -> bool:
        """Return whether *row* belongs to what a person deleted; remove references that may be."""
        if self.is_deleted({"table": table, **row}):
            self.unchanged += 1
            return True
        for column, value in row.items():
            if column.endswith("_id") and value in self._deleted_ids:
                if column in self._required[table] or (table, column) in _OWNED_BY:
                    self.unchanged += 1
                    if "id" in row:
                        self.leave_out(row["id"])  # and what belongs to this row in turn
                    return True
                row[column] = None
        return False

    def report(self, conflict: str) -> None:
        """Add a line for the person who imports."""
        if len(self.conflicts) == MAX_CONFLICTS:
            self.conflicts.append("and more conflicts, which are not listed")
        elif len(self.conflicts) < MAX_CONFLICTS:
            self.conflicts.append(conflict)

    def _add_retrieval(self, row: ImportedRow) -> bool:
        if not retrieval_export.import_retrieval(self.rows, row, self._ids):
            self.unchanged += 1
            return False
        self.added["retrievals"] = self.added.get("retrievals", 0) + 1
        return True

    def _map_payload_ids(self, payload: str) -> str:
        """Return the payload of a job with mapped ids."""
        fields = json.loads(payload)
        if not isinstance(fields, dict):
            return payload  # refused by check_row
        for name, value in fields.items():
            if name.endswith("_id") and isinstance(value, str):
                fields[name] = self._ids.get(value, value)
        return to_json(fields)

    def _exists(self, table: str, row: ImportedRow) -> bool:
        existing = self.rows.find(table, self._keys[table], row)
        if existing is not None:
            if any(
                existing[column] != value
                for column, value in row.items()
                if (table, column) not in _COUNTERS
            ):
                key = ", ".join(str(row[column]) for column in self._keys[table])
                self.report(f"{table} {key}: differs here, kept as it was")
                if table in ("memories", "blocks"):
                    self._unchanged_ids.add(row["id"])
            self.unchanged += 1
            return True
        for natural in _NATURAL_KEYS.get(table, ()):
            existing = self.rows.find(table, natural, row) if row.get(natural[-1]) else None
            if existing is None:
                continue
            if table == "repos" and _differ(existing["remote"], row.get("remote")):
                row["name"] = f"{row['name']} {row['id'][-6:]}"  # two repos of one name
                continue
            self._map_to_existing(table, existing, row)
            return True
        return False

    def _has_skill_of_that_name(self, row: ImportedRow) -> bool:
        """Return whether the agent has another skill of that name, which stays."""
        sql = """SELECT here.name FROM agent_skills loaded
                   JOIN skills here ON here.id = loaded.skill_id
                   JOIN skills new ON new.name = here.name AND new.id = :skill_id
                  WHERE loaded.agent_id = :agent_id"""
        values = {name: row[name] for name in ("skill_id", "agent_id")}
        other = next(self.rows.select(sql, values), None)
        if other is not None:
            self.unchanged += 1
            self.report(f"skill {other[0]}: the agent has loaded one of that name here")
        return other is not None

    def _map_to_existing(self, table: str, existing: ImportedRow, row: ImportedRow) -> None:
        self.unchanged += 1
        if "id" in row:
            self._ids[row["id"]] = existing["id"]
        if table == "blocks":
            self._unchanged_ids.add(existing["id"])
        if table == "agent_blocks":
            self.report(f"block {row.get('label')}: the agent has one of that label here")
        elif table in _COMPARED_TABLES:
            name = row.get("name") or row.get("label") or row.get("path") or row.get("key")
            ignored = {"id", "created_at", "updated_at"}
            differing = sorted(c for c in row if c not in ignored and existing[c] != row[c])
            if differing:
                columns = ", ".join(differing)
                self.report(f"{table} {name}: differs here in {columns}, kept as it was")

    def _avoid_second_active_fact(self, row: ImportedRow) -> None:
        if not row.get("key") or row.get("status") != "active":
            return
        other = self.rows.find("memories", ("key", "status", *_OWNER_COLUMNS), row)
        if other is not None:
            row["status"] = "contradicted"
            self._rivals.append((row["id"], other["id"]))
            self.report(
                f"memories {row['id']}: the fact {row['key']!r} has another value here; "
                "imported as contradicted"
            )

    def _avoid_second_open_run(self, row: ImportedRow) -> None:
        """End an imported run if its conversation has an open one here."""
        sql = "SELECT 1 FROM runs WHERE conversation_id = :id AND state <> 'ended'"
        values = {"id": row["conversation_id"]}
        if row["state"] != "ended" and next(self.rows.select(sql, values), None):
            row |= {"state": "ended", "stop_reason": "cancelled"}
            self.report(f"runs {row['id']}: its conversation has an open run here; kept as ended")

    def _avoid_second_open_sleeptime(self, row: ImportedRow) -> None:
        """End an imported run of sleeptime if its conversation has an open one here."""
        where = "conversation_id = :id AND state IN ('due', 'reading')"
        sql = f"SELECT 1 FROM sleeptime_runs WHERE {where}"
        is_open = row["state"] in ("due", "reading")
        if is_open and next(self.rows.select(sql, {"id": row["conversation_id"]}), None):
            row |= {"state": "done"}

    def _avoid_used_position(self, row: ImportedRow) -> None:
        """Move an imported message whose position is used to the end of its conversation."""
        if self.rows.find("messages", ("conversation_id", "position"), row) is None:
            return
        sql = "SELECT max(position) + 1 FROM messages WHERE conversation_id = :id"
        position = next(self.rows.select(sql, {"id": row["conversation_id"]}))[0]
        self.report(
            f"messages {row['id']}: position {row['position']} is taken here; kept at {position}"
        )
        row["position"] = position


def _differ(remote: str | None, other: str | None) -> bool:
    return bool(remote) and bool(other) and remote != other


def check_row(table: str, row: ImportedRow) -> None:
    """Raise `ValueError` for values that the database accepts but no reader understands."""
    for column, value in row.items():
        if column.endswith("_at") and isinstance(value, int):
            from_micros(value)  # raises outside the calendar
        expected = JSON_TYPES.get(f"{table}.{column}")
        if expected and value is not None and not isinstance(json.loads(value), expected):
            raise ValueError(f"{column} of {table} has the wrong shape")
    if table == "sources" and sha256_hex(row["content"]) != row["sha256"]:
        raise ValueError("the content of a source does not match its hash")
    if table == "jobs":
        JobKind(row["kind"])  # raises for a step this version does not know
    if table == "memories" and not all(isinstance(x, str) for x in json.loads(row["alternatives"])):
        raise ValueError("alternatives of memories has the wrong shape")
    if table == "memories":
        parse_flags(row.get("flags", "[]"))
        parse_dates(row.get("dates", "[]"))
    if table == "memory_changes" and "effects" in row:
        parse_effects(row["effects"])  # raises if it is not what `undo` relies on
