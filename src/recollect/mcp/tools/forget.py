"""Forget a memory for good, once the person in front of the client has agreed."""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.mcp.caller import Caller, memory_seen
from recollect.mcp.pages import shown_to_person
from recollect.mcp.tool import NUMBER, REMOVES, TEXT, Ask, Told, Tool, list_of


def forget(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Ask:
    """Ask whether a memory may go."""
    known = memory_seen(memory, caller, given["id"])

    def then() -> Told:
        receipt = memory.forget(known.id)
        return Told(
            {
                "id": receipt.memory_id,
                "forgotten_at": receipt.forgotten_at.isoformat(),
                "removed": dict(receipt.removed),
                "kept": list(receipt.kept),
            }
        )

    return Ask(
        question=f"Forget this memory for good? This is final.\n\n{shown_to_person(known.content)}",
        then=then,
        instead=f"ask the user to run `recollect forget {known.id}`",
    )


FORGET = Tool(
    name="forget",
    description=(
        "Remove a memory from every table and index, for good. Only when the user wants it gone: "
        "they are asked to confirm. Returns a receipt."
    ),
    takes={"id": TEXT},
    needs=("id",),
    gives={
        "id": TEXT,
        "forgotten_at": TEXT,
        "removed": {"type": "object", "additionalProperties": NUMBER},
        "kept": list_of(TEXT),
    },
    always=("id", "forgotten_at", "removed", "kept"),
    hints=REMOVES,
    run=forget,
)
