"""Projects and repos in SQLite."""

from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.project import Project, Repo
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row

_SQL = query_loader.load("projects")


class SqliteProjectTable:
    """See `recollect.store.protocol.ProjectTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add_project(self, project: Project) -> None:
        values = {"id": project.id, "name": project.name}
        self._db.execute(
            _SQL["add_project"], values | {"created_at": to_micros(project.created_at)}
        )

    def project(self, project_id: str) -> Project | None:
        row = self._fetch_row("project", id=project_id)
        return _project(row) if row else None

    def project_by_name(self, name: str) -> Project | None:
        row = self._fetch_row("project_by_name", name=name)
        return _project(row) if row else None

    def projects(self) -> list[Project]:
        return [_project(row) for row in self._db.execute(_SQL["projects"])]

    def add_repo(self, repo: Repo) -> None:
        values = {
            "id": repo.id,
            "project_id": repo.project_id,
            "name": repo.name,
            "remote": repo.remote,
            "root": repo.root,
            "created_at": to_micros(repo.created_at),
        }
        self._db.execute(_SQL["add_repo"], values)

    def move_repo(self, repo_id: str, *, remote: str, root: str) -> None:
        self._db.execute(_SQL["move_repo"], {"id": repo_id, "remote": remote, "root": root})

    def repo(self, repo_id: str) -> Repo | None:
        return self._repo("repo", id=repo_id)

    def repo_by_remote(self, remote: str) -> Repo | None:
        return self._repo("repo_by_remote", remote=remote)

    def repo_by_root(self, root: str) -> Repo | None:
        return self._repo("repo_by_root", root=root)

    def repo_by_name(self, name: str, project_id: str | None) -> Repo | None:
        return self._repo("repo_by_name", name=name, project_id=project_id)

    def repos_of(self, project_id: str) -> list[Repo]:
        rows = self._db.execute(_SQL["repos_of"], {"project_id": project_id})
        return [_repo(row) for row in rows]

    def _fetch_row(self, query: str, **values: Any) -> Row | None:
        return self._db.execute(_SQL[query], values).fetchone()

    def _repo(self, query: str, **values: Any) -> Repo | None:
        row = self._fetch_row(query, **values)
        return _repo(row) if row else None


def _project(row: Row) -> Project:
    return Project(id=row[0], name=row[1], created_at=from_micros(row[2]))


def _repo(row: Row) -> Repo:
    repo_id, project_id, name, remote, root, created_at = row
    return Repo(
        id=repo_id,
        project_id=project_id,
        name=name,
        remote=remote,
        root=root,
        created_at=from_micros(created_at),
    )
