"""The state and upkeep of the store."""

from collections.abc import Mapping

from recollect.api.noun import Noun
from recollect.domain.maintenance import MaintenanceReport, StoreStatus, Verification
from recollect.wire.requests import maintenance as requests


class Maintenance(Noun):
    """The state and upkeep of the store."""

    def verify(self) -> Verification:
        """Check the database file, the evidence rules and the indexes."""
        return self._send(requests.VerifyRequest, locals())

    def rebuild(self) -> Mapping[str, int]:
        """Rebuild every index from the stored rows; return how many rows each has."""
        return self._send(requests.RebuildIndexesRequest, locals())

    def status(self) -> StoreStatus:
        """Return what the store holds and the state of its indexes."""
        return self._send(requests.GetStatusRequest, locals())

    def run(self, *, limit: int = 100) -> MaintenanceReport:
        """Run scheduled maintenance; return what a person should look at."""
        return self._send(requests.RunMaintenanceRequest, locals())
