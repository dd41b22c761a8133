"""The state and maintenance of the store."""

from collections.abc import Mapping

from recollect.api.arguments import FilePath
from recollect.api.verb_group import VerbGroup
from recollect.domain.backup import Backup, BackupReport
from recollect.domain.maintenance import (
    ClientActivity,
    MaintenanceReport,
    PendingCounts,
    StoreStatus,
    Verification,
)
from recollect.wire.requests import maintenance as requests


class Maintenance(VerbGroup):
    """The state and maintenance of the store."""

    def verify(self) -> Verification:
        """Check the database file, the evidence rules and the indexes."""
        return self._send(requests.VerifyRequest, locals())

    def rebuild(self) -> Mapping[str, int]:
        """Rebuild every index from the stored rows; return how many rows each has."""
        return self._send(requests.RebuildIndexesRequest, locals())

    def status(self, *, rows: bool = True) -> StoreStatus:
        """
        Return what the store holds and the state of its indexes.

        Without *rows* `counts` is empty: to count the rows of all tables takes most of the time.
        """
        return self._send(requests.GetStatusRequest, locals())

    def pending(self) -> PendingCounts:
        """Return how many candidates, conflicts, proposed edits and jobs wait; it is cheap."""
        return self._send(requests.CountPendingRequest, locals())

    def clients(self, *, limit: int = 20) -> list[ClientActivity]:
        """Return the programs that stored or asked something, the most recently seen first."""
        return self._send(requests.ListClientsRequest, locals())

    def backup(self, to: FilePath | None = None, *, keep: str | None = None) -> BackupReport:
        """
        Write a backup into the folder *to*, verify it, and delete those that are too old.

        *keep* is how many days, weeks and months keep their newest backup, such as `7d,4w,12m`. The
        defaults are the settings `backup_folder` and `backup_keep`; a server uses its own folder.
        """
        return self._send(requests.BackupRequest, locals())

    def backups(self, to: FilePath | None = None) -> list[Backup]:
        """Return the backups of this store in the folder *to*, newest first."""
        return self._send(requests.ListBackupsRequest, locals())

    def run(self, *, limit: int = 100) -> MaintenanceReport:
        """Run scheduled maintenance; return what a person should look at."""
        return self._send(requests.RunMaintenanceRequest, locals())
