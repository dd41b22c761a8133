"""Handlers of the requests for the state and maintenance of the store. Each loads on use."""

from recollect.service.handlers.handler_table import Handlers, lazy_handler
from recollect.wire.requests import maintenance as requests

HANDLERS: Handlers = {
    requests.VerifyRequest: lazy_handler("maintenance.verify"),
    requests.RebuildIndexesRequest: lazy_handler("maintenance.rebuild_indexes"),
    requests.GetStatusRequest: lazy_handler("store_status.get_status"),
    requests.CountPendingRequest: lazy_handler("store_status.count_pending"),
    requests.ListClientsRequest: lazy_handler("store_status.list_clients"),
    requests.BackupRequest: lazy_handler("backup.back_up"),
    requests.ListBackupsRequest: lazy_handler("backup.list_backups"),
    requests.RunMaintenanceRequest: lazy_handler("maintenance.run_maintenance"),
}
