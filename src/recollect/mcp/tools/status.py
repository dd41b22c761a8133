"""Say what is remembered, for whom, and what waits."""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.mcp.caller import Caller, blocks_seen, project_name
from recollect.mcp.tool import NUMBER, READS, TEXT, YES_NO, Told, Tool, list_of, object_of

MOST_INBOX = 100  # counted, not listed; this many means: or more


def status(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Return the state of the store as *caller* should know it."""
    store = memory.status()
    waits = memory.inbox(limit=MOST_INBOX, everywhere=False, **caller.place)
    blocks = [
        {
            "label": block.label,
            "version": block.version,
            "chars": len(block.value),
            "read_only": block.read_only,
        }
        for block in blocks_seen(memory, caller)
    ]
    return Told(
        {
            "project": project_name(memory, caller),
            "agent": caller.agent or "",
            "trusted": caller.trusted,
            "memories": dict(store.memories_by_status),
            "inbox": len(waits),
            "embedder": store.embedder,
            "not_embedded": store.waiting,
            "blocks": blocks,
        }
    )


STATUS = Tool(
    name="status",
    description=(
        "Which project and agent this memory is bound to, its blocks, how much the whole store "
        "holds, how many candidates wait in the inbox here (100: or more)."
    ),
    takes={},
    gives={
        "project": TEXT,
        "agent": TEXT,
        "trusted": YES_NO,
        "memories": {"type": "object", "additionalProperties": NUMBER},
        "inbox": NUMBER,
        "embedder": TEXT,
        "not_embedded": NUMBER,
        "blocks": list_of(
            object_of({"label": TEXT, "version": NUMBER, "chars": NUMBER, "read_only": YES_NO})
        ),
    },
    always=("project", "agent", "trusted", "memories", "inbox", "embedder", "blocks"),
    hints=READS,
    run=status,
)
