"""
Users of a team's server, members of its projects, and the entries of the audit log.

A *space* is a store that belongs to one user or to one project. Its id is that of the user or
project. The space of the first user is the store that the server was started with.
"""

from datetime import datetime
from enum import StrEnum

from recollect.lazy_dataclass import dataclass


class MemberRole(StrEnum):
    """What a member may do in a project."""

    READER = "reader"
    WRITER = "writer"
    OWNER = "owner"

    @property
    def can_write(self) -> bool:
        """Whether the member may write, not only read."""
        return self is not MemberRole.READER


@dataclass(frozen=True, kw_only=True)
class User:
    """A person with a token. `has_first_store` marks the one whose space is the first store."""

    id: str
    name: str
    is_admin: bool = False
    has_first_store: bool = False
    created_at: datetime
    rotated_at: datetime
    revoked_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        """Whether the token of the user is accepted."""
        return self.revoked_at is None


@dataclass(frozen=True, kw_only=True)
class NewToken:
    """A user and the token that was made just now; only its hash is stored."""

    user: User
    token: str


@dataclass(frozen=True, kw_only=True)
class TeamProject:
    """A project with members. Its identity is what a request names: a name, a remote, a path."""

    id: str
    name: str
    identity: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Member:
    """A user's role in a project, with the names of both."""

    project_id: str
    project: str
    user_id: str
    user: str
    role: MemberRole
    added_at: datetime


@dataclass(frozen=True, kw_only=True)
class Membership:
    """A project that a user is a member of, and the role."""

    project: TeamProject
    role: MemberRole


class AuditOutcome(StrEnum):
    """What became of an audited request."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """Who read or changed what: ids and names, never the text of a record."""

    id: str
    at: datetime
    user: str
    verb: str
    is_write: bool
    space: str  # '' of a user's own space, else the name of the project
    ids: tuple[str, ...] = ()
    client: str = ""
    outcome: AuditOutcome = AuditOutcome.DONE
