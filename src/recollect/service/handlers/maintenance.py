"""Handlers of the requests for the state and maintenance of the store."""

from recollect.service import maintenance
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import maintenance as requests

HANDLERS: Handlers = {
    requests.VerifyRequest: maintenance.verify,
    requests.RebuildIndexesRequest: maintenance.rebuild_indexes,
    requests.GetStatusRequest: maintenance.get_status,
    requests.RunMaintenanceRequest: maintenance.run_maintenance,
}
