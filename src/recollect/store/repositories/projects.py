"""Projects and repos."""

from collections.abc import Mapping
from datetime import datetime

from recollect.domain.project import Project, Repo
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import Repository, field_values

_project = record_shape(Project, "id name identity linked_to created_at")
_repo = record_shape(Repo, "id project_id name remote root created_at")


class ProjectRepository(Repository):
    """Projects and repos."""

    _statements = "projects"

    def add_project(self, project: Project) -> None:
        """Store a new project."""
        self._run("add_project", **field_values(project))

    def project(self, project_id: str) -> Project | None:
        """Return the project with that id, or None."""
        return self._first(_project, "project", id=project_id)

    def project_by_identity(self, identity: str) -> Project | None:
        """Return the project with that identity, or None."""
        return self._first(_project, "project_by_identity", identity=identity)

    def set_identity(self, project_id: str, identity: str) -> None:
        """Store the current identity of a project."""
        self._run("set_identity", id=project_id, identity=identity)

    def link_project(self, project_id: str, main_id: str, linked_at: datetime) -> None:
        """Make a project part of another."""
        self._run("link_project", id=project_id, main_id=main_id, linked_at=linked_at)

    def unlink_project(self, project_id: str) -> None:
        """Make a project one of its own again."""
        self._run("unlink_project", id=project_id)

    def linked_ids(self, project_id: str) -> list[str]:
        """Return the ids of the projects that are part of a project."""
        return self._column("linked_ids", id=project_id)

    def projects(self) -> list[Project]:
        """Return every project, by name."""
        return self._all(_project, "projects")

    def add_repo(self, repo: Repo) -> None:
        """Store a new repo."""
        self._run("add_repo", **field_values(repo))

    def move_repo(self, repo_id: str, *, remote: str, root: str) -> None:
        """Store the current remote and folder of a repo."""
        self._run("move_repo", id=repo_id, remote=remote, root=root)

    def repo(self, repo_id: str) -> Repo | None:
        """Return the repo with that id, or None."""
        return self._first(_repo, "repo", id=repo_id)

    def repo_by_remote(self, remote: str) -> Repo | None:
        """Return the repo with that normalised remote, or None."""
        return self._first(_repo, "repo_by_remote", remote=remote)

    def repo_by_old_remote(self, remote: str) -> Repo | None:
        """Return the repo whose remote was stored in lower case and without its port, or None."""
        return self._first(_repo, "repo_by_old_remote", remote=remote)

    def repo_by_root(self, root: str) -> Repo | None:
        """Return the repo last seen in the folder *root*, or None."""
        return self._first(_repo, "repo_by_root", root=root)

    def repo_by_name(self, name: str, project_id: str | None) -> Repo | None:
        """Return the repo of that name in one project; if None, the one that is only a name."""
        return self._first(_repo, "repo_by_name", name=name, project_id=project_id)

    def repo_ids(self, project_id: str) -> Mapping[str, list[str]]:
        """Return the repos of a project, and of each project that is part of it, by project."""
        ids: dict[str, list[str]] = {}
        for part_id, repo_id in self._rows("repo_ids", id=project_id):
            ids.setdefault(part_id, []).extend([] if repo_id is None else [repo_id])
        return ids
