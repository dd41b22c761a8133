"""Handlers of the requests for agents."""

from typing import Any

from recollect.domain.agent import Agent, AgentReceipt
from recollect.domain.agent_transfer import Merge
from recollect.domain.context_bundle import WindowOverview
from recollect.service import agents, window
from recollect.service.block_target import Place
from recollect.service.handlers.table import Handlers
from recollect.service.moving import copies, merge
from recollect.service.places import Where
from recollect.service.services import Services
from recollect.wire.requests.agents import (
    BranchAgentRequest,
    CloneAgentRequest,
    CreateAgentRequest,
    DeleteAgentRequest,
    GetAgentRequest,
    GetContextWindowRequest,
    ListAgentsRequest,
    MergeAgentsRequest,
    PinAgentRequest,
    UpdateAgentRequest,
)


def create_agent(services: Services, request: CreateAgentRequest) -> Agent:
    return agents.create(
        services,
        request.name,
        description=request.description,
        model=request.model,
        system_prompt=request.system_prompt,
        metadata=request.metadata,
        default_blocks=request.default_blocks,
    )


def list_agents(services: Services, request: ListAgentsRequest) -> list[Agent]:
    where = Where.of(request.project, None, None, None)
    return agents.everyone(services, pinned=request.pinned, project=where)


def get_agent(services: Services, request: GetAgentRequest) -> Agent:
    return agents.get(services, request.agent)


def update_agent(services: Services, request: UpdateAgentRequest) -> Agent:
    return agents.update(services, request.agent, _changes(request))


def pin_agent(services: Services, request: PinAgentRequest) -> Agent:
    place = Where.of(request.project, None, None, None)
    return agents.pin(services, request.agent, request.where, place)


def delete_agent(services: Services, request: DeleteAgentRequest) -> AgentReceipt:
    return agents.delete(services, request.agent)


def clone_agent(services: Services, request: CloneAgentRequest) -> Agent:
    return copies.clone(services, request.agent, request.name, conversations=request.conversations)


def branch_agent(services: Services, request: BranchAgentRequest) -> Agent:
    return copies.branch(services, request.agent, request.name, at=request.at)


def merge_agents(services: Services, request: MergeAgentsRequest) -> Merge:
    return merge.merge(
        services, request.into, request.other, take=request.take, dry_run=request.dry_run
    )


def get_context_window(services: Services, request: GetContextWindowRequest) -> WindowOverview:
    return window.overview(
        services,
        Place(agent=request.agent, project=request.project, conversation=request.conversation),
        window_tokens=request.window_tokens,
        tools=request.tools,
        warn_at=request.warn_at,
    )


def _changes(request: UpdateAgentRequest) -> dict[str, Any]:
    """Return the settings the caller gave."""
    return {name: getattr(request, name) for name in request.model_fields_set - {"agent"}}


HANDLERS: Handlers = {
    CreateAgentRequest: create_agent,
    ListAgentsRequest: list_agents,
    GetAgentRequest: get_agent,
    UpdateAgentRequest: update_agent,
    PinAgentRequest: pin_agent,
    DeleteAgentRequest: delete_agent,
    CloneAgentRequest: clone_agent,
    BranchAgentRequest: branch_agent,
    MergeAgentsRequest: merge_agents,
    GetContextWindowRequest: get_context_window,
}
