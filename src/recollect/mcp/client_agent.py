"""Name an agent after the client that is connected, so that it has blocks of its own."""

import re

from recollect.domain import limits
from recollect.service.validate import looks_like_an_id

# "codex-mcp-client" is Codex, for which `recollect setup` writes the agent "codex".
_SUFFIX = "-mcp-client"


def agent_named_after(client: str) -> str | None:
    """Return the agent's name for the name that a client gave itself, None if it is no name."""
    name = re.sub(r"[^a-z0-9._-]+", "-", client.lower()).removesuffix(_SUFFIX)
    name = name[: limits.MAX_NAME].strip("-._")
    return None if not name or looks_like_an_id(name) else name
