"""
The PostgreSQL store: its connections, and operations on the whole schema.

As in SQLite one connection at a time writes, behind the group-commit writer, another one writes the
retrieval log, whose rows need not be on disk at once, and others only read. They come from a
bounded number that all stores of a team share.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.calling_client import calling_user
from recollect.clock import Clock
from recollect.domain.maintenance import Imported, StoreLoad, VerificationProblem
from recollect.domain.retrieval import Retrieval
from recollect.domain.unfinished_work import UnfinishedWork
from recollect.errors import StoreClosed, StoreUnavailable
from recollect.store.group_commit import Writer
from recollect.store.indexes.word_tokenizer import WordTokenizer
from recollect.store.next_write import NextWrite
from recollect.store.open_tables import index_sizes, open_tables
from recollect.store.postgres.database_connections import DEFAULT_LIMIT, DatabaseConnections
from recollect.store.postgres.job_listener import JobSubscription
from recollect.store.postgres.migrate import migrate
from recollect.store.postgres.postgres_connection import PostgresConnection
from recollect.store.postgres.postgres_errors import translate_errors
from recollect.store.postgres.postgres_rows import ColumnNames, PostgresRows
from recollect.store.postgres.postgres_transactions import (
    STATEMENT_TIMEOUT_MS,
    USER_SETTING,
    Database,
    PostgresTables,
    PostgresTransactions,
    begin_read,
    begin_write,
    connect,
)
from recollect.store.postgres.row_level_security import (
    FIRST_SPACE,
    SpaceIdentity,
    grant_rows,
    protect_tables,
)
from recollect.store.postgres.server_address import ServerAddress
from recollect.store.retrieval_queue import QueuedRetrieval, RetrievalQueue, add_retrievals
from recollect.store.sqlite.staged_rows import StagedRows
from recollect.store.transfer.export_import import export_rows, row_counts
from recollect.store.transfer.export_upgrade import upgrade_rows
from recollect.store.transfer.import_steps import import_validated
from recollect.store.transfer.row_checks import check_rows, rebuild
from recollect.tracing import trace_step

if TYPE_CHECKING:
    from recollect.store.indexes.bit_code_index import BitCodeIndex

T = TypeVar("T")
FLUSH_S = 0.5  # how long a reader of the whole log waits for what is not written to it yet
LOG_LOCK_TIMEOUT_MS = 250  # log rows do not wait longer
NO_TIMEOUT = 0  # for reads of whole tables

_tokenizers = threading.local()  # one for each thread: opening one takes longer than all the tables

# Without statistics of tables that were just filled, queries take four times as long. The server
# collects them by itself, but only after a minute.
_ANALYZE = "ANALYZE memories, evidence, messages, items, shelves, terms, postings, embeddings"
_SET_USER = f"SELECT set_config('{USER_SETTING}', %(user)s, true)"
# Whether the role of the connection is bound by policies, if there are tables and policies.
_IS_PROTECTED = """SELECT row_security_active(c.oid) FROM pg_class c
                    WHERE c.relnamespace = to_regnamespace(%s) AND c.relname = 'memories'"""
_HAS_STORE = "SELECT 1 FROM pg_tables WHERE schemaname = :schema AND tablename = 'migrations'"
_SIZE = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
            WHERE c.relnamespace = to_regnamespace(:schema) AND c.relkind = 'r'"""


class PostgresStore:
    """
    See `Store` in recollect.store.protocol.

    Safe to share between threads, not across a fork.
    """

    def __init__(
        self,
        address: ServerAddress,
        clock: Clock,
        *,
        owner: ServerAddress | None = None,
        identity: SpaceIdentity | None = None,
        connections: int = DEFAULT_LIMIT,
        connections_of: "PostgresStore | None" = None,
    ) -> None:
        """
        Open the store at *address*, as the space *identity* of a team if it is one.

        *owner* names the role that owns the tables, if the one of *address* does not. The store has
        at most so many *connections*, or those of another store of the same database, which is then
        closed after this one.
        """
        self._address = address
        self._owner = replace(owner or address, schema=address.schema)
        self._identity = identity or SpaceIdentity(
            space=FIRST_SPACE, directory_schema=address.schema, default_user=FIRST_SPACE
        )
        self._default_user = self._identity.default_user
        self._sets_users = False  # whether a write was for another one
        self._clock = clock
        self._pid = os.getpid()
        self._closed = False
        self._owns_connections = connections_of is None
        self._connections: DatabaseConnections = (
            DatabaseConnections(address, limit=connections)
            if connections_of is None
            else connections_of._connections
        )
        self._code_indexes: dict[int, BitCodeIndex] = {}
        self._columns: dict[str, ColumnNames] = {}
        self._listeners: list[JobSubscription] = []
        self._next_write = NextWrite()
        self._log_lock = threading.Lock()
        self._log = self._transactions_of(
            begin_write(
                address,
                user=self._identity.space,  # a reader's retrievals are logged too
                lock_timeout_ms=LOG_LOCK_TIMEOUT_MS,
                is_durable=False,
            )
        )
        try:
            self._schema = self._migrate()
        except BaseException:
            if self._owns_connections:
                self._connections.close()
            raise
        begin = begin_write(address, user=self._default_user)
        self._transactions = self._transactions_of(begin)
        self._writer = Writer(self._transactions)
        self._retrieval_queue = RetrievalQueue(self._write_retrievals)

    @property
    def location(self) -> str:
        return self._address.location

    @property
    def file(self) -> None:
        return None

    @property
    def read_only_reason(self) -> str:
        return ""

    def load(self) -> StoreLoad:
        code_bytes, vector_bytes = index_sizes(self._code_indexes.values())
        pool = self._connections.reader_stats()
        idle = pool.get("pool_available", 0)
        return StoreLoad(
            queued_writes=self._writer.queue_length,
            queued_retrievals=len(self._retrieval_queue),
            busy_readers=pool.get("pool_size", 0) - idle,
            idle_readers=idle,
            waiting_readers=pool.get("requests_waiting", 0),
            code_bytes=code_bytes,
            vector_bytes=vector_bytes,
        )

    def schema_version(self) -> int:
        return self._schema

    def size_bytes(self) -> int:
        with self.read() as tables:
            sizes = self._rows_of(tables).select(_SIZE, {"schema": self._address.schema})
            return int(next(sizes)[0])

    @contextmanager
    def read(self) -> Iterator[PostgresTables]:
        with self._read(STATEMENT_TIMEOUT_MS) as tables:
            yield tables

    def write(self, work: Callable[[PostgresTables], T]) -> T:
        self._check_usable()
        first = self._next_write.take()
        retrievals = self._retrieval_queue.take()  # they share the cost of this commit

        user = calling_user(writes=True) or self._default_user

        def run() -> T:
            tables = self._transactions.tables
            self._sets_users = self._sets_users or user != self._default_user
            if self._sets_users:  # another write of the same transaction may be for another user
                tables.connection.run(_SET_USER, {"user": user})
            add_retrievals(tables, retrievals)
            for first_work in first:
                first_work(tables)
            return work(tables)

        is_written = False
        try:
            result = self._writer.run(run)
            is_written = True
            return result
        finally:
            self._retrieval_queue.finish_batch(retrievals, is_written=is_written)

    def in_next_write(self, work: Callable[[PostgresTables], None]) -> AbstractContextManager[None]:
        return self._next_write.joined_by(work)

    def log_retrieval(self, retrieval: Retrieval) -> bool:
        self._check_usable()
        return self._retrieval_queue.add(retrieval, self._clock.now())

    def queued_retrieval(self, retrieval_id: str) -> Retrieval | None:
        return self._retrieval_queue.get(retrieval_id)

    def flush_log(self, *, timeout_s: float) -> bool:
        self._check_usable()
        return self._retrieval_queue.flush(timeout_s)

    def listen_for_jobs(self, wake: Callable[[], None]) -> JobSubscription | None:
        self._check_usable()
        if self._address.has_pooler:
            return None  # notifications belong to a connection too
        listener = self._connections.listen_for_jobs(self._address.schema, wake)
        self._listeners.append(listener)
        return listener

    def export_rows(self, *, synced: bool = False) -> Iterator[Mapping[str, Any]]:
        self.flush_log(timeout_s=FLUSH_S)
        with self._read(NO_TIMEOUT) as tables:
            yield from export_rows(self._rows_of(tables), synced=synced)

    def import_rows(
        self,
        rows: Iterable[Mapping[str, Any]],
        work: UnfinishedWork,
        *,
        apply_tombstones: Callable[[], None] | None = None,
    ) -> Imported:
        self._check_usable()
        # Validated in a temporary SQLite file, whose rules are the same.
        with StagedRows(upgrade_rows(rows)) as staged:
            imported = import_validated(
                self,
                staged,
                work,
                clock=self._clock,
                rows_of=self._rows_of,
                apply_tombstones=apply_tombstones,
            )
        self.update_statistics()
        return imported

    def check(self) -> tuple[list[str], list[VerificationProblem]]:
        with self._read(NO_TIMEOUT) as tables:
            return check_rows(self._rows_of(tables), tables.word_index)

    def rebuild_indexes(self) -> Mapping[str, int]:
        def run(tables: PostgresTables) -> Mapping[str, int]:
            rows = self._rows_of(tables)
            rows.execute(f"SET LOCAL statement_timeout = {NO_TIMEOUT}")
            counts = rebuild(rows, tables.word_index)
            rows.execute(_ANALYZE)
            return counts

        counts = self.write(run)
        self._code_indexes.clear()
        return counts

    def update_statistics(self) -> None:
        self.write(lambda tables: self._rows_of(tables).execute(_ANALYZE))

    def row_counts(self) -> Mapping[str, int]:
        self.flush_log(timeout_s=FLUSH_S)
        with self._read(NO_TIMEOUT) as tables:
            return row_counts(self._rows_of(tables))

    def close(self) -> None:
        if self._closed or os.getpid() != self._pid:
            return
        self._retrieval_queue.close()
        self._closed = True
        for listener in self._listeners:
            listener.close()
        self._writer.close()
        if self._owns_connections:
            self._connections.close()

    def has_store(self, schema: str) -> bool:
        """Return whether another schema of the database has the tables of a store."""
        with self.read() as tables:
            return any(self._rows_of(tables).select(_HAS_STORE, {"schema": schema}))

    def enforce_policies(self) -> None:
        with (
            self._connections.opening,
            translate_errors(self.location),
            closing(connect(self._owner)) as db,
        ):
            protect_tables(db, self._address, self._identity)

    def _migrate(self) -> int:
        with self._connections.opening, closing(connect(self._owner)) as db:
            self._check_is_first_store(db)
            version = migrate(db, self._owner, self._clock)
            with translate_errors(self.location):
                if self._owner.conninfo != self._address.conninfo:
                    grant_rows(db, self._address, self._role())
                if self._is_of_team(db):  # also what a migration has added
                    protect_tables(db, self._address, self._identity)
            return version

    def _check_is_first_store(self, db: Database) -> None:
        """Refuse the schema of a user or project that is opened as a store of its own."""
        if self._identity.directory_schema != self._address.schema:
            return
        row = db.execute(_IS_PROTECTED, (self._address.schema,)).fetchone()
        if row is not None and row[0] and not self._is_of_team(db):
            raise StoreUnavailable(
                f"{self.location} is the store of a user or project of a team, and its policies "
                "show no rows without the user; open the first store instead (its schema has the "
                "users), or copy the database with pg_dump as a role with BYPASSRLS"
            )

    def _role(self) -> str:
        with closing(connect(self._address)) as db:
            row = db.execute("SELECT current_user").fetchone()
        return str(row[0]) if row else ""

    def _is_of_team(self, db: Database) -> bool:
        if self._identity.directory_schema != self._address.schema:
            return True
        row = db.execute(f"SELECT 1 FROM {self._address.quoted_schema}.users LIMIT 1").fetchone()
        return row is not None

    @contextmanager
    def _read(self, timeout_ms: int) -> Iterator[PostgresTables]:
        self._check_usable()
        with trace_step("store read"), translate_errors(self.location):
            user = calling_user() or self._default_user
            begin_sql = begin_read(self._address, user=user, timeout_ms=timeout_ms)
            db = self._connections.begin_read(begin_sql)
            try:
                yield self._open_tables(PostgresConnection(db))
            finally:
                self._connections.end_read(db)

    def _open_tables(self, connection: PostgresConnection) -> PostgresTables:
        if not hasattr(_tokenizers, "own"):
            _tokenizers.own = WordTokenizer()
        return open_tables(connection, _tokenizers.own, self._code_indexes)

    def _rows_of(self, tables: PostgresTables) -> PostgresRows:
        return PostgresRows(tables.connection, self._columns)

    def _write_retrievals(self, retrievals: Sequence[QueuedRetrieval]) -> None:
        self._check_usable()
        with self._log_lock, translate_errors(self.location):
            try:
                self._log.begin()
                add_retrievals(self._log.tables, retrievals)
                self._log.commit()
            finally:
                try:
                    if self._log.in_transaction:
                        self._log.rollback()
                finally:
                    self._log.end()

    def _transactions_of(self, begin_sql: str) -> PostgresTransactions:
        return PostgresTransactions(self._connections, self.location, begin_sql, self._open_tables)

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self.location} was closed; open it again with recollect.open(...)")
        if os.getpid() != self._pid:
            raise StoreClosed(
                f"{self.location} was opened before this process was forked; "
                "open it again here with recollect.open(...)"
            )
