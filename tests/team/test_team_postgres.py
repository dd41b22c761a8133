"""Row-level security: what the application's role sees by SQL, for each user and for none."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import errors

from pgbouncer_process import pgbouncer
from postgres_server import shared_server
from recollect.app.team_space import directory_schema, space_settings
from recollect.domain.team import MemberRole, Membership
from recollect.errors import StoreUnavailable
from recollect.service.team import TeamDirectory
from recollect.store.postgres.server_address import parse_address
from recollect.store.postgres.store import PostgresStore
from support import FakeClock
from team_postgres import APPLICATION, as_application, superuser, two_roles
from team_server import TeamServer, team_server

pytestmark = pytest.mark.postgres
DIRECTORY = {"users", "team_projects", "project_members"}


@pytest.fixture(scope="module")
def team() -> Iterator[TeamServer]:
    db, owner = two_roles("rls")
    with team_server(db, ["root", "anna", "ben"], db_owner=owner) as server:
        server.rec.engine.team.set_member("site", "anna", "reader")
        server.rec.engine.team.set_member("site", "ben", "writer")
        for name in ("root", "anna", "ben"):
            server.post(name, "/api/memories", content=f"A secret of {name}.")
            server.post(name, "/api/captures/session", transcript="User: I like tea.\n")
        server.post("ben", "/api/memories", content="The site is blue.", project="site")
        yield server


@pytest.fixture
def db(team: TeamServer) -> Iterator["psycopg.Connection[Any]"]:
    with as_application(team.rec.engine.services.settings.db) as connection:
        yield connection


def schema_of(team: TeamServer, space_id: str) -> str:
    chosen = team.rec.engine.services.settings
    if space_id == "first":
        return directory_schema(chosen)
    return parse_address(space_settings(chosen, space_id).db).schema


def schemas(team: TeamServer) -> dict[str, str]:
    """Return the schemas of the team by the name of the user or project."""
    users = {user.name: user.id for user in team.rec.engine.team.list_users()}
    [project] = team.rec.engine.team.directory.projects()
    spaces = {"root": "first", "anna": users["anna"], "ben": users["ben"], "site": project.id}
    return {name: schema_of(team, space_id) for name, space_id in spaces.items()}


def act_as(db: "psycopg.Connection[Any]", team: TeamServer, name: str) -> None:
    ids = {user.name: user.id for user in team.rec.engine.team.list_users()}
    user_id = ids.get(name, "")
    db.execute("SELECT set_config('recollect.acting_user', %s, false)", (user_id,))


def tables_with_rows(db: "psycopg.Connection[Any]", schema: str) -> set[str]:
    """Return the tables of a schema in which the connection sees a row."""
    names = db.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,)
    ).fetchall()
    assert len(names) > 40
    return {
        name
        for (name,) in names
        if db.execute(f'SELECT 1 FROM "{schema}"."{name}" LIMIT 1').fetchone()
    }


def test_the_role_neither_owns_the_tables_nor_bypasses_policies(team: TeamServer) -> None:
    with superuser() as db:
        flags = db.execute(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = %s", (APPLICATION,)
        ).fetchone()
        assert flags == (False, False)
        for schema in schemas(team).values():
            rows = db.execute(
                "SELECT c.relname, c.relforcerowsecurity, pg_get_userbyid(c.relowner)"
                "  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                " WHERE n.nspname = %s AND c.relkind = 'r'",
                (schema,),
            ).fetchall()
            unprotected = {name for name, is_forced, _ in rows if not is_forced}
            assert unprotected <= {"migrations", *DIRECTORY}
            assert APPLICATION not in {owner for _, _, owner in rows}


@pytest.mark.parametrize(
    ("user", "visible"),
    [("root", {"root"}), ("anna", {"anna", "site"}), ("ben", {"ben", "site"}), ("", set())],
)
def test_a_user_sees_the_rows_of_the_own_spaces_in_every_table(
    team: TeamServer, db: "psycopg.Connection[Any]", user: str, visible: set[str]
) -> None:
    act_as(db, team, user)

    for name, schema in schemas(team).items():
        seen = tables_with_rows(db, schema) - {"migrations"} - DIRECTORY
        assert ({"memories", "sources", "evidence", "items", "terms"} <= seen) == (name in visible)
        if name not in visible:
            assert seen == set()


def test_a_connection_that_names_nobody_sees_nothing(
    team: TeamServer, db: "psycopg.Connection[Any]"
) -> None:
    for schema in schemas(team).values():
        assert tables_with_rows(db, schema) <= {"migrations", *DIRECTORY}


def test_a_user_writes_where_a_writer_may(team: TeamServer, db: "psycopg.Connection[Any]") -> None:
    of = schemas(team)
    update = "UPDATE {}.memories SET title = 'x'"
    insert = "INSERT INTO {}.clients (name, first_seen_at, last_seen_at) VALUES ('x', 0, 0)"

    act_as(db, team, "anna")
    for name in ("ben", "site", "root"):
        assert db.execute(update.format(of[name])).rowcount == 0
        assert db.execute(f"DELETE FROM {of[name]}.memories").rowcount == 0
        with pytest.raises(errors.InsufficientPrivilege):
            db.execute(insert.format(of[name]))
    assert db.execute(update.format(of["anna"])).rowcount >= 1
    act_as(db, team, "ben")
    assert db.execute(update.format(of["site"])).rowcount >= 1
    assert db.execute(insert.format(of["site"])).rowcount == 1


def test_a_command_that_only_reads_sees_the_space_of_a_revoked_user_and_writes_nothing(
    team: TeamServer, db: "psycopg.Connection[Any]"
) -> None:
    team.add_users("emil")
    team.post("emil", "/api/memories", content="A secret of emil.")
    [emil] = [user.id for user in team.rec.engine.team.list_users() if user.name == "emil"]
    team.rec.engine.team.revoke_user("emil")
    schema = schema_of(team, emil)
    count = f"SELECT count(*) FROM {schema}.memories"

    act_as(db, team, "emil")
    assert db.execute(count).fetchone() == (0,)
    db.execute("SELECT set_config('recollect.acting_user', %s, false)", (f"read-only:{emil}",))
    assert db.execute(count).fetchone() == (1,)
    assert db.execute(f"UPDATE {schema}.memories SET title = 'x'").rowcount == 0
    assert db.execute(f"SELECT count(*) FROM {schemas(team)['anna']}.memories").fetchone() == (0,)
    assert [entry.verb for entry in team.rec.engine.team.audit(user="emil")] == ["ingest"]


def test_a_temporary_table_does_not_stand_in_for_the_directory(
    team: TeamServer, db: "psycopg.Connection[Any]"
) -> None:
    of = schemas(team)
    act_as(db, team, "anna")
    [anna] = [user.id for user in team.rec.engine.team.list_users() if user.name == "anna"]
    db.execute("CREATE TEMP TABLE users (id text, revoked_at bigint, has_first_store bigint)")
    db.execute("CREATE TEMP TABLE project_members (project_id text, user_id text, role text)")
    db.execute("INSERT INTO users VALUES (%s, NULL, 1)", (anna,))
    db.execute("SET search_path TO pg_temp, public")

    assert db.execute(f"SELECT count(*) FROM {of['root']}.memories").fetchone() == (0,)


def test_a_removed_member_and_a_revoked_user_see_nothing_at_once(team: TeamServer) -> None:
    team.rec.engine.team.add_user("dora")
    team.rec.engine.team.set_member("site", "dora", "writer")
    with as_application(team.rec.engine.services.settings.db) as db:
        act_as(db, team, "dora")
        count = f"SELECT count(*) > 0 FROM {schemas(team)['site']}.memories"
        assert db.execute(count).fetchone() == (True,)
        team.rec.engine.team.remove_member("site", "dora")
        assert db.execute(count).fetchone() == (False,)
        team.rec.engine.team.set_member("site", "dora", "writer")
        team.rec.engine.team.revoke_user("dora")
        assert db.execute(count).fetchone() == (False,)


def test_a_policy_is_evaluated_once_for_a_statement(
    team: TeamServer, db: "psycopg.Connection[Any]"
) -> None:
    act_as(db, team, "ben")
    plan = db.execute(f"EXPLAIN SELECT * FROM {schemas(team)['ben']}.memories").fetchall()
    text = "\n".join(line for (line,) in plan)

    assert "InitPlan" in text
    assert "may_use_space" not in text.partition("InitPlan")[0]


def test_one_role_is_bound_too_unless_it_is_a_superuser() -> None:
    _, owner = two_roles("one_role")
    with team_server(owner, ["root", "anna"]) as server:
        server.post("anna", "/api/memories", content="A secret of anna.")
        [anna] = [user.id for user in server.rec.engine.team.list_users() if user.name == "anna"]
        schema = schema_of(server, anna)
        with as_application(owner) as db:  # as the owner of the tables
            assert db.execute(f"SELECT count(*) FROM {schema}.memories").fetchone() == (0,)
        assert server.found("anna", "secret") == ["A secret of anna."]


def test_the_schema_of_a_user_does_not_open_as_a_store_of_its_own(team: TeamServer) -> None:
    chosen = team.rec.engine.services.settings
    for name, schema in schemas(team).items():
        address = replace(parse_address(chosen.db), schema=schema)
        owner = parse_address(chosen.db_owner)
        if name == "root":
            PostgresStore(address, FakeClock(), owner=owner).close()
            continue
        with pytest.raises(StoreUnavailable, match="open the first store instead"):
            PostgresStore(address, FakeClock(), owner=owner)


def test_a_store_without_users_has_no_policies() -> None:
    db, owner = two_roles("plain")
    with team_server(db, db_owner=owner) as server:
        server.post("", "/api/memories", content="The port is 8283.")
        with as_application(db) as connection:
            schema = directory_schema(server.rec.engine.services.settings)
            count = f"SELECT count(*) FROM {schema}.memories"
            assert connection.execute(count).fetchone() == (1,)


def test_the_second_wall_holds_where_the_first_is_broken(
    team: TeamServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = team.post("ben", "/api/memories", content="The site is blue.", project="site")
    everything = [
        Membership(project=project, role=MemberRole.OWNER)
        for project in team.rec.engine.team.directory.projects()
    ]
    monkeypatch.setattr(TeamDirectory, "memberships", lambda self, user_id: everything)

    assert team.found("root", "blue", project="site") == []
    assert team.request("root", "GET", f"/api/memories/{stored['id']}").status_code == 404
    refused = team.request(
        "anna", "POST", "/api/memories", json={"content": "x y", "project": "site"}
    )
    assert refused.status_code >= 400  # a reader, by the database
    assert team.found("anna", "blue", project="site") != []


def test_users_behind_a_pooler_that_shares_connections_see_only_what_is_theirs() -> None:
    """The next transaction of a connection is another user's, so none may leave its user behind."""
    direct, owner = two_roles("pooled")
    users = [f"user-{number}" for number in range(6)]
    with pgbouncer(shared_server(), connections=2, role=APPLICATION) as folder:
        db = direct.replace(str(shared_server().folder), f"{folder}&port=6432")
        with team_server(f"{db}&pooler=transaction", users, db_owner=owner) as server:
            for name in users[:3]:
                server.rec.engine.team.set_member("site", name, "writer")

            def use(name: str) -> None:
                for number in range(8):
                    content = f"Locker {number} of {name} is red."
                    server.post(name, "/api/memories", content=content)
                    own = server.found(name, f"locker {number}", limit=50)
                    assert own
                    assert all(f"of {name} is" in content for content in own), own

            with ThreadPoolExecutor(len(users)) as threads:
                list(threads.map(use, users))
            server.post(users[0], "/api/memories", content="The site is blue.", project="site")
            for name in users:
                seen = server.found(name, "which color is the site?", project="site")
                assert ("The site is blue." in seen) == (name in users[:3])
            spaces = schemas_of_all(server)
            with psycopg.connect(parse_address(db).conninfo, autocommit=True) as raw:
                raw.prepare_threshold = None
                for schema in spaces:
                    count = raw.execute(f"SELECT count(*) FROM {schema}.memories").fetchone()
                    assert count == (0,), schema


def schemas_of_all(team: TeamServer) -> list[str]:
    """Return the schemas of every user and project."""
    chosen = team.rec.engine.services.settings
    spaces = team.rec.engine.team.directory.space_ids()
    names = [parse_address(space_settings(chosen, space_id).db).schema for space_id in spaces]
    return [directory_schema(chosen), *names]
