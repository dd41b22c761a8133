"""
Which items a request may see: scopes, owners and viewers.

Scope is a wall, not a boost. Every searchable item belongs to one *partition* of the index, the
pair of its kind and its owner. A request sees the partitions of some owners and nothing else. This
file decides which; the store only filters by them.
"""

from collections.abc import Iterable
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class Scope(StrEnum):
    """Where a memory is visible."""

    GLOBAL = "global"
    PROJECT = "project"
    REPO = "repo"
    AGENT = "agent"
    SESSION = "session"


class ItemKind(StrEnum):
    """The kinds of searchable items."""

    MEMORY = "memory"
    MESSAGE = "message"
    BLOCK = "block"
    FILE = "file"
    DOCUMENT = "document"


@dataclass(frozen=True, order=True)
class Owner:
    """A scope and the id of its project, repo, agent or session; '' for the global scope."""

    scope: Scope
    id: str


def owner_of(
    scope: Scope,
    *,
    project_id: str | None,
    repo_id: str | None,
    agent_id: str | None,
    session_id: str | None,
) -> Owner:
    """Return the owner of a record of *scope* that has these ids."""
    owner_id = {
        Scope.GLOBAL: "",
        Scope.PROJECT: project_id,
        Scope.REPO: repo_id,
        Scope.AGENT: agent_id,
        Scope.SESSION: session_id,
    }[scope]
    return Owner(scope, owner_id or "")


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """The context of a request, as resolved ids; None: the request is not made from there."""

    project_id: str | None = None
    linked_project_ids: tuple[str, ...] = ()  # that a person made part of the project
    repo_ids: tuple[str, ...] = ()
    agent_id: str | None = None
    session_id: str | None = None

    @property
    def project_ids(self) -> frozenset[str]:
        """The project of the request and those linked to it."""
        return frozenset(filter(None, (self.project_id, *self.linked_project_ids)))


def visible_owners(viewer: Viewer, scopes: Iterable[Scope] | None = None) -> tuple[Owner, ...]:
    """Return the owners *viewer* may see, restricted to *scopes* if given."""
    owners = [Owner(Scope.GLOBAL, "")]
    if viewer.project_id:
        owners.append(Owner(Scope.PROJECT, viewer.project_id))
    owners.extend(Owner(Scope.PROJECT, project_id) for project_id in viewer.linked_project_ids)
    owners.extend(Owner(Scope.REPO, repo_id) for repo_id in viewer.repo_ids)
    if viewer.agent_id:
        owners.append(Owner(Scope.AGENT, viewer.agent_id))
    if viewer.session_id:
        owners.append(Owner(Scope.SESSION, viewer.session_id))
    allowed = frozenset(Scope) if scopes is None else frozenset(scopes)
    return tuple(owner for owner in owners if owner.scope in allowed)
