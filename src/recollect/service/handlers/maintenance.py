"""Handlers of the requests for the state and upkeep of the store."""

from collections.abc import Mapping

from recollect.domain.maintenance import MaintenanceReport, StoreStatus, Verification
from recollect.service import maintenance, upkeep
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests.maintenance import (
    GetStatusRequest,
    RebuildIndexesRequest,
    RunMaintenanceRequest,
    VerifyRequest,
)


def verify(services: Services, request: VerifyRequest) -> Verification:
    return upkeep.verify(services)


def rebuild_indexes(services: Services, request: RebuildIndexesRequest) -> Mapping[str, int]:
    return upkeep.rebuild_indexes(services)


def get_status(services: Services, request: GetStatusRequest) -> StoreStatus:
    return upkeep.status(services)


def run_maintenance(services: Services, request: RunMaintenanceRequest) -> MaintenanceReport:
    return maintenance.maintain(services, limit=request.limit)


HANDLERS: Handlers = {
    VerifyRequest: verify,
    RebuildIndexesRequest: rebuild_indexes,
    GetStatusRequest: get_status,
    RunMaintenanceRequest: run_maintenance,
}
