"""
The tool `remember`: store a memory in the inbox, or as active if the caller is trusted.

The evidence names an agent as the author, and no policy promotes such a memory automatically.
"""

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.mcp.caller_scope import Caller
from recollect.mcp.tool_definition import ADDITIVE, Arguments, Tool, ToolResult
from recollect.wire.json_schema import TEXT, describe, enum_of, list_of


def initial_status(caller: Caller) -> str:
    """Return the status of new memories of *caller*."""
    return Status.ACTIVE if caller.trusted else Status.INBOX


def remember(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Store one memory."""
    stored = rec.ingest(
        arguments["content"],
        **caller.write_scope,
        type=arguments.get("type"),
        tags=arguments.get("tags", ()),
        rationale=arguments.get("rationale", ""),
        alternatives=arguments.get("alternatives", ()),
        status=initial_status(caller),
        by="agent",
        author=caller.author,
    )
    return ToolResult({"id": stored.id, "status": stored.status.value, "note": _note(stored)})


def _note(stored: Memory) -> str:
    redacted = f" {len(stored.redactions)} secrets were removed." if stored.redactions else ""
    if stored.status is Status.INBOX:
        return (
            "Stored in the inbox. Your own searches find it, marked as not reviewed; others find "
            f"it after the user keeps it.{redacted}"
        )
    return f"Stored as an active memory.{redacted}"


REMEMBER = Tool(
    name="remember",
    description=(
        "Store one fact that later sessions need, as one self-contained sentence. No secrets, "
        "nothing that is already stored. It becomes active after the user's review."
    ),
    parameters={
        "content": TEXT,
        "type": describe(enum_of(*MemoryType), "profile: about the user. Default: project"),
        "tags": list_of(TEXT),
        "rationale": describe(TEXT, "For a decision: the reason"),
        "alternatives": describe(list_of(TEXT), "For a decision: rejected options"),
    },
    required=("content",),
    output={"id": TEXT, "status": TEXT, "note": TEXT},
    hints=ADDITIVE,
    run=remember,
)
