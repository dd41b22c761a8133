"""
Rescue what can be read of a damaged store into a new one; the damaged file is only read.

Theory of operation. SQLite refuses a table at its first damaged page, so the rows are read from the
raw pages (database_image.py, btree_reader.py). Every tree is walked first, to know which pages
belong to which table and which are lost. Then the rows are inserted into an empty store of the same
schema, parents first, under all rules of the schema: what a rule refuses is corrected, listed as
altered, or lost (row_rescue.py); a lost row that others refer to gets a placeholder
(placeholder_rows.py). The word index is rebuilt. Lost rows are named by the indexes that still hold
their keys.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from recollect.clock import Clock, SystemClock, to_micros
from recollect.domain.repair_report import RepairReport, TableDamage
from recollect.errors import AlreadyExists, StoreDamaged, StoreNewer
from recollect.store.row_conversion import fetch_all
from recollect.store.sqlite.btree_reader import BtreeReader, RawRow, TreeShape
from recollect.store.sqlite.database_image import DatabaseImage
from recollect.store.sqlite.encryption import apply_key
from recollect.store.sqlite.migrate import known_migrations, migrate, restore_sync_triggers
from recollect.store.sqlite.partial_file import partial_file
from recollect.store.sqlite.placeholder_rows import PlaceholderRows
from recollect.store.sqlite.row_rescue import RowInserter, RowMap, decode_row, make_valid
from recollect.store.sqlite.sqlite_connection import open_word_index
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.sqlite.table_layout import (
    SCHEMA_SHAPE,
    empty_store_bytes,
    table_layouts,
)
from recollect.store.store_key import StoreKey
from recollect.store.transfer.export_import import TABLES
from recollect.store.transfer.row_checks import rebuild

# Tables that are filled again from the others; a loss there is not a loss.
DERIVED = (
    *("models", "shelves", "items", "embeddings", "terms", "postings"),
    *("tool_calls", "unread_sources"),
)
_REBUILT = frozenset({"terms", "postings", "tool_calls", "unread_sources"})
LOCK_MS = 2_000
MAX_CACHED_PAGES = 5_000  # 20 MB; a larger file is read twice
_NOT_COPIED = _REBUILT | {"migrations"}


def repair(path: Path, to: Path, clock: Clock, *, key: StoreKey | None = None) -> RepairReport:
    """Rescue the store *path* into the new file *to*, complete or not at all."""
    if to.exists():
        raise AlreadyExists(f"{to} exists; choose another name for the rescued store")
    with partial_file(to) as partial:
        report = rescue(path, partial, clock, key=key)
    return replace(report, to=str(to))


def rescue(
    path: Path,
    target: Path,
    clock: Clock,
    *,
    is_open: bool = False,
    key: StoreKey | None = None,
) -> RepairReport:
    """
    Fill the empty file *target* with what can be read of *path*.

    *is_open* says that this process has connections to *path*. What is rescued of an encrypted
    store is encrypted with the same *key*.
    """
    with _writers_excluded(path, key):
        damaged_file = DamagedFile(DatabaseImage(path, key=key, is_open=is_open), path)
        _write_empty_store(target, damaged_file.version, key)
        db = apsw.Connection(str(target))
        apply_key(db, key)
        try:
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA journal_mode = MEMORY").fetchall()
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("BEGIN")
            report = _Rescue(damaged_file, db, clock).run()
            restore_sync_triggers(db, damaged_file.version)
            db.execute("COMMIT")
        finally:
            db.close()
    return replace(report, path=str(path))


def _write_empty_store(target: Path, version: int, key: StoreKey | None) -> None:
    if key is None:
        target.write_bytes(empty_store_bytes(version))
        return
    db = apsw.Connection(str(target))
    try:
        apply_key(db, key)
        steps = [step for step in known_migrations() if step.number <= version]
        migrate(db, target, SystemClock(), steps)
    finally:
        db.close()


@contextmanager
def _writers_excluded(path: Path, key: StoreKey | None) -> Iterator[None]:
    """Hold the write lock of a store that other processes have open, if it can be locked."""
    if not path.with_name(f"{path.name}-shm").exists():
        yield
        return
    db = None
    with suppress(apsw.Error):  # a file that SQLite cannot open is not written by anybody
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        apply_key(db, key)
        db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        db.set_busy_timeout(LOCK_MS)
        db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        if db is not None:
            db.close()


class DamagedFile:
    """The readable rows of a damaged file, by table."""

    def __init__(self, image: DatabaseImage, path: Path) -> None:
        self._image = image
        self.problems = list(self._image.problems)
        if not self._image:
            raise StoreDamaged(f"{path} is empty; restore a backup or an export", can_repair=False)
        self._roots = self._read_roots()
        newest = known_migrations()[-1].number
        if len(self._roots.keys() & table_layouts(newest).keys()) < 3:
            raise StoreDamaged(
                f"{path} is not a Recollect database, or too little of it is left; "
                "restore a backup or an export",
                can_repair=False,
            )
        self.version = self._read_version(path, newest)
        self.layouts = table_layouts(self.version)
        self._survey()

    def order(self) -> list[str]:
        """Return the tables to copy, parents before children."""
        first = [table for table in TABLES if table in self.layouts]
        others = [table for table in self.layouts if table not in first and table not in DERIVED]
        copied = [table for table in DERIVED if table in self.layouts]
        return [table for table in first + copied + others if table not in _NOT_COPIED]

    def rows(self, table: str) -> Iterator[RawRow]:
        """Yield the readable rows of *table*."""
        if table in self._cached_rows:
            return chain(self._cached_rows[table], self._orphans.get(table, ()))
        reader = BtreeReader(self._image, other_tree_pages=self._tree_pages)
        root = self._roots.get(table)
        read = reader.rows(root, self.layouts[table].shape) if root else iter(())
        return chain(read, self._orphans.get(table, ()))

    def is_damaged(self, table: str) -> bool:
        """Return whether a page of *table* cannot be read completely."""
        return table in self.damaged_tables

    def unread_pages(self, table: str) -> int:
        """Return how many pages of *table* could not be found or read."""
        return self._unread_pages.get(table, 0)

    def keys_in_indexes(self, table: str) -> set[tuple[Any, ...]]:
        """Return the keys of the rows of *table* according to its indexes."""
        keys: set[tuple[Any, ...]] = set()
        for index in self.layouts[table].indexes:
            root = self._roots.get(index.name)
            if not root or not index.key_places or index.name in self.damaged_indexes:
                continue
            cached = self._cached_rows.get(index.name)
            rows = BtreeReader(self._image).rows(root, index.shape) if cached is None else cached
            for row in rows:
                keys.add(tuple(_decode(row.values[place]) for place in index.key_places))
        return keys

    def _read_roots(self) -> dict[str, int]:
        """Return the root page of every table and index that the schema still names."""
        roots: dict[str, int] = {}
        reader = BtreeReader(self._image)
        for row in reader.rows(1, SCHEMA_SHAPE):
            _, name, _, root, _ = row.values
            if isinstance(name, bytes) and isinstance(root, int) and root > 1:
                roots[name.decode(errors="replace")] = root
        if reader.damaged_pages[1] or reader.lost_pages[1]:
            self.problems.append("the list of tables is damaged")
            for row in reader.orphans(SCHEMA_SHAPE):
                _, name, _, root, _ = row.values
                if isinstance(name, bytes) and isinstance(root, int) and root > 1:
                    roots.setdefault(name.decode(errors="replace"), root)
        self._schema_pages = frozenset(reader.tree_pages)
        return roots

    def _read_version(self, path: Path, newest: int) -> int:
        layout = table_layouts(newest)["migrations"]
        root = self._roots.get("migrations")
        rows = BtreeReader(self._image).rows(root, layout.shape) if root else iter(())
        numbers = sorted({row.rowid for row in rows})
        if not numbers:
            return newest
        if numbers[-1] > newest:
            if numbers == list(range(1, numbers[-1] + 1)):
                raise StoreNewer(
                    f"{path} was written by a newer Recollect (schema {numbers[-1]}, this one "
                    f"knows {newest}); upgrade with: pip install -U recollect"
                )
            return min(len(numbers), newest)
        return numbers[-1]

    def _survey(self) -> None:
        """Walk every tree, to learn which pages are whose and which tables lost some."""
        reader = BtreeReader(self._image)
        reader.tree_pages |= self._schema_pages
        self.damaged_tables: set[str] = set()
        self.damaged_indexes: set[str] = set()
        self._unread_pages: dict[str, int] = {}
        self._orphans: dict[str, list[RawRow]] = {}
        self._cached_rows: dict[str, list[RawRow]] = {}
        for name, layout in self.layouts.items():
            if not self._walk(reader, name, layout.shape):
                self.damaged_tables.add(name)
        for layout in self.layouts.values():
            for index in layout.indexes:
                if not self._walk(reader, index.name, index.shape):
                    self.damaged_indexes.add(index.name)
        self._tree_pages = frozenset(reader.tree_pages)
        if self._tree_pages & reader.overflow_pages:
            self._cached_rows.clear()  # a long row was continued on a page of a tree: read again
        for name in self.damaged_tables & self._unread_pages.keys():
            self._orphans[name] = list(reader.orphans(self.layouts[name].shape))

    def _walk(self, reader: BtreeReader, name: str, shape: TreeShape) -> bool:
        root = self._roots.get(name)
        if root is None:
            self._unread_pages[name] = 1
            return False
        rows = reader.rows(root, shape)
        if self._image.page_count <= MAX_CACHED_PAGES:
            self._cached_rows[name] = list(rows)
        else:
            deque(rows, maxlen=0)
        if reader.lost_pages[root]:
            self._unread_pages[name] = reader.lost_pages[root]
        return not reader.lost_pages[root] and not reader.damaged_pages[root]


class _Rescue:
    """Copies the rows of a damaged file into a new store, and records the damage."""

    def __init__(self, damaged_file: DamagedFile, db: apsw.Connection, clock: Clock) -> None:
        self._file = damaged_file
        self._db = db
        self._inserter = RowInserter(db)
        self._parents = PlaceholderRows(self._decoded_rows, to_micros(clock.now()))
        self._keys: dict[str, set[tuple[Any, ...]]] = {}
        self._lost: dict[str, set[str]] = {}
        self._altered: dict[str, dict[str, str]] = {}

    def run(self) -> RepairReport:
        """Copy every table, rebuild the indexes, and return what happened."""
        seeded = {
            table: bool(self._db.execute(f"SELECT count(*) FROM {table}").get)
            for table in self._file.order()
        }
        for table in self._file.order():
            self._copy(table, replace=seeded[table])
            if table == "memories":
                self._restore_memories()
        self._remove_dangling()
        self._complete_block_history()
        rebuild(SqliteRows(self._db), open_word_index(self._db))
        self._name_lost_rows()
        return self._report()

    def _copy(self, table: str, *, replace: bool) -> None:
        layout = self._file.layouts[table]
        keys = self._keys.setdefault(table, set())
        for raw in self._file.rows(table):
            row, changes = decode_row(layout, raw)
            key = tuple(row[name] for name in layout.key)
            if key in keys:
                continue  # a second copy of the row, on a page that was searched
            try:
                quotes = self._quotes(key) if table == "memories" else ()
                row, changes = make_valid(table, row, changes, quotes)
            except (ValueError, TypeError, KeyError, OverflowError, StoreDamaged):
                self._add_lost(table, key)
                continue
            if not self._connect_to_parents(table, row, changes):
                self._add_lost(table, key)
                continue
            self._insert(table, row, key, changes, replace=replace)

    def _quotes(self, key: tuple[Any, ...]) -> list[str]:
        sql = "SELECT quote FROM evidence WHERE memory_id = ?"
        return [row[0] for row in self._db.execute(sql, key)]

    def _insert(
        self, table: str, row: RowMap, key: tuple[Any, ...], changes: list[str], *, replace: bool
    ) -> None:
        change = self._inserter.insert(table, row, replace=replace)
        if change is None:
            self._add_lost(table, key)
            return
        self._keys[table].add(tuple(row[name] for name in self._file.layouts[table].key))
        changes += [change] if change else []
        if changes:
            self._altered.setdefault(table, {})[_text(key)] = "; ".join(changes)

    def _connect_to_parents(self, table: str, row: RowMap, changes: list[str]) -> bool:
        """Make stand-ins for the lost rows that *row* refers to; False if it cannot be kept."""
        layout = self._file.layouts[table]
        for column, parent in layout.parents.items():
            value = row.get(column)
            if value is None or parent not in self._keys or (value,) in self._keys[parent]:
                continue  # the parents that are copied later are checked at the end
            if table in DERIVED:
                return False
            if not self._stand_in(parent, value, row):
                if column not in layout.nullable:
                    return False
                row[column] = None
                changes.append(f"{column} referred to a lost row of {parent}")
        return True

    def _stand_in(self, table: str, lost_id: str, child: RowMap) -> bool:
        columns = self._file.layouts[table].columns
        row = self._parents.make(table, lost_id, child)
        if row is None:
            return False
        row = {name: value for name, value in row.items() if name in columns}
        if not self._connect_to_parents(table, row, []):
            return False
        if self._inserter.insert(table, row) is None:
            return False
        self._keys[table].add((lost_id,))
        self._altered.setdefault(table, {})[lost_id] = "lost; what other rows say of it was kept"
        self._lost.get(table, set()).discard(lost_id)
        return True

    def _restore_memories(self) -> None:
        """Make candidates of the evidence whose memory is lost."""
        sql = "SELECT DISTINCT memory_id FROM evidence"
        for (memory_id,) in fetch_all(self._db.execute(sql)):
            if (memory_id,) not in self._keys["memories"]:
                self._stand_in("memories", memory_id, {})

    def _remove_dangling(self) -> None:
        """Delete or disconnect the rows whose parents are still missing."""
        for table in self._file.order():
            layout = self._file.layouts[table]
            listed = ", ".join(f'"{name}"' for name in layout.key)
            for column, parent in layout.parents.items():
                [parent_key] = self._file.layouts[parent].key
                where = (
                    f'"{column}" IS NOT NULL AND "{column}" NOT IN '
                    f'(SELECT "{parent_key}" FROM {parent})'
                )
                rows = self._db.execute(f"SELECT {listed} FROM {table} WHERE {where}").fetchall()
                if not rows:
                    continue
                if column in layout.nullable:
                    self._db.execute(f'UPDATE {table} SET "{column}" = NULL WHERE {where}')
                    continue
                self._db.execute(f"DELETE FROM {table} WHERE {where}")
                for key in rows:
                    self._add_lost(table, key)
                    self._keys[table].discard(key)

    def _complete_block_history(self) -> None:
        """Add the value of each block to its history, if it is not there."""
        cursor = self._db.execute(
            """SELECT b.id, b.version, b.value, b.updated_at FROM blocks b
                 LEFT JOIN block_history h ON h.block_id = b.id AND h.version = b.version
                WHERE h.value IS NOT b.value"""
        )
        for block_id, version, value, changed_at in fetch_all(cursor):
            self._db.execute(
                """INSERT OR REPLACE INTO block_history
                   (block_id, version, value, changed_by, reason, changed_at)
                   VALUES (?, ?, ?, 'system', 'rescued', ?)""",
                (block_id, version, value, changed_at),
            )
            self._altered.setdefault("blocks", {})[block_id] = (
                "its value and its history differed; the value was kept"
            )

    def _name_lost_rows(self) -> None:
        """Add the rows that only the indexes of a damaged table still name."""
        for table in self._file.order():
            if self._file.is_damaged(table) and table not in DERIVED:
                for key in self._file.keys_in_indexes(table) - self._keys[table]:
                    if _text(key) not in self._altered.get(table, {}):
                        self._add_lost(table, key)

    def _add_lost(self, table: str, key: Sequence[Any]) -> None:
        if table not in DERIVED:
            self._lost.setdefault(table, set()).add(_text(key))

    def _decoded_rows(self, table: str) -> Iterator[RowMap]:
        layout = self._file.layouts[table]
        return (decode_row(layout, raw)[0] for raw in self._file.rows(table))

    def _report(self) -> RepairReport:
        damage, whole = [], []
        for table in self._file.order():
            lost = tuple(sorted(self._lost.get(table, ())))
            altered = {} if table in DERIVED else self._altered.get(table, {})
            pages = self._file.unread_pages(table)
            if pages and (table in DERIVED or self._is_whole(table)):
                pages = 0
            if lost or altered or pages:
                damage.append(
                    TableDamage(table=table, lost=lost, altered=altered, unknown_pages=pages)
                )
            elif table in self._file.damaged_tables and table not in DERIVED:
                whole.append(table)
        notes = list(self._file.problems)
        rebuilt = sorted(self._file.damaged_tables & {*DERIVED})
        for index in sorted(self._file.damaged_indexes):
            if _is_part_of_canonical_table(index):
                notes.append(f"the index {index} is damaged")
            else:
                rebuilt.append(index)
        if whole:
            notes.append(f"pages were damaged, but no row was lost: {', '.join(whole)}")
        rescued = {
            table: len(self._keys[table])
            for table in self._file.order()
            if self._keys[table] and table not in DERIVED
        }
        return RepairReport(
            path="",
            to="",
            rescued=rescued,
            damage=tuple(damage),
            notes=tuple(notes),
            indexes=tuple(rebuilt),
        )

    def _is_whole(self, table: str) -> bool:
        """Return whether an index proves that no row of *table* is missing."""
        keys = self._file.keys_in_indexes(table)
        return bool(keys) and keys <= self._keys[table]


def _is_part_of_canonical_table(index: str) -> bool:
    """Return whether SQLite made the index itself, for a UNIQUE rule of a canonical table."""
    is_automatic = index.startswith("sqlite_autoindex_")
    return is_automatic and index.split("_", 2)[2].rpartition("_")[0] not in DERIVED


def _decode(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _text(key: Sequence[Any]) -> str:
    return " ".join(str(part) for part in key)
