"""Requests for the state and maintenance of the store."""

from collections.abc import Mapping

from recollect.domain.backup import Backup, BackupReport
from recollect.domain.maintenance import (
    ClientActivity,
    MaintenanceReport,
    PendingCounts,
    StoreStatus,
    Verification,
)
from recollect.wire.fields import Flag, Limit, PathText, Text, option
from recollect.wire.request import VerbRequest


class VerifyRequest(VerbRequest[Verification], route="POST /verify"):
    """Check the file, the rules and the indexes."""


class RebuildIndexesRequest(VerbRequest[Mapping[str, int]], route="POST /rebuild"):
    """Rebuild every index from the stored rows; return how many rows each has."""


class GetStatusRequest(VerbRequest[StoreStatus], route="GET /status"):
    """Return what the store holds and the state of its indexes."""

    rows: Flag = option(True, "Count the rows of each table.")


class CountPendingRequest(VerbRequest[PendingCounts], route="GET /pending"):
    """Return how much waits for a person."""


class ListClientsRequest(VerbRequest[list[ClientActivity]], route="GET /clients"):
    """Return the programs that stored or asked something, the most recently seen first."""

    limit: Limit = 20


class BackupRequest(VerbRequest[BackupReport], route="POST /backups"):
    """Write a verified backup; delete those that are too old."""

    to: PathText | None = None
    keep: Text | None = None


class ListBackupsRequest(VerbRequest[list[Backup]], route="GET /backups"):
    """Return the backups of this store, newest first."""

    to: PathText | None = None


class RunMaintenanceRequest(VerbRequest[MaintenanceReport], route="POST /maintain"):
    """Run scheduled maintenance; return what a person should look at."""

    limit: Limit = 100
