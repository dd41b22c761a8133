"""Workers go round the stores of all users and projects, also of those that nobody has open."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fault_proxy import wait_until
from recollect import LocalRecollect
from recollect.app.background_worker import BackgroundWorker
from recollect.app.space_worker import SpaceWorker, open_spaces
from recollect.calling_client import use_user
from recollect.cli.main import main
from recollect.config import Settings
from team_server import team_server

pytestmark = pytest.mark.door

SESSION = "User: We use pnpm here, not npm.\n"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store without users, in a file and on PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    from team_postgres import two_roles

    return two_roles("worked")[1]


@pytest.fixture
def team(db: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A team whose users and project have jobs that nobody has done."""
    monkeypatch.setattr(BackgroundWorker, "start", lambda worker: None)
    place = Path(db) if "://" not in db else db
    with team_server(place, ["root", "anna", "ben"]) as server:
        server.rec.engine.team.set_member("site", "anna", "writer")
        server.post("anna", "/api/memories", content="The site is blue.", project="site")
        for name in ("anna", "ben"):
            server.post(name, "/api/captures/session", transcript=SESSION)
        for project in server.dispatcher._projects._open.values():
            with use_user(project.project.id):
                project.rec.capture_session(SESSION)
        server.rec.engine.team.revoke_user("ben")
    monkeypatch.undo()
    return db


def opened(db: str) -> LocalRecollect:
    return LocalRecollect(Settings(db=db, embedding_backend="none"))


def waiting_jobs(rec: LocalRecollect) -> list[int]:
    """Return how many jobs each space has that are not done."""
    return [len(space.jobs.list()) for space in open_spaces(rec)]


def test_the_command_work_does_the_jobs_of_all_users_and_projects(team: str) -> None:
    with opened(team) as rec:
        assert waiting_jobs(rec) == [1, 1]  # of anna and the project; ben is revoked

    done = CliRunner().invoke(main, ["work", "--once", "--json", "--db", team])

    assert done.exit_code == 0, done.output
    assert sum(json.loads(done.stdout)["done"].values()) >= 2
    with opened(team) as rec:
        assert waiting_jobs(rec) == [0, 0]


def test_a_server_does_the_jobs_of_users_who_do_not_come(team: str) -> None:
    place = Path(team) if "://" not in team else team
    with team_server(place) as server:
        server.clock.issued = 1_000_000
        assert wait_until(lambda: waiting_jobs(server.rec) == [0, 0])
        assert server.dispatcher.open_apps() == []


def test_a_space_in_use_is_left_to_its_own_worker(team: str) -> None:
    with opened(team) as rec:
        worker = SpaceWorker(rec, is_in_use=lambda space_id: True)
        worker._work()
        assert waiting_jobs(rec) == [1, 1]


def test_a_store_that_cannot_be_opened_does_not_stop_the_round(
    team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "://" in team:
        return
    first, *_ = sorted(Path(f"{team}.spaces").glob("*.db"))
    first.write_bytes(b"no database " * 1_000)

    with opened(team) as rec:
        assert len(waiting_jobs(rec)) >= 1


def test_a_store_without_users_has_no_spaces(tmp_path: Path) -> None:
    with opened(str(tmp_path / "alone.db")) as rec:
        assert list(open_spaces(rec)) == []
