"""Handlers of the requests for sleeptime."""

from recollect.service import sleeptime, sleeptime_undo
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import sleeptime as requests

HANDLERS: Handlers = {
    requests.RunSleeptimeRequest: sleeptime.run_now,
    requests.ListSleeptimeRunsRequest: sleeptime.list_runs,
    requests.GetSleeptimeRunRequest: sleeptime.get_run,
    requests.UndoSleeptimeRequest: sleeptime_undo.undo_run,
}
