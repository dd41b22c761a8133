"""Requests for the state and upkeep of the store."""

from collections.abc import Mapping

from recollect.domain.maintenance import MaintenanceReport, StoreStatus, Verification
from recollect.wire.fields import Limit
from recollect.wire.request import VerbRequest


class VerifyRequest(VerbRequest[Verification], route="POST /verify"):
    """Check the file, the rules and the indexes."""


class RebuildIndexesRequest(VerbRequest[Mapping[str, int]], route="POST /rebuild"):
    """Make every index anew from the memories."""


class GetStatusRequest(VerbRequest[StoreStatus], route="GET /status"):
    """Return what is in the store and how far its indexes are."""


class RunMaintenanceRequest(VerbRequest[MaintenanceReport], route="POST /maintain"):
    """Do scheduled maintenance; return what it leaves to a person."""

    limit: Limit = 100
