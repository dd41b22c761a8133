"""What a Letta server has and this one does not: each route answers 501 with the reason."""

from typing import Any

from recollect.errors import RecollectError
from recollect.server.letta_v1.letta_call import LettaCall, LettaRoute


class LettaRouteUnsupported(RecollectError):
    """A part of Letta's interface that this server does not have."""

    status = 501


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_REASONS = {
    "/folders": "folders and files are not served; open files with `recollect file`",
    "/sources": "sources and files are not served; open files with `recollect file`",
    "/agents/{agent_id}/folders": "folders are not served; open files with `recollect file`",
    "/agents/{agent_id}/files": "files are not served here; open them with `recollect file`",
    "/agents/{agent_id}/identities": "identities are not served; use tags or metadata of agents",
    "/identities": "identities are not served; use tags or metadata of agents",
    "/agents/{agent_id}/schedule": "schedules are not served; use cron or a timer",
    "/agents/{agent_id}/messages/async": (
        "background runs are not served; send the message with streaming=True"
    ),
    "/agents/{agent_id}/tools": (
        "tools are not attached here; name them in `tools` or `tool_ids` of the agent"
    ),
    "/tools": "tools are not created here; register Python functions with `rec.agents.add_tool`",
    "/runs": "runs are not served here; `rec.agents.runs` lists them",
    "/steps": "steps are not served here; `rec.agents.runs` lists the runs of a conversation",
    "/mcp-servers": "MCP servers are not served; register them with `rec.agents.add_mcp_server`",
    "/templates": "templates are not served; export an agent and import it again",
    "/groups": "groups of agents are not served; share blocks between agents",
    "/environments": "environments are not served; this server has one store",
    "/client-side-access-tokens": "access tokens are not served; set RECOLLECT_TOKEN",
    "/conversations/{conversation_id}/stream": (
        "a stream cannot be resumed; list the messages of the conversation"
    ),
}


def _refuse(reason: str) -> Any:
    def answer(call: LettaCall) -> Any:
        raise LettaRouteUnsupported(reason)

    return answer


ROUTES = tuple(
    LettaRoute(method, path + rest, _refuse(reason))
    for path, reason in _REASONS.items()
    for method in _METHODS
    for rest in ("", "/{rest:path}")
)
