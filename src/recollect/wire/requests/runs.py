"""Requests for runs of agents: send a message, decide on a tool call, cancel."""

from typing import Annotated

from pydantic import Field

from recollect.domain import agent_run as domain
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest

MAX_STEPS = 50
RunEvents = Annotated[domain.RunEvent, Field(discriminator="type")]


class RunAgentRequest(
    VerbRequest[domain.RunResult], route="POST /agents/{agent}/run", events=RunEvents
):
    """Send a message to an agent and let it answer, calling tools, until it stops."""

    agent: fields.Id
    message: fields.Content
    conversation: fields.Id | None = option(
        None, "The conversation, by id. Default: the agent's current one."
    )
    project: fields.Place | None = option(None, "Start a conversation in this project.")
    model: fields.Name = option("", "The model to use instead of the configured one.")
    max_steps: Annotated[int, fields.whole_number(1, 1_000)] = option(
        MAX_STEPS, "How often the model may be called."
    )


class DecideApprovalRequest(
    VerbRequest[domain.RunResult], route="POST /approvals/{approval}", events=RunEvents
):
    """Approve or deny a tool call; with the last decision of a run, the run continues."""

    approval: fields.Id
    approve: fields.Flag
    reason: fields.Summary = option("", "What the model is told if it is denied.")
    always: fields.Flag = option(False, "Approve every later call of this tool by this agent.")


class ListApprovalsRequest(VerbRequest[list[domain.Approval]], route="GET /approvals"):
    """Return the tool calls that wait for a decision, the first to expire first."""

    agent: fields.Id | None = option(None, "Only of this agent.")
    conversation: fields.Id | None = option(None, "Only of this conversation.")


class CancelRunRequest(
    VerbRequest[domain.Run | None], route="POST /conversations/{conversation}/cancel"
):
    """Stop the open run of a conversation and deny what waits; None if there is none."""

    conversation: fields.Id


class ListRunsRequest(
    VerbRequest[list[domain.Run]], route="GET /conversations/{conversation}/runs"
):
    """Return the runs of a conversation, the latest first."""

    conversation: fields.Id
    limit: fields.Limit = option(50, "Maximum number of results.")
