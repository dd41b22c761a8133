"""
Turn what a caller wrote for project, repo, agent and session into ids.

`find` only looks; what is unknown has no memories and so nothing to show. `settle` creates what is
missing, inside the write that needs it. A path is known by its git remote first, by its root
second; a plain name overrides both.
"""

from dataclasses import dataclass
from pathlib import Path

from recollect.clock import Clock
from recollect.config import expand_home
from recollect.domain.agent import Agent
from recollect.domain.project import (
    ByName,
    ByPath,
    ByRemote,
    Project,
    Repo,
    parse_reference,
    remote_names,
)
from recollect.domain.scope import Viewer
from recollect.errors import NotFound
from recollect.service.disk.git import find_checkout
from recollect.service.inputs import looks_like_an_id, name_of, plain_name, text_of
from recollect.store.protocol import Store, Tables
from recollect.wire.requests.shared import PlaceFields

UNKNOWN = "unknown"  # an id nothing has: a place that was never written to


@dataclass(frozen=True)
class Where:
    """From where a request comes, as its caller wrote it; checked, not yet looked up."""

    project: str | None = None
    repo: str | None = None
    agent: str | None = None
    session: str | None = None

    @classmethod
    def of(cls, project: object, repo: object, agent: object, session: object) -> "Where":
        """Check the four names a caller may give; an agent may be given as itself."""
        if isinstance(agent, Agent):
            agent = agent.id  # by id: its name may have changed since
        return cls(
            project=_written("project", project),
            repo=_written("repo", repo),
            agent=None if agent is None else name_of("agent", agent),
            session=None if session is None else name_of("session", session),
        )


def where_of(request: PlaceFields) -> Where:
    """Return the place a request comes from."""
    return Where.of(request.project, request.repo, request.agent, request.session)


@dataclass(frozen=True)
class Places:
    """Where something is kept: ids that exist."""

    project_id: str | None = None
    repo_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None


def find(tables: Tables, where: Where) -> Viewer:
    """Return what *where* names as a viewer; unknown places see nothing of their own."""
    repo = _find_repo(tables, where)
    project_id = None
    if where.project is not None:
        found = _find_project(tables, where.project)
        project_id = found.id if found else UNKNOWN
    elif repo is not None:
        project_id = repo.project_id
    if repo is not None:
        repo_ids: tuple[str, ...] = (repo.id,)
    elif where.repo is None and project_id is not None:
        repo_ids = tuple(one.id for one in tables.projects.repos_of(project_id))
    else:
        repo_ids = ()
    agent_id = None
    if where.agent is not None:
        agent = find_agent(tables, where.agent)
        agent_id = agent.id if agent else UNKNOWN
    return Viewer(
        project_id=project_id, repo_ids=repo_ids, agent_id=agent_id, session_id=where.session
    )


def settle(tables: Tables, where: Where, clock: Clock) -> Places:
    """Return what *where* names, creating what does not exist yet."""
    project = _settle_project(tables, where.project, clock) if where.project else None
    repo = None
    if where.repo is not None:
        repo = _settle_repo(tables, where.repo, project, clock)
    agent_id = None
    if where.agent is not None:
        agent_id = settle_agent(tables, where.agent, clock).id
    return Places(
        project_id=project.id if project else (repo.project_id if repo else None),
        repo_id=repo.id if repo else None,
        agent_id=agent_id,
        session_id=where.session,
    )


def project_root(store: Store, where: Where) -> Path | None:
    """Return the folder of a project: as given by its path, or where its repo was last seen."""
    if where.project is None:
        return None
    if isinstance(parse_reference(where.project), ByPath):
        return expand_home(where.project)
    with store.read() as tables:
        viewer = find(tables, where)
        roots = [tables.projects.repo(repo_id) for repo_id in viewer.repo_ids]
    return next((Path(repo.root) for repo in roots if repo and repo.root), None)


def find_agent(tables: Tables, name: str) -> Agent | None:
    """Return the agent with that id or name; no name looks like an id."""
    return tables.agents.get(name) or tables.agents.by_name(name)


def settle_agent(tables: Tables, name: str, clock: Clock) -> Agent:
    """Return the agent with that id or name, made bare if there is none of that name."""
    agent = find_agent(tables, name)
    if agent is None:
        if looks_like_an_id(name):
            raise NotFound(f"there is no agent {name} in this store; it may have been deleted")
        now = clock.now()
        agent = Agent(id=clock.new_id(), name=name, created_at=now, updated_at=now)
        tables.agents.add(agent)
    return agent


def _find_project(tables: Tables, written: str) -> Project | None:
    match parse_reference(written):
        case ByName(name):
            return tables.projects.project_by_name(name)
        case reference:
            repo = _known_repo(tables, reference)
            return tables.projects.project(repo.project_id) if repo else None


def _find_repo(tables: Tables, where: Where) -> Repo | None:
    if where.repo is None:
        return None
    match parse_reference(where.repo):
        case ByName(name):
            project = _find_project(tables, where.project) if where.project else None
            if where.project is not None and project is None:
                return None  # an unknown project has no repos, whatever others call theirs
            return tables.projects.repo_by_name(name, project.id if project else None)
        case reference:
            return _known_repo(tables, reference)


def _known_repo(tables: Tables, reference: ByPath | ByRemote) -> Repo | None:
    if isinstance(reference, ByRemote):
        return tables.projects.repo_by_remote(reference.remote)
    checkout = find_checkout(expand_home(reference.path))
    by_remote = tables.projects.repo_by_remote(checkout.remote) if checkout.remote else None
    if by_remote is not None:
        return by_remote
    by_root = tables.projects.repo_by_root(str(checkout.root))
    if by_root is not None and by_root.remote and checkout.remote:
        return None  # another repository was here before: the folder is reused, not moved
    return by_root


def _settle_project(tables: Tables, written: str, clock: Clock) -> Project:
    match parse_reference(written):
        case ByName(name):
            found = tables.projects.project_by_name(name)
            return found or _new_project(tables, [name], clock)
        case reference:
            repo = _settle_known(tables, reference, None, clock)
            project = tables.projects.project(repo.project_id)
            assert project is not None  # the foreign key holds it
            return project


def _settle_repo(tables: Tables, written: str, project: Project | None, clock: Clock) -> Repo:
    match parse_reference(written):
        case ByName(name):
            found = tables.projects.repo_by_name(name, project.id if project else None)
            if found is not None:
                return found
            home = project or _new_project(tables, [name], clock)
            return _new_repo(tables, home, name=name, remote="", root="", clock=clock)
        case reference:
            return _settle_known(tables, reference, project, clock)


def _settle_known(
    tables: Tables, reference: ByPath | ByRemote, project: Project | None, clock: Clock
) -> Repo:
    remote, root = _identity(reference)
    repo = _known_repo(tables, reference)
    if repo is not None:
        moved = (remote or repo.remote, root or repo.root)
        if moved != (repo.remote, repo.root):
            tables.projects.move_repo(repo.id, remote=moved[0], root=moved[1])
        return repo
    names = remote_names(remote) if remote else [Path(root).name or root, root]
    home = project or _new_project(tables, names, clock)
    return _new_repo(tables, home, name=names[0], remote=remote, root=root, clock=clock)


def _identity(reference: ByPath | ByRemote) -> tuple[str, str]:
    if isinstance(reference, ByRemote):
        return reference.remote, ""
    checkout = find_checkout(expand_home(reference.path))
    return checkout.remote, str(checkout.root)


def _new_project(tables: Tables, names: list[str], clock: Clock) -> Project:
    free = next((name for name in names if tables.projects.project_by_name(name) is None), None)
    project_id = clock.new_id()
    name = free or f"{names[-1]} {project_id[-6:]}"
    project = Project(id=project_id, name=name, created_at=clock.now())
    tables.projects.add_project(project)
    return project


def _new_repo(
    tables: Tables, project: Project, *, name: str, remote: str, root: str, clock: Clock
) -> Repo:
    repo_id = clock.new_id()
    if tables.projects.repo_by_name(name, project.id) is not None:
        name = f"{name} {repo_id[-6:]}"
    repo = Repo(
        id=repo_id,
        project_id=project.id,
        name=name,
        remote=remote,
        root=root,
        created_at=clock.now(),
    )
    tables.projects.add_repo(repo)
    return repo


def _written(field: str, value: object) -> str | None:
    if value is None:
        return None
    text = text_of(field, str(value) if isinstance(value, Path) else value, most=4_096)
    match parse_reference(text):
        case ByRemote(remote):
            return f"https://{remote}"  # without whatever user or password it was written with
        case ByPath(path):
            return str(expand_home(path).absolute())
        case ByName(name):
            return plain_name(field, name)
