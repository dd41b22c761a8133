"""The tool `status`: project, agent, blocks, and the number of memories and candidates."""

from collections.abc import Mapping
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller, project_name, visible_blocks
from recollect.mcp.tool_definition import (
    BOOLEAN,
    INTEGER,
    READ_ONLY,
    TEXT,
    Tool,
    ToolResult,
    list_schema,
    object_schema,
)

MAX_INBOX_COUNT = 100  # counted up to this many


def status(rec: LocalRecollect, caller: Caller, arguments: Mapping[str, Any]) -> ToolResult:
    """Return the status of the store for *caller*."""
    store = rec.maintenance.status()
    candidates = rec.memories.list(
        statuses=["inbox"], limit=MAX_INBOX_COUNT, everywhere=False, **caller.read_scope
    )
    blocks = [
        {
            "label": block.label,
            "version": block.version,
            "chars": len(block.value),
            "read_only": block.read_only,
        }
        for block in visible_blocks(rec, caller)
    ]
    return ToolResult(
        {
            "project": project_name(rec, caller),
            "agent": caller.agent or "",
            "trusted": caller.trusted,
            "memories": dict(store.memories_by_status),
            "inbox": len(candidates),
            "embedder": store.embedder,
            "not_embedded": store.waiting,
            "blocks": blocks,
        }
    )


STATUS = Tool(
    name="status",
    description=(
        "Return the project and agent of this connection, its blocks, the number of memories in "
        "the whole store, and the number of candidates in the inbox here (100 means 100 or more)."
    ),
    parameters={},
    output={
        "project": TEXT,
        "agent": TEXT,
        "trusted": BOOLEAN,
        "memories": {"type": "object", "additionalProperties": INTEGER},
        "inbox": INTEGER,
        "embedder": TEXT,
        "not_embedded": INTEGER,
        "blocks": list_schema(
            object_schema(
                {"label": TEXT, "version": INTEGER, "chars": INTEGER, "read_only": BOOLEAN}
            )
        ),
    },
    required_output=("project", "agent", "trusted", "memories", "inbox", "embedder", "blocks"),
    hints=READ_ONLY,
    run=status,
)
