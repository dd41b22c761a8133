"""Handlers of the requests for runs of agents, and those that yield the events of a run."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recollect.domain.agent_run import RunEnded, RunEvent, result_of_events
from recollect.runtime import run_records
from recollect.runtime.driver import AgentRun, run_result
from recollect.runtime.runtime_context import RuntimeContext
from recollect.wire.request import VerbRequest
from recollect.wire.requests import runs as requests


def stream_run(context: RuntimeContext, request: requests.RunAgentRequest) -> Iterator[RunEvent]:
    """Send a message to an agent, yielding what happens."""
    run_records.expire_approvals(context.services)
    opened = run_records.open_run(context.services, request)
    return AgentRun(context, opened, model=request.model).begin()


def stream_decision(
    context: RuntimeContext, request: requests.DecideApprovalRequest
) -> Iterator[RunEvent]:
    """Store a decision; with the last one of a run, continue it, yielding what happens."""
    opened, is_last = run_records.decide(context.services, request)
    if is_last:
        return AgentRun(context, opened).resume()
    return iter([RunEnded(result=run_result(context, opened.run.id))])


def list_approvals(context: RuntimeContext, request: requests.ListApprovalsRequest) -> Any:
    """Return the calls that wait for a decision, after closing expired runs."""
    run_records.expire_approvals(context.services)
    return run_records.list_approvals(context.services, request)


STREAMS: Mapping[type[VerbRequest[Any]], Callable[[RuntimeContext, Any], Iterator[Any]]] = {
    requests.RunAgentRequest: stream_run,
    requests.DecideApprovalRequest: stream_decision,
}
HANDLERS: Mapping[type[VerbRequest[Any]], Callable[[RuntimeContext, Any], Any]] = {
    requests.RunAgentRequest: lambda context, request: result_of_events(
        stream_run(context, request)
    ),
    requests.DecideApprovalRequest: lambda context, request: result_of_events(
        stream_decision(context, request)
    ),
    requests.ListApprovalsRequest: list_approvals,
    requests.CancelRunRequest: lambda context, request: run_records.cancel_run(
        context.services, request
    ),
    requests.ListRunsRequest: lambda context, request: run_records.list_runs(
        context.services, request
    ),
}
