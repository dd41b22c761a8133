"""Handlers of the requests for agents."""

from recollect.service import agents
from recollect.service.agent_files import clone, merge
from recollect.service.context_window import get_context_window
from recollect.service.delete_agent import delete_agent
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import agents as requests

HANDLERS: Handlers = {
    requests.CreateAgentRequest: agents.create_agent,
    requests.ListAgentsRequest: agents.list_agents,
    requests.GetAgentRequest: agents.get_agent,
    requests.UpdateAgentRequest: agents.update_agent,
    requests.PinAgentRequest: agents.pin_agent,
    requests.DeleteAgentRequest: delete_agent,
    requests.CloneAgentRequest: clone.clone_agent,
    requests.BranchAgentRequest: clone.branch_agent,
    requests.MergeAgentsRequest: merge.merge_agents,
    requests.GetContextWindowRequest: get_context_window,
}
