"""Requests for sleeptime: read what was said, list runs, undo one."""

from recollect.domain.sleeptime import SleeptimeRun
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest


class RunSleeptimeRequest(
    VerbRequest[SleeptimeRun | None], route="POST /conversations/{conversation}/sleeptime"
):
    """Read what is unread of a conversation, and propose edits of memory; None if nothing is."""

    conversation: fields.Id


class ListSleeptimeRunsRequest(
    VerbRequest[list[SleeptimeRun]], route="GET /agents/{agent}/sleeptime"
):
    """Return the runs of sleeptime of an agent, the latest first."""

    agent: fields.Id
    limit: fields.Limit = option(50, "Maximum number of results.")


class GetSleeptimeRunRequest(VerbRequest[SleeptimeRun], route="GET /sleeptime/{run_id}"):
    """Return one run of sleeptime, with its edits and what it learnt."""

    run_id: fields.Id


class UndoSleeptimeRequest(VerbRequest[SleeptimeRun], route="POST /sleeptime/{run_id}/undo"):
    """Undo a run of sleeptime; what a person decided since then stays."""

    run_id: fields.Id
