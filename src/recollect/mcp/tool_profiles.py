"""Tool profiles: our own tools, or those of another server that we can replace."""

from collections.abc import Mapping

from recollect.errors import InvalidInput
from recollect.mcp.chatgpt_tools import CHATGPT_TOOLS
from recollect.mcp.graph_tools import GRAPH_TOOLS
from recollect.mcp.tool_definition import Tool
from recollect.mcp.tools.context import CONTEXT
from recollect.mcp.tools.edit_block import EDIT_BLOCK
from recollect.mcp.tools.explain import EXPLAIN
from recollect.mcp.tools.forget import FORGET
from recollect.mcp.tools.remember import REMEMBER
from recollect.mcp.tools.review import REVIEW
from recollect.mcp.tools.search import SEARCH
from recollect.mcp.tools.status import STATUS

OWN_TOOLS = (SEARCH, CONTEXT, REMEMBER, EXPLAIN, REVIEW, EDIT_BLOCK, FORGET, STATUS)
PROFILES: Mapping[str, tuple[Tool, ...]] = {
    "recollect": OWN_TOOLS,
    "memory-graph": GRAPH_TOOLS,
    "chatgpt": CHATGPT_TOOLS,
}


def profile_tools(profile: str) -> tuple[Tool, ...]:
    """Return the tools of a profile, in the order of the list."""
    tools = PROFILES.get(profile)
    if tools is None:
        raise InvalidInput(f"there is no profile {profile[:40]!r}; use {', '.join(PROFILES)}")
    return tools
