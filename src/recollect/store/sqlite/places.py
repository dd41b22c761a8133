"""Projects and repos in SQLite."""

from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.project import Project, Repo
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import Row

_SQL = queries.load("places")


class SqlitePlaces:
    """See `recollect.store.protocol.Places`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add_project(self, project: Project) -> None:
        """Keep a new project."""
        values = {"id": project.id, "name": project.name}
        self._db.execute(
            _SQL["add_project"], values | {"created_at": to_micros(project.created_at)}
        )

    def project(self, project_id: str) -> Project | None:
        """Return the project with that id."""
        row = self._one("project", id=project_id)
        return _project(row) if row else None

    def project_named(self, name: str) -> Project | None:
        """Return the project of that name."""
        row = self._one("project_named", name=name)
        return _project(row) if row else None

    def projects(self) -> list[Project]:
        """Return every project, by name."""
        return [_project(row) for row in self._db.execute(_SQL["projects"])]

    def add_repo(self, repo: Repo) -> None:
        """Keep a new repo."""
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
        """Note where a repo is now, and its remote."""
        self._db.execute(_SQL["move_repo"], {"id": repo_id, "remote": remote, "root": root})

    def repo(self, repo_id: str) -> Repo | None:
        """Return the repo with that id."""
        return self._repo("repo", id=repo_id)

    def repo_with_remote(self, remote: str) -> Repo | None:
        """Return the repo with that normalised remote."""
        return self._repo("repo_with_remote", remote=remote)

    def repo_at(self, root: str) -> Repo | None:
        """Return the repo last seen at *root*."""
        return self._repo("repo_at", root=root)

    def repo_named(self, name: str, project_id: str | None) -> Repo | None:
        """Return the repo of that name, in one project or in any."""
        return self._repo("repo_named", name=name, project_id=project_id)

    def repos_of(self, project_id: str) -> list[Repo]:
        """Return the repos of a project."""
        rows = self._db.execute(_SQL["repos_of"], {"project_id": project_id})
        return [_repo(row) for row in rows]

    def _one(self, query: str, **values: Any) -> Row | None:
        return self._db.execute(_SQL[query], values).fetchone()

    def _repo(self, query: str, **values: Any) -> Repo | None:
        row = self._one(query, **values)
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
