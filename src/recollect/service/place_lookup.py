"""
Look up the project, repo, agent and session that a request names, and create missing ones.

`find_viewer` only reads: an unknown place has no memories. `ensure_place` creates what is missing,
inside the write that needs it. A path is identified by its git remote, otherwise by its root. A
plain name means only a project that was given this name, never a repository that is called so. A
project that a person linked to another is read and written as a part of it.
"""

from itertools import chain
from pathlib import Path

from recollect.clock import Clock
from recollect.config import expand_home
from recollect.domain import limits
from recollect.domain.agent import Agent
from recollect.domain.project import (
    ByName,
    ByPath,
    ByRemote,
    Project,
    Repo,
    identity_of_repo,
    lower_case_remote,
    normalise_remote,
    parse_reference,
    remote_url,
    short_name,
)
from recollect.domain.scope import Viewer
from recollect.errors import NotFound
from recollect.lazy_dataclass import dataclass
from recollect.service.disk.git_checkout import find_checkout
from recollect.service.validate import looks_like_an_id, name_of, plain_name
from recollect.store.protocol import Store, Tables
from recollect.wire.fields import parse_text
from recollect.wire.requests.shared import PlaceFields

UNKNOWN = "unknown"  # the id of a place that does not exist; nothing has it


@dataclass(frozen=True)
class RequestPlace:
    """The place a request comes from, as its caller wrote it: validated, not yet looked up."""

    project: str | None = None
    repo: str | None = None
    agent: str | None = None
    session: str | None = None

    @classmethod
    def of(
        cls,
        project: str | None = None,
        repo: str | None = None,
        agent: str | None = None,
        session: str | None = None,
    ) -> "RequestPlace":
        """Return the validated place."""
        return cls(
            project=None if project is None else _validate_reference("project", project),
            repo=None if repo is None else _validate_reference("repo", repo),
            agent=None if agent is None else name_of("agent", agent),
            session=None if session is None else name_of("session", session),
        )


def place_of(request: PlaceFields) -> RequestPlace:
    """Return the place a request comes from."""
    return RequestPlace.of(request.project, request.repo, request.agent, request.session)


@dataclass(frozen=True)
class PlaceIds:
    """The ids of a place that exists."""

    project_id: str | None = None
    repo_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None


def find_viewer(tables: Tables, place: RequestPlace) -> Viewer:
    """Return *place* as a viewer; an unknown place has the id `UNKNOWN`."""
    repo = _find_repo(tables, place)
    project_id = None
    if place.project is not None:
        project = find_project(tables, place.project)
        project_id = _main_id(project) if project else UNKNOWN
    elif repo is not None:
        project_id = main_project_id(tables, repo.project_id)
    ids_by_project = tables.projects.repo_ids(project_id) if project_id else {}
    linked_ids = tuple(id for id in ids_by_project if id != project_id)
    if repo is not None:
        repo_ids: tuple[str, ...] = (repo.id,)
    elif place.repo is None and project_id is not None:
        repo_ids = tuple(chain.from_iterable(ids_by_project.values()))
    else:
        repo_ids = ()
    agent_id = None
    if place.agent is not None:
        agent = find_agent(tables, place.agent)
        agent_id = agent.id if agent else UNKNOWN
    return Viewer(
        project_id=project_id,
        linked_project_ids=linked_ids,
        repo_ids=repo_ids,
        agent_id=agent_id,
        session_id=place.session,
    )


def ensure_place(tables: Tables, place: RequestPlace, clock: Clock) -> PlaceIds:
    """Return the ids of *place*, creating what does not exist yet."""
    project = ensure_project(tables, place.project, clock) if place.project else None
    repo = _ensure_repo(tables, place.repo, project, clock) if place.repo is not None else None
    project_id = repo.project_id if project is None and repo is not None else None
    if project is not None:
        project_id = _main_id(project)
    elif project_id is not None:
        project_id = main_project_id(tables, project_id)
    return PlaceIds(
        project_id=project_id,
        repo_id=repo.id if repo else None,
        agent_id=ensure_agent(tables, place.agent, clock).id if place.agent else None,
        session_id=place.session,
    )


def project_root(store: Store, place: RequestPlace) -> Path | None:
    """Return the folder of a project: its path if given, otherwise the root of its repo."""
    if place.project is None:
        return None
    if isinstance(parse_reference(place.project), ByPath):
        return expand_home(place.project)
    with store.read() as tables:
        viewer = find_viewer(tables, place)
        repos = [tables.projects.repo(repo_id) for repo_id in viewer.repo_ids]
    return next((Path(repo.root) for repo in repos if repo and repo.root), None)


def project_identity(reference: str) -> str:
    """Return the identity that a project has, or would get, which a request names like this."""
    match parse_reference(_validate_reference("project", reference)):
        case ByName(name):
            return name
        case place:
            return identity_of_repo(*_identity(place))


def find_agent(tables: Tables, name: str) -> Agent | None:
    """Return the agent with that id or name; no name looks like an id."""
    if looks_like_an_id(name):
        return tables.agents.get(name)
    return tables.agents.by_name(name) or tables.agents.get(name)


def ensure_agent(tables: Tables, name: str, clock: Clock) -> Agent:
    """Return the agent with that id or name; create an agent for an unknown name."""
    agent = find_agent(tables, name)
    if agent is None:
        if looks_like_an_id(name):
            raise NotFound(f"there is no agent {name} in this store; it may have been deleted")
        now = clock.now()
        agent = Agent(id=clock.new_id(), name=name, created_at=now, updated_at=now)
        tables.agents.add(agent)
    return agent


def find_project(tables: Tables, reference: str) -> Project | None:
    """Return the project of a name, remote, path or id as such, even if it is linked to another."""
    match parse_reference(reference):
        case ByName(name):
            return tables.projects.project_by_identity(name) or tables.projects.project(name)
        case place:
            repo = _repo_at(tables, place)
            return tables.projects.project(repo.project_id) if repo else None


def _main_id(project: Project) -> str:
    """Return the id of the project that *project* is part of, or its own."""
    return project.linked_to or project.id


def main_project_id(tables: Tables, project_id: str) -> str:
    """Return the id of the project that the one with this id is part of, or *project_id*."""
    project = tables.projects.project(project_id)
    return _main_id(project) if project else project_id


def _find_repo(tables: Tables, place: RequestPlace) -> Repo | None:
    if place.repo is None:
        return None
    match parse_reference(place.repo):
        case ByName(name):
            project = find_project(tables, place.project) if place.project else None
            if place.project is not None and project is None:
                return None  # an unknown project has no repos, even if others have this name
            return tables.projects.repo_by_name(name, project.id if project else None)
        case reference:
            return _repo_at(tables, reference)


def _repo_at(tables: Tables, reference: ByPath | ByRemote) -> Repo | None:
    remote, root = _identity(reference)
    if remote:
        by_remote = tables.projects.repo_by_remote(remote)
        if by_remote is not None:
            return by_remote
        old = tables.projects.repo_by_old_remote(lower_case_remote(remote))
        if old is not None and old.root == root:
            return old
    by_root = tables.projects.repo_by_root(root) if root else None
    if by_root is None and isinstance(reference, ByPath):
        # Stored by the root of a worktree, before worktrees were one project.
        own_root = str(find_checkout(expand_home(reference.path)).root)
        by_root = tables.projects.repo_by_root(own_root) if own_root != root else None
    if by_root is not None and by_root.remote and remote:
        # Another remote: the folder held another repository before. The same one may have been
        # stored under another address of its host.
        return by_root if normalise_remote(remote_url(by_root.remote)) == remote else None
    return by_root


def ensure_project(tables: Tables, reference: str, clock: Clock) -> Project:
    """Return the project of a name, remote, path or id as such; create a missing one."""
    match parse_reference(reference):
        case ByName(name):
            project = find_project(tables, name)
            if project is None and looks_like_an_id(name):
                raise NotFound(f"there is no project {name} in this store")
            return project or _new_project(tables, identity=name, name=name, clock=clock)
        case place:
            repo = _ensure_repo_at(tables, place, None, clock)
            project = tables.projects.project(repo.project_id)
            assert project is not None  # guaranteed by the foreign key
            return project


def _ensure_repo(tables: Tables, name: str, project: Project | None, clock: Clock) -> Repo:
    match parse_reference(name):
        case ByName(name):
            repo = tables.projects.repo_by_name(name, project.id if project else None)
            if repo is not None:
                return repo
            project = project or _new_project(tables, identity=name, name=name, clock=clock)
            return _new_repo(tables, project, name=name, remote="", root="", clock=clock)
        case reference:
            return _ensure_repo_at(tables, reference, project, clock)


def _ensure_repo_at(
    tables: Tables, reference: ByPath | ByRemote, project: Project | None, clock: Clock
) -> Repo:
    remote, root = _identity(reference)
    repo = _repo_at(tables, reference)
    if repo is not None:
        moved = (remote or repo.remote, root or repo.root)
        if moved != (repo.remote, repo.root):
            tables.projects.move_repo(repo.id, remote=moved[0], root=moved[1])
            _follow_identity(tables, repo, *moved)
        return repo
    identity = identity_of_repo(remote, root)
    name = short_name(identity)
    project = project or _new_project(tables, identity=identity, name=name, clock=clock)
    return _new_repo(tables, project, name=name, remote=remote, root=root, clock=clock)


def _follow_identity(tables: Tables, repo: Repo, remote: str, root: str) -> None:
    """Change the identity of the project that has it from *repo*, whose address has changed."""
    project = tables.projects.project(repo.project_id)
    identity = identity_of_repo(remote, root)
    if project is None or project.identity != identity_of_repo(repo.remote, repo.root):
        return
    if tables.projects.project_by_identity(identity) is None:
        tables.projects.set_identity(project.id, identity)


def _identity(reference: ByPath | ByRemote) -> tuple[str, str]:
    """Return the git remote and the root of a reference; either may be empty."""
    if isinstance(reference, ByRemote):
        return reference.remote, ""
    checkout = find_checkout(expand_home(reference.path))
    # With a remote the root only says where the files are; without one it is the identity.
    return checkout.remote, str(checkout.root if checkout.remote else checkout.main_root)


def _new_project(tables: Tables, *, identity: str, name: str, clock: Clock) -> Project:
    project_id = clock.new_id()
    if tables.projects.project_by_identity(identity) is not None:
        identity = f"{identity} {project_id[-6:]}"
    project = Project(id=project_id, name=name, identity=identity, created_at=clock.now())
    tables.projects.add_project(project)
    return project


def _new_repo(
    tables: Tables, project: Project, *, name: str, remote: str, root: str, clock: Clock
) -> Repo:
    repo_id, now = clock.new_id(), clock.now()
    if tables.projects.repo_by_name(name, project.id) is not None:
        name = f"{name} {repo_id[-6:]}"
    repo = Repo(
        id=repo_id, project_id=project.id, name=name, remote=remote, root=root, created_at=now
    )
    tables.projects.add_repo(repo)
    return repo


def _validate_reference(field: str, reference: str) -> str:
    match parse_reference(parse_text(field, reference, max_chars=limits.MAX_REFERENCE)):
        case ByRemote(remote):
            return remote_url(remote)  # without the user and password it may contain
        case ByPath(path):
            return str(expand_home(path).absolute())
        case ByName(name):
            return plain_name(field, name)
