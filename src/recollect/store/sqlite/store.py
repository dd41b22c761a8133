"""
The SQLite store: connections, and what is done with the file as a whole.

One write connection behind the group-commit writer, one for log rows that may wait for the disk,
and a pool of read-only ones. This file opens, lends and closes them; SQL is in the table files.
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
from recollect.domain.upkeep import Imported, Problem
from recollect.errors import StoreBusy, StoreClosed
from recollect.store.sqlite import health, transfer
from recollect.store.sqlite.agents import SqliteAgents
from recollect.store.sqlite.blocks import SqliteBlocks
from recollect.store.sqlite.connection import NOTE_TIMEOUT_MS, connect, translated
from recollect.store.sqlite.conversations import SqliteConversations
from recollect.store.sqlite.files import SqliteFiles
from recollect.store.sqlite.indexed import IndexedRows
from recollect.store.sqlite.jobs import SqliteJobs
from recollect.store.sqlite.links import SqliteLinks
from recollect.store.sqlite.memories import SqliteMemories
from recollect.store.sqlite.messages import SqliteMessages
from recollect.store.sqlite.migrate import migrate, snapshot
from recollect.store.sqlite.places import SqlitePlaces
from recollect.store.sqlite.requests import SqliteRequests
from recollect.store.sqlite.retrievals import SqliteRetrievals
from recollect.store.sqlite.skills import SqliteSkills
from recollect.store.sqlite.sources import SqliteSources
from recollect.store.sqlite.vectors import SqliteVectors
from recollect.store.sqlite.words import SqliteWords
from recollect.store.sqlite.writer import Writer

if TYPE_CHECKING:
    from recollect.store.sqlite.codes import CodeCache

T = TypeVar("T")
MOST_IDLE = 8  # readers kept open; more come and go with the threads that need them


@dataclass(frozen=True)
class SqliteTables:
    """See `recollect.store.protocol.Tables`."""

    db: apsw.Connection
    places: SqlitePlaces
    agents: SqliteAgents
    blocks: SqliteBlocks
    conversations: SqliteConversations
    messages: SqliteMessages
    skills: SqliteSkills
    files: SqliteFiles
    sources: SqliteSources
    memories: SqliteMemories
    jobs: SqliteJobs
    links: SqliteLinks
    retrievals: SqliteRetrievals
    requests: SqliteRequests
    words: SqliteWords
    vectors: SqliteVectors


class SqliteStore:
    """See `recollect.store.protocol.Store`. Safe to share between threads, not across a fork."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._pid = os.getpid()
        self._caches: dict[int, CodeCache] = {}
        self._idle: list[SqliteTables] = []
        self._lock = threading.Lock()
        self._note_lock = threading.Lock()
        self._note_tables: SqliteTables | None = None
        self._closed = False
        self._beside = threading.local()
        db = connect(path, create=True)
        try:
            self._schema = migrate(db, path, clock)
            with translated(path):
                db.execute("PRAGMA synchronous = FULL")
            self._tables = self._tables_of(db)
        except BaseException:
            db.close()
            raise
        self._writer = Writer(db, path)

    @property
    def path(self) -> Path:
        """The database file."""
        return self._path

    def schema(self) -> int:
        """Return the number of the schema the file has."""
        return self._schema

    @contextmanager
    def read(self) -> Iterator[SqliteTables]:
        """Lend a consistent view of the store."""
        self._usable()
        tables = self._borrow()
        try:
            with translated(self._path):
                tables.db.execute("BEGIN")
                try:
                    yield tables
                finally:
                    if tables.db.in_transaction:
                        tables.db.execute("ROLLBACK")
        finally:
            self._give_back(tables)

    def write(self, work: Callable[[SqliteTables], T]) -> T:
        """Run *work* in one transaction; return its result once it is on disk."""
        self._usable()
        first: Callable[[SqliteTables], None] | None = getattr(self._beside, "work", None)
        if first is None:
            return self._writer.run(lambda: work(self._tables))
        self._beside.work = None

        def both() -> T:
            first(self._tables)
            return work(self._tables)

        return self._writer.run(both)

    @contextmanager
    def beside(self, work: Callable[[SqliteTables], None]) -> Iterator[None]:
        """Run *work* first in the transaction of the next write of this thread, if one comes."""
        self._beside.work = work
        try:
            yield
        finally:
            self._beside.work = None

    def note(self, work: Callable[[SqliteTables], None]) -> None:
        """Run *work* in one transaction that the disk may confirm later: for log rows only."""
        self._usable()
        try:
            self._noted(work)
        except StoreBusy:
            if not self._writer.is_busy:
                raise  # another process writes; a log row is not worth waiting for that
            # Writers of this process leave no gap: then it takes its turn among them.
            self.write(work)

    def _noted(self, work: Callable[[SqliteTables], None]) -> None:
        with self._note_lock, translated(self._path):
            if self._note_tables is None:
                self._note_tables = self._open_notes()
            tables = self._note_tables
            tables.db.execute("BEGIN IMMEDIATE")
            try:
                work(tables)
                tables.db.execute("COMMIT")
            except BaseException:
                if tables.db.in_transaction:
                    tables.db.execute("ROLLBACK")
                raise

    def dump(self) -> Iterator[Mapping[str, Any]]:
        """Yield every canonical row, in an order in which they can be loaded again."""
        with self.read() as tables:
            yield from transfer.dump(tables.db)

    def load(self, rows: Iterable[Mapping[str, Any]]) -> Imported:
        """Add rows of a dump, all or none; what is there already stays as it is."""
        return self.write(lambda tables: transfer.load(tables.db, tables.words, rows))

    def check(self) -> tuple[list[str], list[Problem]]:
        """Run every check; return their names, and what they found wrong."""
        with self.read() as tables:
            return health.check(tables.db, tables.words)

    def rebuild(self) -> Mapping[str, int]:
        """Make every derived table anew from the canonical rows."""
        counts = self.write(lambda tables: health.rebuild(tables.db, tables.words))
        self._caches.clear()
        return counts

    def shrink_log(self) -> bool:
        """Empty the write-ahead log into the file; say whether nobody was in the way."""
        self._usable()
        with self._lock:
            idle, self._idle = self._idle, []
        for tables in idle:
            tables.db.close()  # an idle reader may still pin an old snapshot
        busy = self._writer.alone(
            lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        )
        return busy[0][0] == 0

    def snapshot(self, reason: str) -> Path:
        """Copy the store beside itself, as it was before *reason*; return the copy."""
        self._usable()
        with translated(self._path):
            return snapshot(self._path, reason)

    def counts(self) -> Mapping[str, int]:
        """Return how many rows each canonical table has."""
        with self.read() as tables:
            return transfer.counts(tables.db)

    def close(self) -> None:
        """Close every connection. Closing twice is closing once."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        with self._lock:
            for tables in self._idle:
                tables.db.close()
            self._idle.clear()
        with self._note_lock:
            if self._note_tables is not None:
                self._note_tables.db.close()
        self._writer.close()

    def _tables_of(self, db: apsw.Connection) -> SqliteTables:
        words = SqliteWords(db)
        return SqliteTables(
            db=db,
            places=SqlitePlaces(db),
            agents=SqliteAgents(db),
            blocks=SqliteBlocks(db, words),
            conversations=SqliteConversations(db),
            messages=SqliteMessages(db, words),
            skills=SqliteSkills(db),
            files=SqliteFiles(db, words),
            sources=SqliteSources(db),
            memories=SqliteMemories(db, words),
            jobs=SqliteJobs(db),
            links=SqliteLinks(db),
            retrievals=SqliteRetrievals(db),
            requests=SqliteRequests(db),
            words=words,
            vectors=SqliteVectors(db, IndexedRows(db, words), self._caches),
        )

    def _open_notes(self) -> SqliteTables:
        db = connect(self._path)
        db.set_busy_timeout(NOTE_TIMEOUT_MS)
        db.execute("PRAGMA synchronous = NORMAL")
        return self._tables_of(db)

    def _borrow(self) -> SqliteTables:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._tables_of(connect(self._path, read_only=True))

    def _give_back(self, tables: SqliteTables) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < MOST_IDLE:
                self._idle.append(tables)
                return
        tables.db.close()

    def _usable(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self._path} was closed; open it again with recollect.open(...)")
        if os.getpid() != self._pid:
            raise StoreClosed(
                f"{self._path} was opened before this process was forked; "
                "open it again here with recollect.open(...)"
            )
