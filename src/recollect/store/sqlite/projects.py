"""Projects and repos in SQLite."""

from datetime import datetime

from recollect.domain.project import Project, Repo
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_project = row_parser(Project, "id name identity linked_to created_at")
_repo = row_parser(Repo, "id project_id name remote root created_at")


class SqliteProjectTable(SqliteTable):
    """See `recollect.store.protocol.ProjectTable`."""

    _sql = query_loader.load("projects")

    def add_project(self, project: Project) -> None:
        self._run("add_project", **field_values(project))

    def project(self, project_id: str) -> Project | None:
        return self._first(_project, "project", id=project_id)

    def project_by_identity(self, identity: str) -> Project | None:
        return self._first(_project, "project_by_identity", identity=identity)

    def set_identity(self, project_id: str, identity: str) -> None:
        self._run("set_identity", id=project_id, identity=identity)

    def link_project(self, project_id: str, main_id: str, linked_at: datetime) -> None:
        self._run("link_project", id=project_id, main_id=main_id, linked_at=linked_at)

    def unlink_project(self, project_id: str) -> None:
        self._run("unlink_project", id=project_id)

    def linked_ids(self, project_id: str) -> list[str]:
        return self._column("linked_ids", id=project_id)

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

    def repo_by_old_remote(self, remote: str) -> Repo | None:
        return self._first(_repo, "repo_by_old_remote", remote=remote)

    def repo_by_root(self, root: str) -> Repo | None:
        return self._first(_repo, "repo_by_root", root=root)

    def repo_by_name(self, name: str, project_id: str | None) -> Repo | None:
        return self._first(_repo, "repo_by_name", name=name, project_id=project_id)

    def repos_of(self, project_id: str) -> list[Repo]:
        return self._all(_repo, "repos_of", project_id=project_id)
