"""
The directory of a team: users and their tokens, projects and their members.

A token is 32 random bytes. It is shown once; the store has its SHA-256, by which the row is found:
the time of the lookup says nothing about a token, because nobody can choose its hash. Every
question goes to the store, so that a change holds at the next request of any server.
"""

import hashlib
import secrets
from dataclasses import replace

from recollect.calling_client import calling_client
from recollect.clock import Clock
from recollect.domain.project import short_name
from recollect.domain.team import (
    AuditEntry,
    AuditOutcome,
    Member,
    MemberRole,
    Membership,
    NewToken,
    TeamProject,
    User,
)
from recollect.errors import AlreadyExists, InvalidInput, NotFound
from recollect.service.place_lookup import project_identity
from recollect.service.validate import new_name_of
from recollect.store.protocol import Store, Tables

TOKEN_BYTES = 32
TOKEN_PREFIX = "rcl_"  # so that scanners of secrets recognise it
MAX_TOKEN_CHARS = 200


class TeamDirectory:
    """
    The users and projects of the first store of a team. Safe to share between threads.

    *by* names the user who changes something, '' on the command line. If *is_audited* is set, the
    audit log of the store says so, in the same transaction.
    """

    def __init__(self, store: Store, clock: Clock, *, is_audited: bool) -> None:
        self._store = store
        self._clock = clock
        self._is_audited = is_audited

    def has_users(self) -> bool:
        """Return whether the store belongs to a team: then every request needs a user's token."""
        with self._store.read() as tables:
            return tables.team.has_users()

    def user_of_token(self, token: str) -> User | None:
        """Return the active user whose token this is, or None."""
        if not 0 < len(token) <= MAX_TOKEN_CHARS:
            return None
        digest = token_hash(token)
        with self._store.read() as tables:
            user = tables.team.user_by_token(digest)
        return user if user is not None and user.is_active else None

    def user(self, user_id: str) -> User | None:
        """Return the user with that id, or None."""
        with self._store.read() as tables:
            return tables.team.user(user_id)

    def users(self) -> list[User]:
        """Return every user, also the revoked ones, by name."""
        with self._store.read() as tables:
            return tables.team.users()

    def add_user(self, name: str, *, is_admin: bool = False, by: str = "") -> NewToken:
        """Add a user. The first one is an admin, and gets what the store holds already."""
        name = new_name_of("user", name)
        if self._store.file is not None and self._store.file.is_encrypted:
            raise InvalidInput(
                f"{self._store.location} is encrypted, and the stores of its users would not be; "
                "decrypt it (recollect decrypt), or put it on an encrypted disk"
            )
        token, now = new_token(), self._clock.now()

        def write(tables: Tables) -> User:
            if tables.team.user_by_name(name) is not None:
                raise AlreadyExists(
                    f"a user named {name!r} exists already; choose another name, or give this "
                    f"user a new token: recollect user rotate {name}"
                )
            is_first = not tables.team.has_users()
            user = User(
                id=self._clock.new_id(),
                name=name,
                is_admin=is_admin or is_first,
                has_first_store=is_first,
                created_at=now,
                rotated_at=now,
            )
            tables.team.add_user(user, token_hash(token))
            self._log(tables, "add_user", by, user.id)
            return user

        user = self._store.write(write)
        if user.has_first_store:
            self._store.enforce_policies()
        return NewToken(user=user, token=token)

    def rotate_user(self, name: str, *, by: str = "") -> NewToken:
        """Give a user a new token; the old one is refused from now on."""
        token, now = new_token(), self._clock.now()

        def write(tables: Tables) -> User:
            user = _require_user(tables, name)
            if not tables.team.set_token(user.id, token_hash(token), at=now):
                raise InvalidInput(f"the user {name!r} is revoked; add a user of another name")
            self._log(tables, "rotate_user", by, user.id)
            return replace(user, rotated_at=now)

        return NewToken(user=self._store.write(write), token=token)

    def revoke_user(self, name: str, *, by: str = "") -> User:
        """Refuse the token of a user from now on, and remove the user from every project."""
        now = self._clock.now()

        def write(tables: Tables) -> User:
            user = _require_user(tables, name)
            if not user.is_active:
                return user
            others = [other for other in tables.team.users() if other.is_admin and other.is_active]
            if user.is_admin and len(others) == 1:
                raise InvalidInput(f"{name!r} is the only admin; add another one first")
            # A new random hash: no token is known for it.
            tables.team.revoke_user(user.id, token_hash(new_token()), at=now)
            self._log(tables, "revoke_user", by, user.id)
            return replace(user, revoked_at=now)

        return self._store.write(write)

    def set_member(self, project: str, name: str, role: MemberRole, *, by: str = "") -> Member:
        """Add a user to a project, or change the role; a project that is new is created."""
        identity = project_identity(project)

        def write(tables: Tables) -> Member:
            user = _require_user(tables, name)
            if not user.is_active:
                raise InvalidInput(f"the user {name!r} is revoked")
            shared = tables.team.project_by_identity(identity)
            shared = shared or self._add_project(tables, identity)
            tables.team.set_member(shared.id, user.id, role, at=self._clock.now())
            self._log(tables, "set_member", by, user.id, space=shared.name)
            return next(m for m in tables.team.members(shared.id) if m.user_id == user.id)

        return self._store.write(write)

    def remove_member(self, project: str, name: str, *, by: str = "") -> None:
        """Remove a user from a project: the user no longer sees its memories, which stay."""
        identity = project_identity(project)

        def write(tables: Tables) -> None:
            user = _require_user(tables, name)
            shared = tables.team.project_by_identity(identity)
            if shared is None or not tables.team.remove_member(shared.id, user.id):
                raise NotFound(f"{name!r} is not a member of {project!r}")
            self._log(tables, "remove_member", by, user.id, space=shared.name)

        self._store.write(write)

    def members(self, project: str | None = None) -> list[Member]:
        """Return the members of a project, or of all."""
        identity = None if project is None else project_identity(project)
        with self._store.read() as tables:
            if identity is None:
                return tables.team.members()
            shared = tables.team.project_by_identity(identity)
            return tables.team.members(shared.id) if shared is not None else []

    def projects(self) -> list[TeamProject]:
        """Return every project that has, or had, members."""
        with self._store.read() as tables:
            return tables.team.projects()

    def space_ids(self) -> list[str]:
        """Return the ids of the spaces beside the first store, also of revoked users."""
        users = [user.id for user in self.users() if not user.has_first_store]
        return users + [project.id for project in self.projects()]

    def memberships(self, user_id: str) -> list[Membership]:
        """Return the projects of a user with the role in each, at this moment."""
        with self._store.read() as tables:
            return tables.team.memberships(user_id)

    def log_refusal(self, verb: str, user: str) -> None:
        """Log that *user* may not do what *verb* says."""
        refused = AuditOutcome.REFUSED
        self._store.write(lambda tables: self._log(tables, verb, user, outcome=refused))

    def _log(
        self,
        tables: Tables,
        verb: str,
        by: str,
        *ids: str,
        space: str = "",
        outcome: AuditOutcome = AuditOutcome.DONE,
    ) -> None:
        if not self._is_audited:
            return
        entry = AuditEntry(
            id=self._clock.new_id(),
            at=self._clock.now(),
            user=by,
            verb=verb,
            is_write=True,
            space=space,
            ids=ids,
            client=calling_client(),
            outcome=outcome,
        )
        tables.team.add_audit_entries([entry])

    def _add_project(self, tables: Tables, identity: str) -> TeamProject:
        project = TeamProject(
            id=self._clock.new_id(),
            name=short_name(identity),
            identity=identity,
            created_at=self._clock.now(),
        )
        tables.team.add_project(project)
        return project


def new_token() -> str:
    """Return a new token."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def _require_user(tables: Tables, name: str) -> User:
    user = tables.team.user_by_name(name.strip())
    if user is None:
        raise NotFound(f"there is no user {name!r}; `recollect user list` shows them")
    return user
