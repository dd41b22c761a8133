"""Migrations run once, in order, with a snapshot first; a newer file is refused."""

import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from recollect import StoreDamaged, StoreNewer, StoreUnavailable
from recollect.store.migration_files import Migration
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations, migrate
from support import FakeClock, open_memory


def test_the_migrations_are_numbered_without_gaps() -> None:
    numbers = [migration.number for migration in known_migrations()]

    assert numbers == list(range(1, len(numbers) + 1))


def test_a_new_file_gets_the_newest_schema_and_only_its_owner_can_read_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "deep" / "memory.db"
    with open_memory(path) as rec:
        schema = rec.maintenance.status().schema

    assert schema == known_migrations()[-1].number
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_migrating_keeps_a_snapshot_of_what_was_there(path: Path, clock: FakeClock) -> None:
    with open_memory(path) as rec:
        kept = rec.ingest("before the change")
    newest = known_migrations()[-1].number
    step = Migration(newest + 1, "more", "CREATE TABLE more (x INTEGER) STRICT")

    db = connect(path)
    assert migrate(db, path, clock, [*known_migrations(), step]) == newest + 1
    assert migrate(db, path, clock, [*known_migrations(), step]) == newest + 1
    db.close()

    snapshot = path.with_name(f"memory.db.before-{newest + 1:04d}")
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o600
    with open_memory(snapshot) as before:
        assert before.memories.get(kept.id).content == "before the change"
    with pytest.raises(StoreNewer, match="upgrade"):
        open_memory(path)


def test_a_migration_that_fails_changes_nothing(path: Path, clock: FakeClock) -> None:
    open_memory(path).close()
    newest = known_migrations()[-1].number
    broken = Migration(newest + 1, "broken", "CREATE TABLE fine (x INTEGER); CREATE TABLE oops (")

    db = connect(path)
    with pytest.raises(StoreUnavailable):
        migrate(db, path, clock, [*known_migrations(), broken])
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema")}
    db.close()

    assert "fine" not in tables
    open_memory(path).close()


def test_another_programs_database_is_left_alone(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE theirs (x)")
    db.close()

    with pytest.raises(StoreDamaged, match="another program"):
        open_memory(path)


def test_a_file_that_is_no_database_is_refused_with_a_way_out(path: Path) -> None:
    path.write_bytes(b"this is certainly not a database, it is a text " * 40)

    with pytest.raises(StoreDamaged, match="not a Recollect database"):
        open_memory(path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("x")

    with pytest.raises(StoreUnavailable, match="cannot create"):
        open_memory(blocker / "memory.db")


MIGRATING = """
import sys
from pathlib import Path
from recollect.clock import SystemClock
from recollect.store.sqlite.connection import connect
from recollect.store.migration_files import Migration
from recollect.store.sqlite.migrate import known_migrations, migrate
path = Path(sys.argv[1])
step = Migration(len(known_migrations()) + 1, "more", "CREATE TABLE more (x INTEGER) STRICT")
print(migrate(connect(path), path, SystemClock(), [*known_migrations(), step]))
"""


@pytest.mark.door
def test_many_processes_that_find_an_old_file_migrate_it_once(path: Path) -> None:
    with open_memory(path) as rec:
        kept = rec.ingest("before the change")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATING, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]

    answers = [worker.communicate() for worker in workers]

    newest = len(known_migrations()) + 1
    assert [out.strip() for out, _ in answers] == [str(newest)] * 6, answers
    with open_memory(path.with_name(f"{path.name}.before-{newest:04d}")) as before:
        assert before.memories.get(kept.id) == kept
    assert len(list(path.parent.glob("*.before-*"))) >= 1


def test_a_file_of_another_making_of_the_same_schema_is_refused(path: Path) -> None:
    open_memory(path).close()
    db = apsw.Connection(str(path))
    db.execute("UPDATE migrations SET sha256 = 'other'")
    db.close()

    with pytest.raises(StoreDamaged, match="never released"):
        open_memory(path)


def test_a_file_with_our_tables_but_another_mark_is_left_alone(path: Path) -> None:
    open_memory(path).close()
    db = apsw.Connection(str(path))
    db.execute("PRAGMA application_id = 7")
    db.close()

    with pytest.raises(StoreDamaged, match="another program"):
        open_memory(path)
