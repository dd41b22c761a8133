"""Projects and repos."""

from recollect import Repo
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
        assert projects.repos_of(home.id) == [moved]
        assert tables.agents.by_name("anna") == agent("a1", "anna")
        assert tables.agents.by_name("bert") is None
