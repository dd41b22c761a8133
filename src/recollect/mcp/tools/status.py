"""The tool `status`: project, agent, blocks, and the number of memories and candidates."""

from recollect.app.local_recollect import LocalRecollect
from recollect.app.place_hint import place_hint
from recollect.mcp.caller_scope import Caller, project_name, visible_blocks
from recollect.mcp.tool_definition import READ_ONLY, Arguments, Tool, ToolResult
from recollect.wire.json_schema import BOOLEAN, INTEGER, TEXT, list_of, object_of

MAX_INBOX_COUNT = 100  # counted up to this many


def status(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return the status of the store for *caller*."""
    store = rec.maintenance.status()
    candidates = rec.memories.list(
        statuses=["inbox"], limit=MAX_INBOX_COUNT, everywhere=False, **caller.candidate_scope
    )
    blocks = [
        {
            "label": block.label,
            "version": block.version,
            "chars": len(block.value),
            "read_only": block.read_only,
            "unconfirmed_author": block.unconfirmed_author,
        }
        for block in visible_blocks(rec, caller)
    ]
    values = {
        "project": project_name(rec, caller),
        "agent": caller.agent or "",
        "trusted": caller.trusted,
        "memories": dict(store.memories_by_status),
        "inbox": len(candidates),
        "embedder": store.embedder,
        "not_embedded": store.waiting,
        "blocks": blocks,
    }
    if caller.is_local and caller.project and (hint := place_hint(rec, caller.project)):
        values["note"] = hint
    return ToolResult(values)


_BLOCK = {
    "label": TEXT,
    "version": INTEGER,
    "chars": INTEGER,
    "read_only": BOOLEAN,
    "unconfirmed_author": TEXT,
}
STATUS = Tool(
    name="status",
    description=(
        "Return this connection's project, agent and blocks, the number of memories in the store, "
        "and of candidates here (at most 100)."
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
        "blocks": list_of(object_of(_BLOCK)),
        "note": TEXT,
    },
    optional_output=("not_embedded", "note"),
    hints=READ_ONLY,
    run=status,
)
