"""Requests for agents."""

from typing import Annotated

from pydantic import Field

from recollect.domain.agent import Agent, AgentPinning, AgentReceipt
from recollect.domain.agent_transfer import AgentExport, AgentImport, AgentMerge
from recollect.domain.context_bundle import WindowOverview
from recollect.wire.fields import (
    Flag,
    Id,
    Json,
    Place,
    Share,
    Text,
    WindowTokens,
    member,
)
from recollect.wire.request import VerbRequest

WARN_AT = 0.8  # share of the context window at which `context_window` warns


class CreateAgentRequest(VerbRequest[Agent], route="POST /agents"):
    """Create an agent."""

    name: Text
    description: Text = Field(default="", description="What it is for.")
    model: Text = Field(default="", description="The language model it runs on.")
    system_prompt: Text = Field(default="", description="Its instructions.")
    metadata: Json = None
    default_blocks: Flag = True


class GetAgentRequest(VerbRequest[Agent], route="GET /agents/{agent}"):
    """Return one agent."""

    agent: Id


class UpdateAgentRequest(VerbRequest[Agent], route="PATCH /agents/{agent}"):
    """Change the settings of an agent; fields that are not set stay as they are."""

    agent: Id
    name: Text = Field(default="", description="A new name.")
    description: Text = Field(default="", description="A new description.")
    model: Text = Field(default="", description="Another model.")
    system_prompt: Text = Field(default="", description="New instructions.")
    metadata: Json = None


class PinAgentRequest(VerbRequest[Agent], route="PUT /agents/{agent}/pin"):
    """Pin an agent globally or to a project, or unpin it."""

    agent: Id
    where: Annotated[AgentPinning, member(AgentPinning, "pin")] = AgentPinning.GLOBAL
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


class MergeAgentsRequest(VerbRequest[AgentMerge], route="POST /agents/{into}/merge"):
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
    window_tokens: WindowTokens | None = None
    tools: Json = ()
    warn_at: Share = WARN_AT


class ExportAgentRequest(VerbRequest[AgentExport], route="GET /agents/{agent}/export"):
    """Write an agent to one file."""

    agent: Id
    format: Text = "recollect"


class ImportAgentRequest(VerbRequest[AgentImport], route="POST /agents/import"):
    """Create an agent from a file."""

    name: Text | None = None


class ListAgentsRequest(VerbRequest[list[Agent]], route="GET /agents"):
    """Return every agent, pinned ones first."""

    pinned: Annotated[AgentPinning, member(AgentPinning, "pinned")] | None = None
    project: Place | None = None
