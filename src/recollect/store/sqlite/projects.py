"""Projects and repos in SQLite."""

from recollect.domain.project import Project, Repo
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_project = row_parser(Project, "id name created_at")
_repo = row_parser(Repo, "id project_id name remote root created_at")


class SqliteProjectTable(SqliteTable):
    """See `recollect.store.protocol.ProjectTable`."""

    _sql = query_loader.load("projects")

    def add_project(self, project: Project) -> None:
        self._run("add_project", **field_values(project))

    def project(self, project_id: str) -> Project | None:
        return self._first(_project, "project", id=project_id)

    def project_by_name(self, name: str) -> Project | None:
        return self._first(_project, "project_by_name", name=name)

    def projects(self) -> list[Project]:
        return self._all(_project, "projects")

    def add_repo(self, repo: Repo) -> None:
        self._run("add_repo", **field_values(repo))

    def move_repo(self, repo_id: str, *, remote: str, root: str) -> None:
        self._run("move_repo", id=repo_id, remote=remote, root=root)

    def repo(self, repo_id: str) -> Repo | None:
        return self._first(_repo, "repo", id=repo_id)

    def repo_by_remote(self, remote: str) -> Repo | None:
        return self._first(_repo, "repo_by_remote", remote=remote)

    def repo_by_root(self, root: str) -> Repo | None:
        return self._first(_repo, "repo_by_root", root=root)

    def repo_by_name(self, name: str, project_id: str | None) -> Repo | None:
        return self._first(_repo, "repo_by_name", name=name, project_id=project_id)

    def repos_of(self, project_id: str) -> list[Repo]:
        return self._all(_repo, "repos_of", project_id=project_id)
