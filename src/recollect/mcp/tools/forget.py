"""The tool `forget`: delete a memory permanently after the user has confirmed."""

from recollect.app.local_recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller, get_visible_memory
from recollect.mcp.pagination import excerpt_for_person
from recollect.mcp.tool_definition import (
    DESTRUCTIVE_IDEMPOTENT,
    Arguments,
    ConfirmationRequest,
    Tool,
    ToolResult,
)
from recollect.wire.json_schema import INTEGER, TEXT, list_of


def forget(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ConfirmationRequest:
    """Ask the user whether to delete a memory."""
    target = get_visible_memory(rec, caller, arguments["id"])

    def forget_memory() -> ToolResult:
        receipt = rec.forget(target.id)
        values = {
            "id": receipt.memory_id,
            "forgotten_at": receipt.forgotten_at.isoformat(),
            "removed": dict(receipt.removed),
            "rewritten": list(receipt.rewritten),
            "kept": list(receipt.kept),
        }
        return ToolResult(values)

    return ConfirmationRequest(
        question=(
            "Forget this memory permanently? This cannot be undone."
            f"\n\n{excerpt_for_person(target.content)}"
        ),
        on_confirm=forget_memory,
        alternative=f"ask the user to run `recollect forget {target.id}`",
        is_yes_by_default=False,
    )


FORGET = Tool(
    name="forget",
    description=(
        "Delete a memory permanently, from every table and index. Call it only if the user wants "
        "that; they are asked to confirm. Returns a receipt."
    ),
    parameters={"id": TEXT},
    required=("id",),
    output={
        "id": TEXT,
        "forgotten_at": TEXT,
        "removed": {"type": "object", "additionalProperties": INTEGER},
        "rewritten": list_of(TEXT),
        "kept": list_of(TEXT),
    },
    hints=DESTRUCTIVE_IDEMPOTENT,
    run=forget,
)
