"""Handlers of the requests for the state and maintenance of the store."""

from recollect.service import backup, maintenance
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import maintenance as requests

HANDLERS: Handlers = {
    requests.VerifyRequest: maintenance.verify,
    requests.RebuildIndexesRequest: maintenance.rebuild_indexes,
    requests.GetStatusRequest: maintenance.get_status,
    requests.CountPendingRequest: maintenance.count_pending,
    requests.ListClientsRequest: maintenance.list_clients,
    requests.BackupRequest: backup.back_up,
    requests.ListBackupsRequest: backup.list_backups,
    requests.RunMaintenanceRequest: maintenance.run_maintenance,
}
