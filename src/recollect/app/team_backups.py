"""
Scheduled backups of the stores of a team's users and projects.

The server's worker makes them beside those of the first store, also of stores that nobody has
opened since the start. Stores on a database server are backed up by its own tools.
"""

import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from recollect.app.local_team import LocalTeam
from recollect.app.team_space import space_settings
from recollect.domain.backup import BackupReport
from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.service.backup import (
    RETRY_AFTER,
    back_up_store,
    newest_backup_at,
    scheduled_folder,
)
from recollect.service.services import Services
from recollect.store.sqlite.store import SqliteStore

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpaceFile:
    """The store of a user or project in a file, and how `doctor` names it."""

    name: str
    path: Path


class TeamBackups:
    """Makes the backups of users and projects when they are due. It works on the first store."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._team = LocalTeam(services)
        self._next_at: datetime | None = None
        self._retry_at: dict[Path, datetime] = {}

    def run_if_due(self) -> BackupReport | None:
        """
        Back up one store whose newest backup is older than the setting allows, None if all are new.

        The caller asks again soon. A backup that failed is logged and tried later; others go on.
        """
        now = self._services.clock.now()
        if self._folder() is None or (self._next_at and now < self._next_at):
            return None
        for space in self._spaces():
            if now < self._retry_at.get(space.path, now):
                continue
            try:
                if self._is_older(space, self._every()):
                    return self._back_up(space)
            except RecollectError as error:
                self._retry_at[space.path] = now + RETRY_AFTER
                log.warning("the scheduled backup of %s failed: %s", space.name, error)
        self._next_at = now + RETRY_AFTER
        return None

    def overdue(self) -> list[str]:
        """Return the names of the stores whose newest backup is too old, or that have none."""
        if self._folder() is None:
            return []
        return [space.name for space in self._spaces() if self._is_older(space, 2 * self._every())]

    def _every(self) -> timedelta:
        return timedelta(hours=self._services.settings.backup_every_hours)

    def _folder(self) -> Path | None:
        """Return where backups go, None if no backups are scheduled, or not of files."""
        is_file = self._services.store.file is not None
        return scheduled_folder(self._services.settings) if is_file else None

    def _is_older(self, space: SpaceFile, age: timedelta) -> bool:
        """Return whether the newest backup of a store is older than *age*, or there is none."""
        folder, now = self._folder(), self._services.clock.now()
        assert folder is not None
        newest = newest_backup_at(space.path, folder, now=now)
        return newest is None or newest + age <= now

    def _spaces(self) -> Iterator[SpaceFile]:
        """Yield the stores that somebody has used."""
        directory, settings = self._team.directory, self._services.settings
        users = [user for user in directory.users() if not user.has_first_store]
        named = [(f"user {user.name}", user.id) for user in users]
        named += [(f"project {project.name}", project.id) for project in directory.projects()]
        for name, space_id in named:
            path = space_settings(settings, space_id).db_path
            if path.exists():
                yield SpaceFile(name, path)

    def _back_up(self, space: SpaceFile) -> BackupReport:
        with closing(SqliteStore(space.path, self._services.clock)) as store:
            return back_up_store(replace(self._services, store=store))
