"""
The users and projects of a team, for the person who runs its server.

It works on the first store; `audit` also reads the stores of all users and projects.
"""

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime

from recollect.app.space_stores import open_space_to_read
from recollect.domain.team import AuditEntry, Member, MemberRole, NewToken, User
from recollect.errors import InvalidInput
from recollect.service.services import Services
from recollect.service.team import TeamDirectory
from recollect.store.protocol import Store

MAX_ENTRIES = 1_000_000


class LocalTeam:
    """Add users and members, and read the audit log. It is `rec.engine.team`."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self.directory = TeamDirectory(
            services.store, services.clock, is_audited=services.settings.audit != "never"
        )

    def add_user(self, name: str, *, is_admin: bool = False) -> NewToken:
        """
        Add a user and return its token, which is not stored.

        From the first user on, the server of this store requires a user's token. The first user is
        an admin and has what the store held before.
        """
        return self.directory.add_user(name, is_admin=is_admin)

    def list_users(self) -> list[User]:
        """Return every user, also the revoked ones, by name."""
        return self.directory.users()

    def rotate_user(self, name: str) -> NewToken:
        """Give a user a new token; the old one is refused from then on."""
        return self.directory.rotate_user(name)

    def revoke_user(self, name: str) -> User:
        """Refuse a user's token from the next request on; what the user stored stays."""
        return self.directory.revoke_user(name)

    def set_member(self, project: str, user: str, role: str = "writer") -> Member:
        """Add a user to a project as reader, writer or owner, or change the role."""
        return self.directory.set_member(project, user, parse_role(role))

    def remove_member(self, project: str, user: str) -> None:
        """Remove a user from a project; from the next request on the user no longer sees it."""
        self.directory.remove_member(project, user)

    def list_members(self, project: str | None = None) -> list[Member]:
        """Return the members of one project, or of all."""
        return self.directory.members(project)

    def audit(
        self, *, user: str = "", since: datetime | None = None, verb: str = "", limit: int = 100
    ) -> list[AuditEntry]:
        """Return who read or changed what in all stores of the team, the newest first."""
        if not 1 <= limit <= MAX_ENTRIES:
            raise InvalidInput(f"limit must be from 1 to {MAX_ENTRIES}, not {limit}")
        entries: list[AuditEntry] = []
        for store in self._stores():
            with store.read() as tables:
                entries += tables.team.audit_entries(since=since, user=user, verb=verb, limit=limit)
        return sorted(entries, key=lambda entry: (entry.at, entry.id), reverse=True)[:limit]

    def _stores(self) -> Iterator[Store]:
        """Yield the first store and the stores of users and projects, one at a time."""
        yield self._services.store
        for space_id in self.directory.space_ids():
            store = open_space_to_read(
                self._services.settings,
                self._services.clock,
                space_id,
                first=self._services.store,
            )
            if store is not None:
                with closing(store):
                    yield store


def parse_role(role: str) -> MemberRole:
    """Return the role of that name."""
    try:
        return MemberRole(role)
    except ValueError:
        names = ", ".join(MemberRole)
        raise InvalidInput(f"the role must be one of {names}, not {role!r}") from None
