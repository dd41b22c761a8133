"""
The SQLite store: its connections, and operations on the whole file.

There is one write connection behind the group-commit writer, one for the retrieval log, whose rows
need not be on disk at once, and a pool of read-only ones. SQL is in the files of the tables.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import apsw

from recollect.clock import Clock
from recollect.domain.maintenance import Imported, StoreLoad, VerificationProblem
from recollect.domain.repair_report import RepairReport
from recollect.domain.retrieval import Retrieval
from recollect.domain.unfinished_work import UnfinishedWork
from recollect.errors import (
    InvalidInput,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)
from recollect.store.group_commit import Writer
from recollect.store.indexes.word_tokenizer import WordTokenizer
from recollect.store.key_places import KeyPlaces, read_wrapped_keys
from recollect.store.next_write import NextWrite
from recollect.store.open_tables import OpenTables, index_sizes, open_tables
from recollect.store.retrieval_queue import QueuedRetrieval, RetrievalQueue, add_retrievals
from recollect.store.sqlite import integrity
from recollect.store.sqlite.connection import (
    LOG_TIMEOUT_MS,
    connect,
    open_database,
    translate_errors,
    translate_full_disk,
)
from recollect.store.sqlite.encrypted_file import (
    is_encrypted_file,
    read_encrypted,
    write_encrypted,
)
from recollect.store.sqlite.encryption import find_key
from recollect.store.sqlite.migrate import migrate, snapshot, snapshots
from recollect.store.sqlite.page_gaps import clear_page_gaps
from recollect.store.sqlite.partial_file import partial_file, remove_leftovers
from recollect.store.sqlite.read_only import (
    ReadOnlySource,
    can_write,
    open_read_only,
    open_rescued,
    require_writable,
)
from recollect.store.sqlite.replace_file import checked_row_counts
from recollect.store.sqlite.sqlite_connection import SqliteConnection
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.sqlite.sqlite_transactions import SqliteTransactions
from recollect.store.sqlite.staged_rows import StagedRows
from recollect.store.store_key import StoreKey
from recollect.store.transfer.export_import import (
    export_rows,
    row_counts,
)
from recollect.store.transfer.export_upgrade import upgrade_rows
from recollect.store.transfer.import_steps import import_validated
from recollect.store.transfer.row_checks import rebuild
from recollect.tracing import trace_step

if TYPE_CHECKING:
    from recollect.store.indexes.bit_code_index import BitCodeIndex

T = TypeVar("T")
log = logging.getLogger(__name__)
FLUSH_S = 0.5  # how long a reader of the whole log waits for what is not written to it yet
MAX_IDLE_READERS = 8  # kept open in the pool; further readers are closed after use


SqliteTables = OpenTables[SqliteConnection]


class SqliteStore:
    """
    See `Store` and `StoreFile` in recollect.store.protocol.

    Safe to share between threads, not across a fork.
    """

    def __init__(self, path: Path, clock: Clock, *, keys: KeyPlaces | None = None) -> None:
        self._path = path
        self._keys = keys or KeyPlaces(uses_keyring=False)
        self._key: StoreKey | None = None  # of an encrypted file
        self._pid = os.getpid()
        self._code_indexes: dict[int, BitCodeIndex] = {}
        self._idle_readers: list[SqliteTables] = []
        self._busy_readers = 0
        self._lock = threading.Lock()
        self._log_lock = threading.Lock()
        self._log_tables: SqliteTables | None = None
        self._clock = clock
        self._closed = False
        self._next_write = NextWrite()
        self._writer: Writer | None = None
        self._rescue_lock = threading.Lock()
        self._was_checked = False
        self._source: ReadOnlySource | None = None  # what is read if the file cannot be written
        try:
            self._open_writer()
        except StoreError as error:
            self._source, self._schema = self._open_source(error)
        self._retrieval_queue = RetrievalQueue(self._write_retrievals)

    @property
    def path(self) -> Path:
        return self._path

    @property
    def location(self) -> str:
        return str(self._path)

    @property
    def file(self) -> "SqliteStore":
        return self

    def owns(self, path: Path) -> bool:
        in_same_folder = path.resolve().parent == self._path.resolve().parent
        return in_same_folder and path.name.startswith(self._path.name)

    def size_bytes(self) -> int:
        wal = self._path.with_name(f"{self._path.name}-wal")  # what is written and not moved yet
        return self._path.stat().st_size + (wal.stat().st_size if wal.exists() else 0)

    @property
    def is_encrypted(self) -> bool:
        return self._key is not None

    def write_encrypted(self, path: Path) -> AbstractContextManager[IO[bytes]]:
        if self._key is None:
            raise InvalidInput(f"{self._path} is not encrypted and has no key for {path}")
        return write_encrypted(path, self._key)

    def read_encrypted(self, path: Path) -> AbstractContextManager[IO[bytes]] | None:
        if not is_encrypted_file(path):
            return None
        own = () if self._key is None else (self._key,)
        # Wrapped keys are beside the store only, and an export may need an older one.
        earlier_keys = (*own, *self._keys.candidates(self._path))
        return read_encrypted(path, replace(self._keys, known=earlier_keys))

    @property
    def key_id(self) -> str:
        return self._key.id if self._key is not None else ""

    def sign(self, content: bytes) -> str:
        return self._key.sign(content) if self._key is not None else ""

    def wrapped_keys(self) -> list[Mapping[str, Any]]:
        return read_wrapped_keys(self._path)

    def write_copy(self, path: Path) -> Mapping[str, int]:
        self.flush_log(timeout_s=FLUSH_S)
        # One that was killed has another time at the end of its name.
        remove_leftovers(path, prefix=f"{path.name.rpartition('-')[0]}-")
        with translate_errors(self._path), partial_file(path) as partial:
            with self.read() as tables:
                tables.connection.db.execute("ROLLBACK")  # VACUUM reads in a transaction of its own
                with translate_full_disk(path):  # under the same key
                    tables.connection.db.execute("VACUUM INTO ?", (str(partial),))
            return checked_row_counts(partial, self._key)

    @property
    def read_only_reason(self) -> str:
        return self._source.reason if self._source is not None else ""

    def load(self) -> StoreLoad:
        code_bytes, vector_bytes = index_sizes(self._code_indexes.values())
        return StoreLoad(
            queued_writes=0 if self._writer is None else self._writer.queue_length,
            queued_retrievals=len(self._retrieval_queue),
            busy_readers=self._busy_readers,
            idle_readers=len(self._idle_readers),
            waiting_readers=0,  # a reader that finds no connection opens one
            code_bytes=code_bytes,
            vector_bytes=vector_bytes,
        )

    def schema_version(self) -> int:
        return self._schema

    @contextmanager
    def read(self) -> Iterator[SqliteTables]:
        self._check_usable()
        tables = self._borrow_reader()
        with self._lock:
            self._busy_readers += 1
        try:
            with trace_step("store read"), translate_errors(self._path):
                tables.connection.db.execute("BEGIN")
                try:
                    yield tables
                finally:
                    if tables.connection.db.in_transaction:
                        tables.connection.db.execute("ROLLBACK")
        finally:
            self._return_reader(tables)

    def write(self, work: Callable[[SqliteTables], T]) -> T:
        self._check_writable()
        first = self._next_write.take()
        retrievals = self._retrieval_queue.take()  # they share the cost of this commit

        def run() -> T:
            add_retrievals(self._tables, retrievals)
            for first_work in first:
                first_work(self._tables)
            return work(self._tables)

        is_written = False
        try:
            assert self._writer is not None  # or it would not be writable
            result = self._writer.run(run)
            is_written = True
            return result
        finally:
            self._retrieval_queue.finish_batch(retrievals, is_written=is_written)

    def in_next_write(self, work: Callable[[SqliteTables], None]) -> AbstractContextManager[None]:
        return self._next_write.joined_by(work)

    def log_retrieval(self, retrieval: Retrieval) -> bool:
        self._check_usable()
        return self._source is None and self._retrieval_queue.add(retrieval, self._clock.now())

    def queued_retrieval(self, retrieval_id: str) -> Retrieval | None:
        return self._retrieval_queue.get(retrieval_id)

    def flush_log(self, *, timeout_s: float) -> bool:
        self._check_usable()
        return self._retrieval_queue.flush(timeout_s)

    def listen_for_jobs(self, wake: Callable[[], None]) -> None:
        return None

    def _write_retrievals(self, retrievals: Sequence[QueuedRetrieval]) -> None:
        self._check_writable()
        with self._log_lock, translate_errors(self._path):
            if self._log_tables is None:
                self._log_tables = self._open_log_tables()
            tables = self._log_tables
            tables.connection.db.execute("BEGIN IMMEDIATE")
            try:
                add_retrievals(tables, retrievals)
                tables.connection.db.execute("COMMIT")
            except BaseException:
                if tables.connection.db.in_transaction:
                    tables.connection.db.execute("ROLLBACK")
                raise

    def export_rows(self, *, synced: bool = False) -> Iterator[Mapping[str, Any]]:
        self.flush_log(timeout_s=FLUSH_S)
        with self.read() as tables:
            yield from export_rows(SqliteRows(tables.connection.db), synced=synced)

    def import_rows(
        self,
        rows: Iterable[Mapping[str, Any]],
        work: UnfinishedWork,
        *,
        apply_tombstones: Callable[[], None] | None = None,
    ) -> Imported:
        self._check_writable()
        with StagedRows(upgrade_rows(rows), is_encrypted=self.is_encrypted) as staged:
            return import_validated(
                self,
                staged,
                work,
                clock=self._clock,
                rows_of=lambda tables: SqliteRows(tables.connection.db),
                apply_tombstones=apply_tombstones,
            )

    def check(self) -> tuple[list[str], list[VerificationProblem]]:
        if self.rescue_report is None:
            try:
                with self.read() as tables:
                    names, problems = integrity.check(tables.connection.db, tables.word_index)
            except StoreDamaged as error:
                names, problems = integrity.unreadable(str(error))
            if not integrity.is_file_damaged(problems) or not self.use_rescued_copy():
                return names, problems
        assert self.rescue_report is not None  # set by use_rescued_copy
        return integrity.describe_damage(self.rescue_report)

    def rebuild_indexes(self) -> Mapping[str, int]:
        if self.rescue_report is None:
            try:
                counts = self.write(
                    lambda tables: rebuild(SqliteRows(tables.connection.db), tables.word_index)
                )
            except StoreDamaged:
                pass  # an index is damaged itself: it must be thrown away first
            else:
                self._code_indexes.clear()
                return counts
        # Only a damaged store needs it, and every command waits for its imports.
        from recollect.store.sqlite.recreate_derived import replace_damaged_indexes

        self._code_indexes.clear()
        with translate_errors(self._path):
            counts = replace_damaged_indexes(self._path, self.rescue_report, key=self._key)
        if self._source is not None:
            self._forget_readers()
            self._source.close()
            self._source = None
            if self._writer is None:
                self._open_writer()
        return counts

    @property
    def rescue_report(self) -> RepairReport | None:
        """What was rescued of a damaged store, and what was not; None if it is not known to be."""
        return self._source.report if self._source is not None else None

    def is_damaged(self) -> bool:
        if self._was_checked or self.rescue_report is not None:
            return False
        self._was_checked = True
        try:
            with self.read() as tables:
                return integrity.is_damaged(tables.connection.db)
        except StoreDamaged:
            return True

    def use_rescued_copy(self) -> bool:
        self._check_usable()
        with self._rescue_lock:
            if self.rescue_report is not None:
                return False  # what failed just now was reading the copy
            try:
                source, schema = open_rescued(self._path, self._clock, key=self._key)
            except StoreError:
                return False
            log.warning("%s; reading what could be rescued", source.reason)
            old, self._source, self._schema = self._source, source, schema
            self._forget_readers()
            if old is not None:
                old.close()
            return True

    def erase_deleted_content(self, *, give_up_s: float) -> bool:
        self._check_writable()
        with self._lock:
            idle, self._idle_readers = self._idle_readers, []
        for tables in idle:
            tables.connection.db.close()  # an idle reader may still pin an old snapshot
        return clear_page_gaps(self._path, give_up_s=give_up_s, key=self._key)

    def snapshot(self, reason: str) -> Path:
        self._check_writable()
        with translate_errors(self._path):
            return snapshot(self._path, reason, key=self._key)

    def snapshots(self) -> list[Path]:
        return snapshots(self._path)

    def shared_folder(self) -> str:
        """Return the folder through which the store syncs with other devices, '' if it does not."""
        with self.read() as tables:
            folder = tables.connection.db.execute("SELECT folder FROM sync_device").get
        return str(folder or "")

    def enforce_policies(self) -> None:
        pass  # a file has none: whoever may read it reads all of it

    def update_statistics(self) -> None:
        pass  # plans of SQLite use none: ANALYZE is never run

    def row_counts(self) -> Mapping[str, int]:
        self.flush_log(timeout_s=FLUSH_S)
        with self.read() as tables:
            return row_counts(SqliteRows(tables.connection.db))

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        self._retrieval_queue.close()
        self._closed = True
        self._forget_readers()
        with self._log_lock:
            if self._log_tables is not None:
                self._log_tables.connection.db.close()
        if self._writer is not None:
            self._writer.close()
        if self._source is not None:
            self._source.close()

    def _open_writer(self) -> None:
        """Open the connection that writes; raises if the file is damaged or cannot be written."""
        db, self._key = open_database(self._path, self._keys)
        try:
            with translate_errors(self._path):
                require_writable(db, self._path, key=self._key)
                self._schema = migrate(db, self._path, self._clock, key=self._key)
                db.execute("PRAGMA synchronous = FULL")
            self._tables = self._open_tables(db)
        except BaseException:
            db.close()
            raise
        remove_leftovers(self._path)
        self._writer = Writer(SqliteTransactions(db, self._path))

    def _open_source(self, error: StoreError) -> tuple[ReadOnlySource, int]:
        """Open what can be read of a file that cannot be opened for writing, because of *error*."""
        if isinstance(error, StoreUnavailable | StoreReadOnly) and self._path.exists():
            if not can_write(self._path):
                try:
                    self._key = find_key(self._path, self._keys)
                    return open_read_only(self._path, key=self._key)
                except StoreDamaged as damage:
                    error = damage
            elif isinstance(error, StoreReadOnly):
                # Nothing forbids to write; SQLite refuses a format version that it does not know.
                error = StoreDamaged(f"the header of {self._path} is damaged")
        if not isinstance(error, StoreDamaged) or not error.can_repair:
            raise error
        try:
            self._key = find_key(self._path, self._keys)
            source, schema = open_rescued(self._path, self._clock, key=self._key)
        except StoreDamaged:
            raise error from None
        log.warning("%s; reading what could be rescued", source.reason)
        return source, schema

    def _forget_readers(self) -> None:
        with self._lock:
            for tables in self._idle_readers:
                tables.connection.db.close()
            self._idle_readers.clear()
            self._code_indexes.clear()

    def _open_tables(self, db: apsw.Connection) -> SqliteTables:
        return open_tables(SqliteConnection(db), WordTokenizer(db), self._code_indexes)

    def _open_log_tables(self) -> SqliteTables:
        db = connect(self._path, key=self._key)
        db.set_busy_timeout(LOG_TIMEOUT_MS)
        db.execute("PRAGMA synchronous = NORMAL")
        return self._open_tables(db)

    def _borrow_reader(self) -> SqliteTables:
        if self._source is not None and not self._source.is_current():
            self._forget_readers()
            self._key = find_key(self._path, self._keys)
            self._source, self._schema = open_read_only(self._path, key=self._key)
        with self._lock:
            if self._idle_readers:
                return self._idle_readers.pop()
        if self._source is not None:
            return self._open_tables(self._source.connect())
        return self._open_tables(connect(self._path, key=self._key, read_only=True))

    def _return_reader(self, tables: SqliteTables) -> None:
        with self._lock:
            self._busy_readers -= 1
            if not self._closed and len(self._idle_readers) < MAX_IDLE_READERS:
                self._idle_readers.append(tables)
                return
        tables.connection.db.close()

    def _check_writable(self) -> None:
        self._check_usable()
        if self._source is not None:
            raise self._source.refusal()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self._path} was closed; open it again with recollect.open(...)")
        if os.getpid() != self._pid:
            raise StoreClosed(
                f"{self._path} was opened before this process was forked; "
                "open it again here with recollect.open(...)"
            )
