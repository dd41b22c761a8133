"""The store of a team is moved with its users, members, audit log and all spaces."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from killed_process import run_until_killed
from recollect import LocalRecollect
from recollect.app import copy_store as copying
from recollect.app import move_store as moving
from recollect.app.move_store import move_store
from recollect.app.space_stores import open_space_to_read
from recollect.app.team_space import space_settings
from recollect.clock import SystemClock
from recollect.config import Settings
from recollect.domain.move_report import MoveReport
from recollect.errors import AlreadyExists, ImportRefused
from recollect.store.protocol import Store
from recollect.store.sqlite.store import SqliteStore
from support import open_memory
from team_server import team_server

pytestmark = pytest.mark.door

Content = dict[str, list[Any]]


@pytest.fixture
def tokens(path: Path) -> dict[str, str]:
    """Fill a team with three users, of whom one is revoked, and a project; return their tokens."""
    with team_server(path, ["root", "anna", "ben"]) as team:
        team.rec.engine.team.set_member("site", "anna", "owner")
        team.rec.engine.team.set_member("site", "ben", "writer")
        for name in ("root", "anna", "ben"):
            team.post(name, "/api/memories", content=f"The cat of {name} is called Mitzi.")
            team.post(name, "/api/captures/session", transcript="User: I like tea.\n")
        team.post("ben", "/api/memories", content="The site is blue.", project="site")
        team.found("anna", "which colour?", project="site")
        team.rec.engine.team.revoke_user("ben")
        team.add_users("never-here")  # has no store yet
        return dict(team.tokens)


def settings_of(db: str | Path) -> Settings:
    return Settings(db=str(db), embedding_backend="none")


def move(source: str | Path, to: str | Path) -> MoveReport:
    return move_store(settings_of(source), str(to), plain=False, report=lambda text: None)


def team_content(db: str | Path) -> Content:
    """Return every row, audit entry, user and member of all stores of a team, by store."""
    with closing(moving._open(settings_of(db), SystemClock())) as first:
        content = {"first": store_content(first)}
        directory = moving._read_directory(first)
        content["directory"] = [
            *directory.users,
            directory.token_hashes,
            *directory.projects,
            *directory.members,
        ]
        for space_id in directory.space_ids():
            store = open_space_to_read(settings_of(db), SystemClock(), space_id, first=first)
            if store is not None:
                with closing(store):
                    content[space_id] = store_content(store)
    return content


def store_content(store: Store) -> list[Any]:
    with store.read() as tables:
        return [*store.export_rows(), *tables.team.audit_page(limit=1_000)]


def check_that_the_team_works(db: str | Path, tokens: dict[str, str]) -> None:
    """Check that users find what is theirs with the tokens they had."""
    with team_server(db) as team:
        team.tokens = tokens
        team.clock.issued = 1_000_000  # ids are not used again
        assert team.found("anna", "cat") == ["The cat of anna is called Mitzi."]
        assert team.found("root", "cat") == ["The cat of root is called Mitzi."]
        assert team.found("anna", "colour of the site", project="site") == ["The site is blue."]
        assert team.request("ben", "GET", "/api/pending").status_code == 401
        by_ben = [entry for entry in team.rec.engine.team.audit(user="ben") if entry.is_write]
        assert {(entry.verb, entry.space) for entry in by_ben} >= {
            ("ingest", ""),
            ("ingest", "site"),
        }


def test_users_members_the_audit_log_and_every_space_are_moved(
    path: Path, tmp_path: Path, tokens: dict[str, str]
) -> None:
    before = team_content(path)

    report = move(path, tmp_path / "copy.db")

    assert team_content(tmp_path / "copy.db") == before == team_content(path)
    assert len(before) == 2 + 3  # anna, ben and the project
    assert report.stores == 4
    assert report.rows["users"] == 4
    assert report.rows["project_members"] == 1
    assert report.rows["audit_log"] > 8
    check_that_the_team_works(tmp_path / "copy.db", tokens)


def test_a_place_with_users_or_with_a_store_of_one_is_refused(
    path: Path, tmp_path: Path, tokens: dict[str, str]
) -> None:
    with team_server(tmp_path / "other.db", ["somebody"]):
        pass
    user_id = next(user.id for user in team_content(path)["directory"] if user.name == "anna")
    left = space_settings(settings_of(tmp_path / "copy.db"), user_id).db_path
    with open_memory(left) as rec:
        rec.ingest("Left by a former team.")

    with pytest.raises(AlreadyExists, match="not empty"):
        move(path, tmp_path / "other.db")
    with pytest.raises(AlreadyExists, match=f"{left.name} is not empty"):
        move(path, tmp_path / "copy.db")


@pytest.mark.parametrize(
    ("owner", "step", "has_users"),
    [(copying, "_copy_audit_log", False), (SqliteStore, "enforce_policies", True)],
    ids=["first store", "users"],
)
def test_a_move_of_a_team_that_was_interrupted_continues_and_accepts_no_token_before_its_end(
    path: Path,
    tmp_path: Path,
    tokens: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    step: str,
    has_users: bool,
) -> None:
    def interrupt(*stores: Store) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            move(path, tmp_path / "copy.db")
    with (
        closing(moving._open(settings_of(tmp_path / "copy.db"), SystemClock())) as half,
        half.read() as tables,
    ):
        assert tables.team.has_users() == has_users

    move(path, tmp_path / "copy.db")

    assert team_content(tmp_path / "copy.db") == team_content(path)


def test_a_member_who_was_added_meanwhile_is_noticed(
    path: Path, tmp_path: Path, tokens: dict[str, str]
) -> None:
    def add_a_member(text: str) -> None:
        if text == "Comparing":
            with LocalRecollect(Settings(db=str(path), audit="never")) as rec:
                rec.engine.team.set_member("site", "root", "reader")

    with pytest.raises(ImportRefused, match="users or members"):
        move_store(settings_of(path), str(tmp_path / "copy.db"), plain=False, report=add_a_member)
    assert move(path, tmp_path / "copy.db").rows["project_members"] == 2


@pytest.fixture
def url() -> str:
    """The address of a new store on PostgreSQL, as the role that owns it and is no superuser."""
    from team_postgres import two_roles

    return two_roles("moved")[1]


@pytest.mark.postgres
def test_a_team_is_moved_to_postgresql_and_back(
    path: Path, tmp_path: Path, tokens: dict[str, str], url: str
) -> None:
    there = move(path, url)
    back = move(url, tmp_path / "back.db")

    assert there.rows == back.rows
    assert team_content(tmp_path / "back.db") == team_content(url) == team_content(path)
    check_that_the_team_works(url, tokens)
    check_that_the_team_works(tmp_path / "back.db", tokens)


@pytest.mark.postgres
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_move_of_a_team_to_postgresql_that_was_killed_continues(
    path: Path, tokens: dict[str, str], url: str, share: float
) -> None:
    from team_postgres import two_roles

    moments = run_until_killed(lambda: move(path, two_roles("moments")[1]), 0)
    assert moments > 0
    run_until_killed(lambda: move(path, url), int(moments * share))

    move(path, url)

    assert team_content(url) == team_content(path)
    check_that_the_team_works(url, tokens)
