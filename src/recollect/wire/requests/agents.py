"""Requests for agents."""

from typing import Annotated

from recollect.domain.agent import Agent, AgentPinning, AgentReceipt
from recollect.domain.agent_transfer import AgentExport, AgentImport, AgentMerge
from recollect.domain.context_bundle import WindowOverview
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest

WARN_AT = 0.8  # share of the context window at which `context_window` warns


class CreateAgentRequest(VerbRequest[Agent], route="POST /agents"):
    """Create an agent."""

    name: fields.Text
    description: fields.Text = option("", "What it is for.")
    model: fields.Text = option("", "The language model it runs on.")
    system_prompt: fields.Text = option("", "Its instructions.")
    metadata: fields.Json = None
    default_blocks: fields.Flag = True


class GetAgentRequest(VerbRequest[Agent], route="GET /agents/{agent}"):
    """Return one agent."""

    agent: fields.Id


class UpdateAgentRequest(VerbRequest[Agent], route="PATCH /agents/{agent}"):
    """Change the settings of an agent; fields that are not set stay as they are."""

    agent: fields.Id
    name: fields.Text = option("", "A new name.")
    description: fields.Text = option("", "A new description.")
    model: fields.Text = option("", "Another model.")
    system_prompt: fields.Text = option("", "New instructions.")
    metadata: fields.Json = None


class PinAgentRequest(VerbRequest[Agent], route="PUT /agents/{agent}/pin"):
    """Pin an agent globally or to a project, or unpin it."""

    agent: fields.Id
    where: Annotated[AgentPinning, fields.member(AgentPinning, "pin")] = AgentPinning.GLOBAL
    project: fields.Place | None = None


class DeleteAgentRequest(VerbRequest[AgentReceipt], route="DELETE /agents/{agent}"):
    """Delete an agent and everything it owns."""

    agent: fields.Id


class CloneAgentRequest(VerbRequest[Agent], route="POST /agents/{agent}/clone"):
    """Make an independent copy of an agent."""

    agent: fields.Id
    name: fields.Text
    conversations: fields.Flag = False


class BranchAgentRequest(VerbRequest[Agent], route="POST /agents/{agent}/branch"):
    """Make a copy of an agent that can be merged back."""

    agent: fields.Id
    name: fields.Text
    at: fields.BranchPoint | None = None


class MergeAgentsRequest(VerbRequest[AgentMerge], route="POST /agents/{into}/merge"):
    """Merge the blocks and passages of one agent into another."""

    into: fields.Id
    other: fields.Id
    take: fields.Json = None
    dry_run: fields.Flag = False


class GetContextWindowRequest(VerbRequest[WindowOverview], route="POST /agents/{agent}/window"):
    """Return how many tokens each section of an agent's context window uses."""

    agent: fields.Id
    project: fields.Place | None = None
    conversation: fields.Id | None = None
    window_tokens: fields.WindowTokens | None = None
    tools: fields.Json = ()
    warn_at: fields.Share = WARN_AT


class ExportAgentRequest(VerbRequest[AgentExport], route="GET /agents/{agent}/export"):
    """Write an agent to one file."""

    agent: fields.Id
    format: fields.Text = "recollect"
    plain: fields.Flag = False


class ImportAgentRequest(VerbRequest[AgentImport], route="POST /agents/import"):
    """Create an agent from a file."""

    name: fields.Text | None = None
    trust: fields.Flag = False


class ListAgentsRequest(VerbRequest[list[Agent]], route="GET /agents"):
    """Return every agent, pinned ones first."""

    pinned: Annotated[AgentPinning, fields.member(AgentPinning, "pinned")] | None = None
    project: fields.Place | None = None
