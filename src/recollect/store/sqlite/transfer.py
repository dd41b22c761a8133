"""
Every canonical row out, and in again.

A row is `{"table": name, column: value, …}`. Rows come in an order in which they can be loaded:
parents before children, evidence before its memory. Memories come in the order in which they were
written, so a loaded store ranks ties as the first one did. Derived tables stay behind.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import apsw

from recollect.clock import from_micros
from recollect.domain.job import JobKind
from recollect.domain.scope import ItemKind
from recollect.domain.upkeep import Imported
from recollect.errors import ImportRefused
from recollect.store.sqlite.indexed import IndexedRows
from recollect.store.sqlite.rows import to_json
from recollect.store.sqlite.words import SqliteWords
from recollect.text.fingerprint import sha256_hex

# In loading order. Constants only: these names go into SQL.
TABLES = (
    "projects",
    "repos",
    "agents",
    "blocks",
    "agent_blocks",
    "block_history",
    "conversations",
    "summaries",
    "messages",
    "pins",
    "sources",
    "ingestion_events",
    "jobs",
    "model_calls",
    "evidence",
    "memories",
    "unsettled",
    "memory_tags",
    "memory_changes",
    "memory_links",
    "retrievals",
    "retrieval_hits",
    "retrieval_context",
    "views",
    "skills",
    "agent_skills",
    "files",
    "agent_files",
)

# A row that is already here under another id is the same thing: the newcomer's id maps to ours.
# Not so where the last column is empty: repos without a remote and global blocks may be many.
_NATURAL_KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "projects": (("name",),),
    "repos": (("remote",), ("project_id", "name")),
    "agents": (("name",),),
    "blocks": (("scope", "label", "owner_id"),),
    "agent_blocks": (("agent_id", "label"),),
    "skills": (("project_id", "origin", "path", "sha256", "name"),),
    "files": (("project_id", "path"),),
    "sources": (("sha256", "kind"),),
    "memory_links": (("from_id", "relation", "to_kind", "to_id"),),
}

# What JSON columns hold, where a reader relies on it.
_SHAPES: Mapping[tuple[str, str], type] = {
    ("agents", "metadata"): dict,
    ("blocks", "metadata"): dict,
    ("conversations", "metadata"): dict,
    ("messages", "metadata"): dict,
    ("messages", "parts"): list,
    ("messages", "tool_calls"): list,
    ("skills", "metadata"): dict,
    ("sources", "redactions"): list,
    ("sources", "metadata"): dict,
    ("memories", "alternatives"): list,
    ("memories", "redactions"): list,
    ("memories", "metadata"): dict,
    ("retrievals", "asking"): dict,
    ("retrievals", "notes"): list,
    ("retrieval_hits", "parts"): dict,
    ("views", "asking"): dict,
    ("jobs", "payload"): dict,
}
_KINDS: Mapping[str, ItemKind] = {
    "memories": ItemKind.MEMORY,
    "messages": ItemKind.MESSAGE,
    "blocks": ItemKind.BLOCK,
    "files": ItemKind.FILE,
}
_TOLD_APART = frozenset({"agents", "blocks", "skills", "files"})
_OWNER = ("scope", "project_id", "repo_id", "agent_id", "session_id")

_PARTS_OF: Mapping[str, str] = {
    "memory_tags": "memory_id",
    "memory_changes": "memory_id",
    "block_history": "block_id",
}

_LAST_VALUE = """SELECT 1 FROM blocks b JOIN block_history h
    ON h.block_id = b.id AND h.version = b.version AND h.value = b.value WHERE b.id = ?"""

RowMap = dict[str, Any]


def counts(db: apsw.Connection) -> dict[str, int]:
    """Return the number of rows of each canonical table."""
    return {name: db.execute(f"SELECT count(*) FROM {name}").get for name in TABLES}


def dump(db: apsw.Connection) -> Iterator[Mapping[str, Any]]:
    """Yield every canonical row."""
    for name in TABLES:
        columns = _columns(db, name)
        listed = ", ".join(f't."{column}"' for column in columns)
        keys = ", ".join(f't."{column}"' for column in _key(db, name))
        if name == "memories":
            origin, keys = "memories t LEFT JOIN items i ON i.id = t.id", "i.seq, t.id"
        else:
            origin = f"{name} t"
        for row in db.execute(f"SELECT {listed} FROM {origin} ORDER BY {keys}"):
            yield {"table": name, **dict(zip(columns, row, strict=True))}


def load(db: apsw.Connection, words: SqliteWords, rows: Iterable[Mapping[str, Any]]) -> Imported:
    """Add *rows* to what is there. Raises `ImportRefused` at the first row that cannot be."""
    loading = _Loading(db)
    for number, row in enumerate(rows, start=1):
        try:
            loading.take(dict(row))
        except apsw.ConstraintError as error:
            raise ImportRefused(f"row {number} of the import breaks a rule: {error}") from error
        except (apsw.Error, TypeError, ValueError, KeyError, OverflowError) as error:
            raise ImportRefused(
                f"row {number} of the import cannot be stored: {error!r}"
            ) from error
    try:
        # Deferred foreign keys are checked at commit; ask now, while the row can still be named.
        broken = db.execute("PRAGMA foreign_key_check").fetchone()
    except apsw.Error as error:
        raise ImportRefused(f"the import does not hold together: {error}") from error
    if broken:
        raise ImportRefused(
            f"the import does not hold together: a row of {broken[0]} names a row of {broken[2]} "
            "that is missing; export it again from the original store"
        )
    for block_id in loading.new_items[ItemKind.BLOCK]:
        if db.execute(_LAST_VALUE, (block_id,)).fetchone() is None:
            raise ImportRefused(
                f"the import has a block {block_id} without its value in the history; "
                "export it again from the original store"
            )
    rows_of = IndexedRows(db, words)
    for kind, ids in loading.new_items.items():
        for item in rows_of.of_ids(kind, ids):
            words.add(kind, item.owner, item.id, item.text)
    return Imported(
        added=loading.added,
        unchanged=loading.unchanged,
        conflicts=tuple(loading.conflicts),
    )


class _Loading:
    """One import on its way: what was added, what was there, which ids map to which."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._columns = {name: _columns(db, name) for name in TABLES}
        self._keys = {name: _key(db, name) for name in TABLES}
        self._ids: dict[str, str] = {}
        self.added: dict[str, int] = {}
        self.unchanged = 0
        self.conflicts: list[str] = []
        self.new_items: dict[ItemKind, list[str]] = {kind: [] for kind in ItemKind}
        self._kept_as_here: set[str] = set()

    def take(self, row: RowMap) -> None:
        table = row.pop("table", None)
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
        if table == "jobs":
            row["payload"] = self._renamed(row["payload"])
        whole = row.get(_PARTS_OF.get(table, ""))
        if whole in self._kept_as_here:
            return  # the history of what stays as it is here would not fit it
        if self._is_here(table, row):
            return
        check_row(table, row)
        if table == "memories":
            self._keep_one_active_fact(row)
        if table == "messages":
            self._keep_positions_apart(row)
        if table in _KINDS:
            self.new_items[_KINDS[table]].append(row["id"])
        self._insert(table, row)
        self.added[table] = self.added.get(table, 0) + 1

    def _renamed(self, payload: str) -> str:
        """Return a job's payload with the places it names by the ids they have here."""
        told = json.loads(payload)
        if not isinstance(told, dict):
            return payload  # refused with its table's other rules
        for name, value in told.items():
            if name.endswith("_id") and isinstance(value, str):
                told[name] = self._ids.get(value, value)
        return to_json(told)

    def _is_here(self, table: str, row: RowMap) -> bool:
        same = self._find(table, self._keys[table], row)
        if same is not None:
            if any(same[column] != value for column, value in row.items()):
                key = ", ".join(str(row[column]) for column in self._keys[table])
                self.conflicts.append(f"{table} {key}: differs here, kept as it was")
                if table in ("memories", "blocks"):
                    self._kept_as_here.add(row["id"])
            self.unchanged += 1
            return True
        for natural in _NATURAL_KEYS.get(table, ()):
            twin = self._find(table, natural, row) if row.get(natural[-1]) else None
            if twin is not None and table == "repos" and _differ(twin["remote"], row.get("remote")):
                row["name"] = f"{row['name']} {row['id'][-6:]}"  # two repos of one name
            elif twin is not None:
                self._same_as(table, twin, row)
                return True
        return False

    def _same_as(self, table: str, twin: RowMap, row: RowMap) -> None:
        self.unchanged += 1
        if "id" in row:
            self._ids[row["id"]] = twin["id"]
        if table == "blocks":
            self._kept_as_here.add(twin["id"])
        if table == "agent_blocks":
            self.conflicts.append(f"block {row.get('label')}: the agent has one of that label here")
        elif table in _TOLD_APART:
            named = row.get("name") or row.get("label") or row.get("path")
            same = {"id", "created_at", "updated_at"}
            differing = sorted(c for c in row if c not in same and twin[c] != row[c])
            if differing:
                what = ", ".join(differing)
                self.conflicts.append(f"{table} {named}: differs here in {what}, kept as it was")

    def _find(self, table: str, columns: tuple[str, ...], row: RowMap) -> RowMap | None:
        where = " AND ".join(f'"{column}" IS :{column}' for column in columns)
        values = {column: row.get(column) for column in columns}
        listed = ", ".join(f'"{column}"' for column in self._columns[table])
        sql = f"SELECT {listed} FROM {table} WHERE {where}"
        found = self._db.execute(sql, values).fetchone()
        return dict(zip(self._columns[table], found, strict=True)) if found else None

    def _keep_one_active_fact(self, row: RowMap) -> None:
        if not row.get("key") or row.get("status") != "active":
            return
        rival = self._find("memories", ("key", "status", *_OWNER), row)
        if rival is not None:
            row["status"] = "contradicted"
            self.conflicts.append(
                f"memories {row['id']}: the fact {row['key']!r} has another value here; "
                "imported as contradicted"
            )

    def _keep_positions_apart(self, row: RowMap) -> None:
        """A conversation that went on in two places goes on in both: the newcomer after ours."""
        place = ("conversation_id", "position")
        if self._find("messages", place, row) is None:
            return
        sql = "SELECT max(position) + 1 FROM messages WHERE conversation_id = ?"
        position = self._db.execute(sql, (row["conversation_id"],)).get
        self.conflicts.append(
            f"messages {row['id']}: position {row['position']} is taken here; kept at {position}"
        )
        row["position"] = position

    def _insert(self, table: str, row: RowMap) -> None:
        listed = ", ".join(f'"{column}"' for column in row)
        values = ", ".join(f":{column}" for column in row)
        self._db.execute(f"INSERT INTO {table} ({listed}) VALUES ({values})", row)


def _differ(one: str | None, other: str | None) -> bool:
    return bool(one) and bool(other) and one != other


def check_row(table: str, row: RowMap) -> None:
    """Refuse what the database would take and no reader could make sense of."""
    for column, value in row.items():
        if column.endswith("_at") and isinstance(value, int):
            from_micros(value)  # raises outside the calendar
        expected = _SHAPES.get((table, column))
        if expected and value is not None and not isinstance(json.loads(value), expected):
            raise ValueError(f"{column} of {table} has the wrong shape")
    if table == "sources" and sha256_hex(row["content"]) != row["sha256"]:
        raise ValueError("the content of a source does not match its hash")
    if table == "jobs":
        JobKind(row["kind"])  # raises for a step this version does not know
    if table == "memories" and not all(isinstance(x, str) for x in json.loads(row["alternatives"])):
        raise ValueError("alternatives of memories has the wrong shape")


def _columns(db: apsw.Connection, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})")]


def _key(db: apsw.Connection, table: str) -> tuple[str, ...]:
    rows = [row for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
    return tuple(row[1] for row in sorted(rows, key=lambda row: row[5]))
