"""Projects and repos."""

from dataclasses import replace

from recollect import Repo
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.store.protocol import Store
from store_records import agent, project
from support import START, FakeClock


def test_projects_and_repos_are_found_by_name_remote_and_root(
    store: Store, clock: FakeClock
) -> None:
    home = project(store, clock, "site")
    repo = Repo(
        id="r1",
        project_id=home.id,
        name="web",
        remote="host/acme/web",
        root="/src/web",
        created_at=START,
    )
    store.write(lambda tables: tables.projects.add_repo(repo))
    store.write(lambda tables: tables.projects.move_repo("r1", remote="host/acme/web", root="/new"))
    store.write(lambda tables: tables.agents.add(agent("a1", "anna")))

    with store.read() as tables:
        projects = tables.projects
        assert projects.project_by_identity("site") == home == projects.project(home.id)
        assert projects.project_by_identity("none") is None
        assert projects.project("none") is None
        assert projects.projects() == [home]
        moved = projects.repo("r1")
        assert moved is not None
        assert moved.root == "/new"
        assert projects.repo_by_remote("host/acme/web") == moved == projects.repo_by_root("/new")
        assert projects.repo_by_root("/src/web") is None
        assert projects.repo_by_name("web", home.id) == moved
        assert projects.repo_by_name("web", None) is None  # it is known by its remote
        assert projects.repo_by_name("web", "other") is None
        assert projects.repo_ids(home.id) == {home.id: [moved.id]}
        assert tables.agents.by_name("anna") == agent("a1", "anna")
        assert tables.agents.by_name("bert") is None


def test_a_project_becomes_part_of_another_and_is_taken_out_again(
    store: Store, clock: FakeClock
) -> None:
    main, part = project(store, clock, "main"), project(store, clock, "part")
    store.write(lambda tables: tables.projects.link_project(part.id, main.id, START))

    with store.read() as tables:
        assert tables.projects.project(part.id) == replace(part, linked_to=main.id)
        assert tables.projects.linked_ids(main.id) == [part.id]
        assert tables.projects.linked_ids(part.id) == []
    store.write(lambda tables: tables.projects.unlink_project(part.id))
    store.write(lambda tables: tables.projects.set_identity(part.id, "host/acme/part"))

    with store.read() as tables:
        after = replace(part, identity="host/acme/part")
        assert tables.projects.project_by_identity("host/acme/part") == after
        assert tables.projects.linked_ids(main.id) == []


def test_a_repo_of_an_old_store_is_found_by_its_remote_in_lower_case(
    store: Store, clock: FakeClock
) -> None:
    home = project(store, clock, "site")
    values = {"id": "r1", "project_id": home.id, "name": "web", "root": "/src", "created_at": 0}
    old = {"table": "repos", **values, "remote": "host/acme/web", "remote_is_exact": 0}
    new = {**old, "id": "r2", "name": "api", "remote": "host/acme/api", "remote_is_exact": 1}
    work = UnfinishedWork(kind=WorkKind.IMPORT, subject="s", started_at=START)
    store.import_rows([*store.export_rows(), old, new], work)

    with store.read() as tables:
        assert tables.projects.repo_by_old_remote("host/acme/web") == tables.projects.repo("r1")
        assert tables.projects.repo_by_old_remote("host/acme/api") is None
