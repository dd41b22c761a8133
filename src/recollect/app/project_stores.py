"""
The open stores of a team's projects, each with its background worker, shared by all members.

A store in use is not closed; of the idle ones, those that were used last stay open.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

from recollect.app.audit_log import AuditLog
from recollect.app.background_worker import BackgroundWorker
from recollect.app.local_recollect import LocalRecollect
from recollect.app.team_space import TeamSpace, directory_schema, space_settings
from recollect.clock import Clock, SystemClock
from recollect.config import Settings
from recollect.domain.team import TeamProject
from recollect.errors import StoreClosed
from recollect.store.protocol import Store

MAX_OPEN = 64


class ProjectStore:
    """The open store of one project."""

    def __init__(
        self, rec: LocalRecollect, project: TeamProject, *, audit: AuditLog | None
    ) -> None:
        self.rec = rec
        self.project = project
        self.audit = audit
        self.users = 0  # requests that use it at the moment
        self.worker = BackgroundWorker(rec, user=project.id)

    def close(self) -> None:
        """Stop the worker and close the store; what waits for the audit log is written."""
        self.worker.stop()
        if self.audit is not None:
            self.audit.close()
        self.rec.close()


class ProjectStores:
    """Opens the stores of projects, and keeps those that were used last open."""

    def __init__(
        self, settings: Settings, *, models_of: LocalRecollect, clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._models_of = models_of
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._open: OrderedDict[str, ProjectStore] = OrderedDict()
        self._is_closed = False
        self.deletions = 0  # by members, through this server

    @contextmanager
    def using(self, project: TeamProject) -> Iterator[ProjectStore]:
        """Return a context in which the store of *project* is open."""
        with self._lock:
            store = self._open.get(project.id)
            if store is None:
                store = self._open[project.id] = self._open_store(project)
            self._open.move_to_end(project.id)
            store.users += 1
        try:
            yield store
        finally:
            with self._lock:
                store.users -= 1
                idle = self._take_idle()
            for other in idle:
                other.close()

    def is_open(self, project_id: str) -> bool:
        """Return whether the store of a project is open."""
        return project_id in self._open

    def close(self) -> None:
        """Close every store."""
        with self._lock:
            self._is_closed = True
            stores, self._open = list(self._open.values()), OrderedDict()
        for store in stores:
            store.close()

    def _take_idle(self) -> list[ProjectStore]:
        idle = [key for key, store in self._open.items() if not store.users]
        return [self._open.pop(key) for key in idle[: max(0, len(self._open) - MAX_OPEN)]]

    def _open_store(self, project: TeamProject) -> ProjectStore:
        if self._is_closed:
            raise StoreClosed("the server ends; the stores of its projects are closed")
        space = TeamSpace(id=project.id, directory_schema=directory_schema(self._settings))
        settings = space_settings(self._settings, project.id)
        rec = LocalRecollect(
            replace(settings, backup_every_hours=0),  # the worker of the server backs up all stores
            clock=self._clock,
            readable_folders=(),
            reads_home_skills=False,
            runs_agent_file_code=False,
            space=space,
            models_of=self._models_of,
        )
        audit = space_audit(rec.engine.services.store, settings, self._clock, project.id)
        store = ProjectStore(rec, project, audit=audit)
        store.worker.start()
        return store


def space_audit(store: Store, settings: Settings, clock: Clock, space_id: str) -> AuditLog | None:
    """Return the audit log of a space; None if it is switched off."""
    if settings.audit == "never":
        return None
    keep = timedelta(days=settings.audit_days)
    return AuditLog(store, clock, space_id=space_id, keep=keep)
