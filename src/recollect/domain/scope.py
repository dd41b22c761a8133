"""
Who may see what: scopes, owners, shelves.

Scope is a wall, not a boost. Every findable item stands on one *shelf*, the pair of its kind and
its owner; a request sees a set of shelves and nothing else. This file decides which; the store
only obeys.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """How far a memory reaches."""

    GLOBAL = "global"
    PROJECT = "project"
    REPO = "repo"
    AGENT = "agent"
    SESSION = "session"


class ItemKind(StrEnum):
    """What kinds of things can be found."""

    MEMORY = "memory"
    MESSAGE = "message"
    BLOCK = "block"
    FILE = "file"


@dataclass(frozen=True, order=True)
class Owner:
    """A scope and the id of whoever it belongs to; the global scope has the id ''."""

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
    """Return whose something of *scope* is, that has these places."""
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
    """From where a request is made. Ids, already resolved; None means: not from there."""

    project_id: str | None = None
    repo_ids: tuple[str, ...] = ()
    agent_id: str | None = None
    session_id: str | None = None


def visible_owners(viewer: Viewer, scopes: Iterable[Scope] | None = None) -> tuple[Owner, ...]:
    """Return the owners *viewer* may see, narrowed to *scopes* where given."""
    owners = [Owner(Scope.GLOBAL, "")]
    if viewer.project_id:
        owners.append(Owner(Scope.PROJECT, viewer.project_id))
    owners.extend(Owner(Scope.REPO, repo_id) for repo_id in viewer.repo_ids)
    if viewer.agent_id:
        owners.append(Owner(Scope.AGENT, viewer.agent_id))
    if viewer.session_id:
        owners.append(Owner(Scope.SESSION, viewer.session_id))
    wanted = frozenset(Scope) if scopes is None else frozenset(scopes)
    return tuple(owner for owner in owners if owner.scope in wanted)
