"""Users, the members of projects, and the audit log."""

from collections.abc import Sequence
from datetime import datetime

from recollect.domain.team import AuditEntry, Member, MemberRole, Membership, TeamProject, User
from recollect.store.database_connection import pair_shape, record_shape
from recollect.store.repositories.repository import EARLIEST, Repository, field_values

_user = record_shape(User, "id name is_admin has_first_store created_at rotated_at revoked_at")
_project = record_shape(TeamProject, "id name identity created_at")
_member = record_shape(Member, "project_id project user_id user role added_at")
_membership = pair_shape(TeamProject, "id name identity created_at", MemberRole)
_entry = record_shape(AuditEntry, "id at user verb is_write space ids client outcome")


class TeamRepository(Repository):
    """Users, the members of projects, and the audit log."""

    _statements = "team"

    def has_users(self) -> bool:
        """Return whether the store belongs to a team."""
        return bool(self._value("has_users"))

    def add_user(self, user: User, token_hash: str) -> None:
        """Store a new user."""
        self._run("add_user", **field_values(user), token_hash=token_hash)

    def user_by_token(self, token_hash: str) -> User | None:
        """Return the user whose token has that hash, or None."""
        return self._first(_user, "user_by_token", token_hash=token_hash)

    def user(self, user_id: str) -> User | None:
        """Return the user with that id, or None."""
        return self._first(_user, "user", id=user_id)

    def user_by_name(self, name: str) -> User | None:
        """Return the user of that name, or None."""
        return self._first(_user, "user_by_name", name=name)

    def users(self) -> list[User]:
        """Return every user, by name."""
        return self._all(_user, "users")

    def token_hashes(self) -> dict[str, str]:
        """Return the hash of each user's token by the id of the user."""
        return dict(self._rows("token_hashes"))

    def set_token(self, user_id: str, token_hash: str, *, at: datetime) -> bool:
        """Replace the token of a user; return False if the user is revoked."""
        return bool(
            self._run_counted("set_token", id=user_id, token_hash=token_hash, rotated_at=at)
        )

    def revoke_user(self, user_id: str, unusable_hash: str, *, at: datetime) -> bool:
        """Revoke a user, who leaves every project; return False if that was done before."""
        self._run("leave_projects", user_id=user_id)
        return bool(
            self._run_counted("revoke_user", id=user_id, token_hash=unusable_hash, revoked_at=at)
        )

    def add_project(self, project: TeamProject) -> None:
        """Store a new project."""
        self._run("add_project", **field_values(project))

    def project_by_identity(self, identity: str) -> TeamProject | None:
        """Return the project with that identity, or None."""
        return self._first(_project, "project_by_identity", identity=identity)

    def projects(self) -> list[TeamProject]:
        """Return every project, by name."""
        return self._all(_project, "projects")

    def set_member(self, project_id: str, user_id: str, role: MemberRole, *, at: datetime) -> None:
        """Add a member to a project, or change its role."""
        values = {"project_id": project_id, "user_id": user_id, "role": role, "added_at": at}
        self._run("set_member", **values)

    def remove_member(self, project_id: str, user_id: str) -> bool:
        """Remove a member from a project; return False if it was none."""
        return bool(self._run_counted("remove_member", project_id=project_id, user_id=user_id))

    def members(self, project_id: str = "") -> list[Member]:
        """Return the members of a project, or of all projects."""
        return self._all(_member, "members", project_id=project_id)

    def memberships(self, user_id: str) -> list[Membership]:
        """Return the projects of a user and the role in each; none if the user is revoked."""
        rows = self._all(_membership, "memberships", user_id=user_id)
        return [Membership(project=project, role=role) for project, role in rows]

    def add_audit_entries(self, entries: Sequence[AuditEntry]) -> None:
        """Store who read or changed what."""
        for entry in entries:
            self._run("add_audit_entry", **field_values(entry))

    def set_audit_ids(self, entry_id: str, ids: Sequence[str]) -> None:
        """Store the ids of an entry that are known after the work."""
        self._run("set_audit_ids", id=entry_id, ids=list(ids))

    def audit_entries(
        self, *, since: datetime | None = None, user: str = "", verb: str = "", limit: int
    ) -> list[AuditEntry]:
        """Return entries of the audit log, the newest first."""
        values = {"since": since or EARLIEST, "user": user, "verb": verb, "limit": limit}
        return self._all(_entry, "audit_entries", **values)

    def audit_page(self, *, after: str = "", limit: int) -> list[AuditEntry]:
        """Return the entries that follow the one with the id *after*, in the order of their ids."""
        return self._all(_entry, "audit_page", after=after, limit=limit)

    def last_audit_id(self) -> str:
        """Return the greatest id of an entry, '' if there is none."""
        return self._value("last_audit_id") or ""

    def prune_audit(self, *, before: datetime, limit: int) -> int:
        """Delete some of the entries that are older than *before*; return how many."""
        return self._run_counted("prune_audit", before=before, limit=limit)
