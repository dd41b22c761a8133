"""Scheduled backups of a team on files: every store that somebody has used."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.app.restore_backup import replace_by_backup
from recollect.cli.maintenance import team_backup_check
from recollect.config import Settings
from support import FakeClock
from team_server import team_server

pytestmark = pytest.mark.door


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        db=str(tmp_path / "memory.db"),
        embedding_backend="none",
        backup_folder=str(tmp_path / "backups"),
        backup_every_hours=24,
    )


@pytest.fixture
def first(settings: Settings) -> Iterator[LocalRecollect]:
    """The first store of a team that nobody serves at the moment."""
    with team_server(settings.db_path, ["anna", "ben", "cora"]) as server:
        server.rec.engine.team.set_member("site", "ben")
        server.post("anna", "/api/memories", content="Anna drinks tea.", scope="global")
        server.post("ben", "/api/memories", content="Ben rides a bicycle.", scope="global")
        server.post("ben", "/api/memories", content="Deploys are on Fridays.", project="site")
    with LocalRecollect(settings, clock=FakeClock()) as rec:
        yield rec


def backed_up(rec: LocalRecollect) -> list[str]:
    """Make all backups that are due; return the stores they are of."""
    stores = []
    while report := rec.engine.back_up_if_due():
        stores.append(report.backup.store)
    return stores


def clock_of(rec: LocalRecollect) -> FakeClock:
    clock = rec.engine.services.clock
    assert isinstance(clock, FakeClock)
    return clock


def test_all_used_stores_are_backed_up_when_they_are_due(first: LocalRecollect) -> None:
    spaces = {str(path) for path in Path(f"{first.path}.spaces").glob("*.db")}

    at_first, again = backed_up(first), backed_up(first)
    clock_of(first).advance(hours=25)
    next_day = backed_up(first)

    assert len(spaces) == 2  # of ben and of the project; nobody opened that of cora
    assert len(at_first) == 3
    assert set(at_first) == {str(first.path), *spaces}
    assert again == []
    assert sorted(next_day) == sorted(at_first)


def test_a_store_that_cannot_be_backed_up_does_not_keep_others_from_it(
    first: LocalRecollect,
) -> None:
    ben = first.engine.team.directory.users()[1]
    damaged = Path(f"{first.path}.spaces") / f"{ben.id.replace('-', '')}.db"
    damaged.write_bytes(b"not a database" * 1000)

    stores = backed_up(first)

    assert len(stores) == 2
    assert str(damaged) not in stores
    assert first.engine.team_backups is not None
    assert first.engine.team_backups.overdue() == ["user ben"]


def test_doctor_names_the_stores_without_a_new_backup(first: LocalRecollect) -> None:
    [(_, is_ok_at_first, detail)] = team_backup_check(first)
    backed_up(first)
    [(_, is_ok, _)] = team_backup_check(first)
    clock_of(first).advance(hours=49)
    [(_, is_ok_later, _)] = team_backup_check(first)

    assert (is_ok_at_first, is_ok, is_ok_later) == (False, True, False)
    assert "user ben, project site" in detail


def test_the_store_of_a_user_is_restored_from_its_backup(
    first: LocalRecollect, settings: Settings
) -> None:
    backed_up(first)
    ben = first.engine.team.directory.users()[1]
    store = Path(f"{first.path}.spaces") / f"{ben.id.replace('-', '')}.db"
    [copy] = Path(settings.backup_folder).glob(f"{store.stem}-*.db")
    own = Settings(db=str(store), embedding_backend="none")
    with LocalRecollect(own) as rec:
        rec.ingest("Ben sold it.", scope="global")

    replace_by_backup(own, copy)

    with LocalRecollect(own) as rec:
        assert [memory.content for memory in rec.memories.list()] == ["Ben rides a bicycle."]


def test_a_store_without_users_has_no_check_of_team_backups(settings: Settings) -> None:
    with LocalRecollect(settings) as rec:
        assert list(team_backup_check(rec)) == []
