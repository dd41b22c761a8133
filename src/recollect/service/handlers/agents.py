"""Which function carries out which request for agents."""

from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import AgentMerge
from recollect.service import agents
from recollect.service.agent_files import clone, merge
from recollect.service.context_window import get_context_window
from recollect.service.handlers.table import Handlers
from recollect.service.services import Services
from recollect.wire.requests import agents as requests


def clone_agent(services: Services, request: requests.CloneAgentRequest) -> Agent:
    return clone.clone(services, request.agent, request.name, conversations=request.conversations)


def branch_agent(services: Services, request: requests.BranchAgentRequest) -> Agent:
    return clone.branch(services, request.agent, request.name, at=request.at)


def merge_agents(services: Services, request: requests.MergeAgentsRequest) -> AgentMerge:
    return merge.merge(
        services, request.into, request.other, take=request.take, dry_run=request.dry_run
    )


HANDLERS: Handlers = {
    requests.CreateAgentRequest: agents.create_agent,
    requests.ListAgentsRequest: agents.list_agents,
    requests.GetAgentRequest: agents.get_agent,
    requests.UpdateAgentRequest: agents.update_agent,
    requests.PinAgentRequest: agents.pin_agent,
    requests.DeleteAgentRequest: agents.delete_agent,
    requests.CloneAgentRequest: clone_agent,
    requests.BranchAgentRequest: branch_agent,
    requests.MergeAgentsRequest: merge_agents,
    requests.GetContextWindowRequest: get_context_window,
}
