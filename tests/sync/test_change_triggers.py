"""Triggers that note changes are in stores that sync, and in no others."""

from pathlib import Path

from recollect import LocalRecollect
from recollect.clock import SystemClock
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import known_migrations, migrate
from recollect.store.sqlite.repair import repair
from recollect.store.transfer.record_kinds import KINDS
from support import file_store
from synced_devices import make_device, settings_of

EVERY_TABLE = [table for kind, layout in KINDS.items() for table in (kind, *layout.parts)]
EXPECTED = {
    *(f"sync_{event}_of_{t}" for t in EVERY_TABLE for event in ("insert", "update", "delete")),
    *(f"sync_versions_of_{kind}" for kind, layout in KINDS.items() if layout.values),
}


def triggers_of(rec: LocalRecollect) -> set[str]:
    sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'sync%'"
    with file_store(rec).read() as tables:
        return {name for (name,) in tables.connection.db.execute(sql)}


def test_a_store_gets_the_triggers_when_sync_is_set_up(tmp_path: Path) -> None:
    with LocalRecollect(settings_of(tmp_path, "a")) as rec:
        before = triggers_of(rec)
        rec.sync.init(str(tmp_path / "shared"))

        assert before == set()
        assert triggers_of(rec) == EXPECTED


def test_a_store_that_synced_before_its_migration_goes_on_noting_changes(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "a")
    settings.db_path.parent.mkdir()
    steps = [step for step in known_migrations() if step.number < 29]
    db = connect(settings.db_path, create=True)
    migrate(db, settings.db_path, SystemClock(), steps)
    db.execute(
        "INSERT INTO sync_device (id, device, place, folder, key_id) VALUES (1, 'd', 'p', 'f', 'k')"
    )
    db.close()

    with LocalRecollect(settings) as rec:
        rec.ingest("Deploys happen on Fridays.", scope="global")

        assert triggers_of(rec) == EXPECTED
        assert rec.sync.status().unsent == 2  # the memory and its source


def test_a_store_that_was_repaired_goes_on_noting_changes(tmp_path: Path) -> None:
    device = make_device(tmp_path, "a", 1)
    device.sync()
    device.rec.close()
    (tmp_path / "b").mkdir()
    repair(tmp_path / "a" / "memory.db", tmp_path / "b" / "memory.db", SystemClock())

    with LocalRecollect(settings_of(tmp_path, "b")) as rec:
        rec.ingest("Deploys happen on Fridays.", scope="global")

        assert rec.sync.status().unsent == 2
