"""
The SQLite store: its connections, and operations on the whole file.

There is one write connection behind the group-commit writer, one for log rows that need not be on
disk at once, and a pool of read-only ones. SQL is in the files of the tables.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from recollect.clock import Clock
from recollect.domain.maintenance import Imported, VerificationProblem
from recollect.errors import StoreBusy, StoreClosed
from recollect.store.protocol import Tables
from recollect.store.sqlite import export_import, integrity
from recollect.store.sqlite.agents import SqliteAgentTable
from recollect.store.sqlite.blocks import SqliteBlockTable
from recollect.store.sqlite.connection import LOG_TIMEOUT_MS, connect, translate_errors
from recollect.store.sqlite.conversations import SqliteConversationTable
from recollect.store.sqlite.embeddings import SqliteEmbeddingIndex
from recollect.store.sqlite.files import SqliteFileTable
from recollect.store.sqlite.idempotency_keys import SqliteIdempotencyKeyTable
from recollect.store.sqlite.indexed_items import IndexedItemReader
from recollect.store.sqlite.jobs import SqliteJobTable
from recollect.store.sqlite.links import SqliteLinkTable
from recollect.store.sqlite.memories import SqliteMemoryTable
from recollect.store.sqlite.messages import SqliteMessageTable
from recollect.store.sqlite.migrate import migrate, snapshot
from recollect.store.sqlite.projects import SqliteProjectTable
from recollect.store.sqlite.retrievals import SqliteRetrievalTable
from recollect.store.sqlite.skills import SqliteSkillTable
from recollect.store.sqlite.sources import SqliteSourceTable
from recollect.store.sqlite.wal import truncate_wal
from recollect.store.sqlite.word_index import SqliteWordIndex
from recollect.store.sqlite.writer_thread import Writer

if TYPE_CHECKING:
    from recollect.store.sqlite.bit_code_index import BitCodeIndex

T = TypeVar("T")
MAX_IDLE_READERS = 8  # kept open in the pool; further readers are closed after use


@dataclass(frozen=True, kw_only=True)
class SqliteTables(Tables):
    """The tables of one connection."""

    db: apsw.Connection
    word_index: SqliteWordIndex


class SqliteStore:
    """See `recollect.store.protocol.Store`. Safe to share between threads, not across a fork."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._pid = os.getpid()
        self._code_indexes: dict[int, BitCodeIndex] = {}
        self._idle_readers: list[SqliteTables] = []
        self._lock = threading.Lock()
        self._log_lock = threading.Lock()
        self._log_tables: SqliteTables | None = None
        self._closed = False
        self._next_write = threading.local()
        db = connect(path, create=True)
        try:
            self._schema = migrate(db, path, clock)
            with translate_errors(path):
                db.execute("PRAGMA synchronous = FULL")
            self._tables = self._open_tables(db)
        except BaseException:
            db.close()
            raise
        self._writer = Writer(db, path)

    @property
    def path(self) -> Path:
        return self._path

    def schema_version(self) -> int:
        return self._schema

    @contextmanager
    def read(self) -> Iterator[SqliteTables]:
        self._check_usable()
        tables = self._borrow_reader()
        try:
            with translate_errors(self._path):
                tables.db.execute("BEGIN")
                try:
                    yield tables
                finally:
                    if tables.db.in_transaction:
                        tables.db.execute("ROLLBACK")
        finally:
            self._return_reader(tables)

    def write(self, work: Callable[[SqliteTables], T]) -> T:
        self._check_usable()
        queued: Callable[[SqliteTables], None] | None = getattr(self._next_write, "work", None)
        if queued is None:
            return self._writer.run(lambda: work(self._tables))
        self._next_write.work = None

        def both() -> T:
            queued(self._tables)
            return work(self._tables)

        return self._writer.run(both)

    @contextmanager
    def in_next_write(self, work: Callable[[SqliteTables], None]) -> Iterator[None]:
        self._next_write.work = work
        try:
            yield
        finally:
            self._next_write.work = None

    def write_log(self, work: Callable[[SqliteTables], None]) -> None:
        self._check_usable()
        try:
            self._run_log_write(work)
        except StoreBusy:
            if not self._writer.is_busy:
                raise  # another process writes; log rows do not wait for it
            # The writers of this process leave no gap, so the log row joins their queue.
            self.write(work)

    def _run_log_write(self, work: Callable[[SqliteTables], None]) -> None:
        with self._log_lock, translate_errors(self._path):
            if self._log_tables is None:
                self._log_tables = self._open_log_tables()
            tables = self._log_tables
            tables.db.execute("BEGIN IMMEDIATE")
            try:
                work(tables)
                tables.db.execute("COMMIT")
            except BaseException:
                if tables.db.in_transaction:
                    tables.db.execute("ROLLBACK")
                raise

    def export_rows(self) -> Iterator[Mapping[str, Any]]:
        with self.read() as tables:
            yield from export_import.export_rows(tables.db)

    def import_rows(self, rows: Iterable[Mapping[str, Any]]) -> Imported:
        return self.write(lambda t: export_import.import_rows(t.db, t.word_index, rows))

    def check(self) -> tuple[list[str], list[VerificationProblem]]:
        with self.read() as tables:
            return integrity.check(tables.db, tables.word_index)

    def rebuild_indexes(self) -> Mapping[str, int]:
        counts = self.write(lambda tables: integrity.rebuild(tables.db, tables.word_index))
        self._code_indexes.clear()
        return counts

    def truncate_wal(self) -> bool:
        self._check_usable()
        with self._lock:
            idle, self._idle_readers = self._idle_readers, []
        for tables in idle:
            tables.db.close()  # an idle reader may still pin an old snapshot
        return truncate_wal(self._path)

    def snapshot(self, reason: str) -> Path:
        self._check_usable()
        with translate_errors(self._path):
            return snapshot(self._path, reason)

    def row_counts(self) -> Mapping[str, int]:
        with self.read() as tables:
            return export_import.row_counts(tables.db)

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        with self._lock:
            for tables in self._idle_readers:
                tables.db.close()
            self._idle_readers.clear()
        with self._log_lock:
            if self._log_tables is not None:
                self._log_tables.db.close()
        self._writer.close()

    def _open_tables(self, db: apsw.Connection) -> SqliteTables:
        word_index = SqliteWordIndex(db)
        items = IndexedItemReader(db, word_index)
        return SqliteTables(
            db=db,
            projects=SqliteProjectTable(db),
            agents=SqliteAgentTable(db),
            blocks=SqliteBlockTable(db, word_index),
            conversations=SqliteConversationTable(db),
            messages=SqliteMessageTable(db, word_index),
            skills=SqliteSkillTable(db),
            files=SqliteFileTable(db, word_index),
            sources=SqliteSourceTable(db),
            memories=SqliteMemoryTable(db, word_index),
            jobs=SqliteJobTable(db),
            links=SqliteLinkTable(db),
            retrievals=SqliteRetrievalTable(db),
            idempotency_keys=SqliteIdempotencyKeyTable(db),
            word_index=word_index,
            embeddings=SqliteEmbeddingIndex(db, items, self._code_indexes),
        )

    def _open_log_tables(self) -> SqliteTables:
        db = connect(self._path)
        db.set_busy_timeout(LOG_TIMEOUT_MS)
        db.execute("PRAGMA synchronous = NORMAL")
        return self._open_tables(db)

    def _borrow_reader(self) -> SqliteTables:
        with self._lock:
            if self._idle_readers:
                return self._idle_readers.pop()
        return self._open_tables(connect(self._path, read_only=True))

    def _return_reader(self, tables: SqliteTables) -> None:
        with self._lock:
            if not self._closed and len(self._idle_readers) < MAX_IDLE_READERS:
                self._idle_readers.append(tables)
                return
        tables.db.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self._path} was closed; open it again with recollect.open(...)")
        if os.getpid() != self._pid:
            raise StoreClosed(
                f"{self._path} was opened before this process was forked; "
                "open it again here with recollect.open(...)"
            )
