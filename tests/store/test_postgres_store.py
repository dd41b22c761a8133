"""What only a store on a PostgreSQL server has: connections, migrations, one lock, its rules."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from postgres_server import SCHEMAS, PostgresServer, shared_server
from recollect import Project, StoreBusy, StoreUnavailable
from recollect.clock import SystemClock
from recollect.errors import EvidenceMissing, InvalidInput, StoreDamaged, StoreNewer
from recollect.store.postgres import database_connections
from recollect.store.postgres import store as postgres_store
from recollect.store.postgres.postgres_transactions import begin_write
from recollect.store.postgres.server_address import ServerAddress, parse_address
from recollect.store.postgres.store import PostgresStore
from recollect.store.protocol import Tables
from recollect.store.sqlite.sqlite_rows import SqliteRows
from recollect.store.sqlite.store import SqliteStore
from recollect.store.transfer.export_import import TABLES
from store_records import agent, memory_writer, source
from support import START, FakeClock

pytestmark = pytest.mark.postgres
MAX_READERS = 10  # of a store with the usual number of connections
ONE_READER = 6  # the number of connections of a store, of which one reads
CUT = """SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
          WHERE application_name = 'recollect' AND pid <> pg_backend_pid()"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[ServerAddress]:
    """The address of an empty store."""
    yield shared_server().address(SCHEMAS.schema_of(tmp_path))
    SCHEMAS.release()


@pytest.fixture
def store(address: ServerAddress) -> Iterator[PostgresStore]:
    opened = PostgresStore(address, FakeClock())
    yield opened
    opened.close()


def sql(address: ServerAddress, statement: str) -> list[tuple[object, ...]]:
    """Run SQL as another program would."""
    with psycopg.connect(address.conninfo, autocommit=True) as db:
        db.execute(f"SET search_path TO {address.schema}")
        cursor = db.execute(statement)
        return cursor.fetchall() if cursor.description else []


def test_the_tables_have_the_columns_of_sqlite_in_the_same_order(
    store: PostgresStore, tmp_path: Path
) -> None:
    file = SqliteStore(tmp_path / "memory.db", FakeClock())
    try:
        with store.read() as tables, file.read() as file_tables:
            rows, file_rows = store._rows_of(tables), SqliteRows(file_tables.connection.db)
            for table in TABLES:
                assert rows.columns(table) == file_rows.columns(table), table
                assert set(rows.primary_key(table)) == set(file_rows.primary_key(table)), table
            names = (
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
            in_file = {
                name
                for (name,) in file_rows.select(names)
                if not name.startswith("sync_")  # sync between devices is for files
            }
            listed = "SELECT tablename FROM pg_tables WHERE schemaname = :schema"
            on_server = rows.select(listed, {"schema": store._address.schema})
            assert {name for (name,) in on_server} == in_file
    finally:
        file.close()


def test_many_servers_open_a_new_store_at_once_and_one_migrates(address: ServerAddress) -> None:
    fresh = shared_server().address("opened_at_once")
    opened: list[int] = []

    def open_store() -> None:
        store = PostgresStore(fresh, SystemClock())
        opened.append(store.schema_version())
        store.close()

    threads = [threading.Thread(target=open_store) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert opened == [opened[0]] * 4
    sql(fresh, "DROP SCHEMA opened_at_once CASCADE")


def test_a_store_of_a_newer_version_is_refused(store: PostgresStore) -> None:
    sql(store._address, "INSERT INTO migrations VALUES (9999, 'later', '', 0)")
    try:
        with pytest.raises(StoreNewer, match="upgrade"):
            PostgresStore(store._address, FakeClock())
    finally:
        sql(store._address, "DELETE FROM migrations WHERE number = 9999")


@pytest.mark.parametrize("name", ["user", "select"])
def test_a_schema_may_have_the_name_of_a_keyword(address: ServerAddress, name: str) -> None:
    keyword = shared_server().address(name)
    store = PostgresStore(keyword, FakeClock())
    try:
        store.write(lambda tables: tables.agents.add(agent("a", "anna")))
        with store.read() as tables:
            assert len(tables.agents.all()) == 1
        assert store.size_bytes() > 0
        PostgresStore(keyword, FakeClock()).close()  # its migrations are found again
    finally:
        store.close()
        sql(address, f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


def test_a_schema_of_another_program_is_refused(address: ServerAddress) -> None:
    sql(address, "CREATE SCHEMA of_others; CREATE TABLE of_others.invoices (id int)")
    try:
        with pytest.raises(StoreDamaged, match=r"another program \(invoices\)"):
            PostgresStore(shared_server().address("of_others"), FakeClock())
    finally:
        sql(address, "DROP SCHEMA of_others CASCADE")


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    address = parse_address("postgresql://anna:secret@127.0.0.1:1/team")

    with pytest.raises(StoreUnavailable, match=r"anna@127\.0\.0\.1:1/team") as raised:
        PostgresStore(address, FakeClock())

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memories SET status = 'active' WHERE status = 'inbox'",
        "DELETE FROM evidence",
        "UPDATE evidence SET quote = 'other words'",
        "INSERT INTO evidence SELECT 'e9', memory_id, source_id, 0, 3, 'xyz', 0 FROM evidence",
    ],
)
def test_the_server_refuses_what_breaks_the_rules_of_evidence(
    store: PostgresStore, statement: str
) -> None:
    keep = memory_writer(store, FakeClock())
    keep("the zebra sleeps")
    other = keep("the lion sleeps")
    sql(store._address, f"UPDATE memories SET status = 'inbox' WHERE id = '{other.id}'")
    sql(store._address, f"DELETE FROM evidence WHERE memory_id = '{other.id}'")

    with pytest.raises(psycopg.IntegrityError, match="evidence: "):
        sql(store._address, statement)


def test_the_server_refuses_a_changed_source(store: PostgresStore) -> None:
    store.write(lambda tables: tables.sources.add(source("s1", "the zebra sleeps")))

    with pytest.raises(psycopg.IntegrityError, match="immutable"):
        sql(store._address, "UPDATE sources SET content = 'the zebra walks.'")


def test_refusals_of_the_server_are_our_errors(store: PostgresStore) -> None:
    def write_twice(tables: Tables) -> None:
        tables.agents.add(agent("a", "anna"))
        tables.agents.add(agent("a", "anna"))

    with pytest.raises(InvalidInput, match="refused the write"):
        store.write(write_twice)

    memory_writer(store, FakeClock())("the zebra sleeps")
    with pytest.raises(EvidenceMissing):
        store.write(lambda tables: tables.connection.db.execute("DELETE FROM evidence"))


def test_a_write_with_a_statement_that_failed_is_not_acknowledged(store: PostgresStore) -> None:
    def swallow_error(tables: Tables) -> None:
        tables.agents.add(agent("a", "anna"))
        with suppress(psycopg.Error):
            tables.agents.add(agent("a", "anna"))
            tables.agents.get("a")  # waits for the statements before it

    with pytest.raises(StoreUnavailable, match="nothing was changed"):
        store.write(swallow_error)

    with store.read() as tables:
        assert tables.agents.all() == []


def test_a_second_writer_waits_and_gives_up_with_a_clear_error(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        postgres_store,
        "begin_write",
        lambda address, **options: begin_write(address, **{**options, "lock_timeout_ms": 50}),
    )
    other = PostgresStore(store._address, FakeClock())

    def hold(tables: Tables) -> None:
        with pytest.raises(StoreBusy, match="try again"):
            other.write(lambda tables: tables.agents.add(agent("b", "ben")))

    store.write(hold)
    other.write(lambda tables: tables.agents.add(agent("b", "ben")))

    with store.read() as tables:
        assert [found.name for found in tables.agents.all()] == ["ben"]
    other.close()


def test_a_write_is_run_again_if_the_server_asks_for_it(store: PostgresStore) -> None:
    runs: list[int] = []

    def write(tables: Tables) -> None:
        runs.append(1)
        tables.agents.add(agent(f"a{len(runs)}", f"anna {len(runs)}"))
        if len(runs) < 3:
            raise psycopg.errors.SerializationFailure

    store.write(write)

    with store.read() as tables:
        assert [found.name for found in tables.agents.all()] == ["anna 3"]


def test_texts_are_in_the_order_of_their_bytes_whatever_the_server_speaks(
    store: PostgresStore,
) -> None:
    names = ["b", "B", "a", "A", "ä", "z", "_", "é", "Z"]

    def write(tables: Tables) -> None:
        for number, name in enumerate(names):
            tables.agents.add(agent(f"a{number}", name))

    store.write(write)

    with store.read() as tables:
        assert [found.name for found in tables.agents.all()] == sorted(names)


def test_a_text_with_a_nul_is_refused_with_a_clear_error(store: PostgresStore) -> None:
    with pytest.raises(InvalidInput, match="cannot hold this value"):
        store.write(lambda tables: tables.sources.add(source("s1", "a\0b")))


def test_long_names_fit_although_an_index_entry_is_limited(store: PostgresStore) -> None:
    identity = "https://host/" + "".join(chr(0x4E00 + number % 20_000) for number in range(4_000))
    project = Project(id="p1", name="site", identity=identity, created_at=START)

    store.write(lambda tables: tables.projects.add_project(project))

    with store.read() as tables:
        assert tables.projects.project_by_identity(identity) == project


def test_more_readers_than_connections_wait_for_each_other(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = MAX_READERS * 3
    barrier = threading.Barrier(MAX_READERS)
    results: list[int] = []

    def read(number: int) -> None:
        with store.read() as tables:
            if number < MAX_READERS:
                barrier.wait(60)  # all connections are in use
            results.append(len(tables.agents.all()))

    threads = [threading.Thread(target=read, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [0] * count


def test_a_reader_that_gets_no_connection_is_told_so(
    address: ServerAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_connections, "READER_WAIT_S", 0.05)
    store = PostgresStore(address, FakeClock(), connections=ONE_READER)

    with store.read(), pytest.raises(StoreBusy, match="in use"), store.read():
        pass

    with store.read() as tables:
        assert tables.agents.all() == []
    store.close()


def test_connections_that_nobody_reads_with_are_closed(
    address: ServerAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_connections, "MAX_IDLE_S", 0.1)
    store = PostgresStore(address, FakeClock())
    try:
        with store.read(), store.read(), store.read():
            assert store.load().busy_readers == 3
        give_up_at = time.monotonic() + 60
        while store.load().idle_readers:
            assert time.monotonic() < give_up_at
            time.sleep(0.02)
    finally:
        store.close()


def test_connections_that_were_cut_are_replaced(store: PostgresStore) -> None:
    with store.read() as tables:
        assert tables.agents.all() == []
    store.write(lambda tables: tables.agents.add(agent("a", "anna")))
    assert len(sql(store._address, CUT)) >= 2

    store.write(lambda tables: tables.agents.add(agent("b", "ben")))
    with store.read() as tables:
        assert len(tables.agents.all()) == 2


def test_a_read_whose_connection_is_cut_at_its_end_succeeds_and_leaves_no_reader_out(
    address: ServerAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_connections, "READER_WAIT_S", 5.0)
    store = PostgresStore(address, FakeClock(), connections=ONE_READER)

    with store.read() as tables:
        assert tables.agents.all() == []
        sql(address, CUT)

    with store.read() as tables:  # with the only connection of the pool
        assert tables.agents.all() == []
    store.close()


def test_a_connection_that_is_cut_between_the_statements_of_a_read_is_replaced(
    address: ServerAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_connections, "READER_WAIT_S", 5.0)
    store = PostgresStore(address, FakeClock(), connections=ONE_READER)

    with store.read() as tables:
        assert tables.agents.all() == []
        sql(address, CUT)
        with pytest.raises(psycopg.OperationalError):
            tables.agents.all()

    with store.read() as tables:
        assert tables.agents.all() == []
    store.close()


def test_a_connection_that_is_cut_during_a_write_undoes_it(store: PostgresStore) -> None:
    def write(tables: Tables) -> None:
        tables.agents.add(agent("a", "anna"))
        sql(store._address, CUT)
        tables.agents.add(agent("b", "ben"))

    with pytest.raises(StoreUnavailable):
        store.write(write)

    store.write(lambda tables: tables.agents.add(agent("c", "carl")))
    with store.read() as tables:
        assert [found.name for found in tables.agents.all()] == ["carl"]


def test_a_store_goes_on_when_its_server_was_restarted() -> None:
    server = PostgresServer()
    try:
        store = PostgresStore(server.address("restarted"), FakeClock())
        with store.read():
            store.write(lambda tables: tables.agents.add(agent("a", "anna")))

        server.stop()
        with pytest.raises(StoreUnavailable, match="cannot be used"):
            store.write(lambda tables: tables.agents.add(agent("b", "ben")))
        server.start()

        store.write(lambda tables: tables.agents.add(agent("c", "carl")))
        with store.read() as tables:
            assert [found.name for found in tables.agents.all()] == ["anna", "carl"]
        store.close()
    finally:
        server.remove()


def test_readers_are_told_of_an_outage_and_read_as_soon_as_the_server_is_back() -> None:
    server = PostgresServer()
    try:
        store = PostgresStore(server.address("away"), FakeClock())
        with store.read():
            pass

        server.stop()
        for _ in range(2):  # the pauses of a pool that goes on trying would grow
            with pytest.raises(StoreUnavailable, match="cannot be reached"), store.read():
                pass
        server.start()
        begun = time.monotonic()
        with store.read() as tables:
            assert tables.agents.all() == []

        assert time.monotonic() - begun < database_connections.READER_CHECK_S
        store.close()
    finally:
        server.remove()
