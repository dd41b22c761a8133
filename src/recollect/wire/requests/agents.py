"""Requests for agents."""

from recollect.domain.agent import Agent, AgentReceipt
from recollect.domain.agent_transfer import AgentExport, AgentImport, Merge
from recollect.domain.context_bundle import WindowOverview
from recollect.wire.fields import Flag, Id, Json, Number, Place, Text, WholeNumber
from recollect.wire.request import VerbRequest

WARN_AT = 0.8  # share of the context window at which `context_window` warns


class CreateAgentRequest(VerbRequest[Agent], route="POST /agents"):
    """Create an agent."""

    name: Text
    description: Text = ""
    model: Text = ""
    system_prompt: Text = ""
    metadata: Json = None
    default_blocks: Flag = True


class GetAgentRequest(VerbRequest[Agent], route="GET /agents/{agent}"):
    """Return one agent."""

    agent: Id


class UpdateAgentRequest(VerbRequest[Agent], route="PATCH /agents/{agent}"):
    """Change the settings of an agent; fields that are not set stay as they are."""

    agent: Id
    name: Text | None = None
    description: Text | None = None
    model: Text | None = None
    system_prompt: Text | None = None
    metadata: Json = None


class PinAgentRequest(VerbRequest[Agent], route="PUT /agents/{agent}/pin"):
    """Pin an agent globally or to a project, or unpin it."""

    agent: Id
    where: Text = "global"
    project: Place | None = None


class DeleteAgentRequest(VerbRequest[AgentReceipt], route="DELETE /agents/{agent}"):
    """Delete an agent and everything it owns."""

    agent: Id


class CloneAgentRequest(VerbRequest[Agent], route="POST /agents/{agent}/clone"):
    """Make an independent copy of an agent."""

    agent: Id
    name: Text
    conversations: Flag = False


class BranchAgentRequest(VerbRequest[Agent], route="POST /agents/{agent}/branch"):
    """Make a copy of an agent that can be merged back."""

    agent: Id
    name: Text
    at: Json = None


class MergeAgentsRequest(VerbRequest[Merge], route="POST /agents/{into}/merge"):
    """Merge the blocks and passages of one agent into another."""

    into: Id
    other: Id
    take: Json = None
    dry_run: Flag = False


class GetContextWindowRequest(VerbRequest[WindowOverview], route="POST /agents/{agent}/window"):
    """Return how many tokens each section of an agent's context window uses."""

    agent: Id
    project: Place | None = None
    conversation: Id | None = None
    window_tokens: WholeNumber | None = None
    tools: Json = ()
    warn_at: Number = WARN_AT


class ExportAgentRequest(VerbRequest[AgentExport], route="GET /agents/{agent}/export"):
    """Write an agent to one file."""

    agent: Id
    format: Text = "recollect"


class ImportAgentRequest(VerbRequest[AgentImport], route="POST /agents/import"):
    """Create an agent from a file."""

    name: Text | None = None


class ListAgentsRequest(VerbRequest[list[Agent]], route="GET /agents"):
    """Return every agent, pinned ones first."""

    pinned: Text | None = None
    project: Place | None = None
