"""
Remember something: held in the inbox for review, unless the caller is trusted.

Whatever an agent writes is kept as an agent's word; no policy makes it active by itself.
"""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.mcp.caller import Caller
from recollect.mcp.tool import ADDS, TEXT, Told, Tool, list_of, one_of, told_about


def status_for(caller: Caller) -> str:
    """Return how what *caller* writes is born."""
    return Status.ACTIVE if caller.trusted else Status.INBOX


def remember(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Keep one memory."""
    # What is true of the user is so in every project.
    about_user = given.get("type") == MemoryType.PROFILE
    kept = memory.ingest(
        given["content"],
        **({"scope": "global"} if about_user else caller.home),
        type=given.get("type"),
        tags=given.get("tags", ()),
        rationale=given.get("rationale", ""),
        alternatives=given.get("alternatives", ()),
        status=status_for(caller),
        by="agent",
    )
    return Told({"id": kept.id, "status": kept.status.value, "note": _note(kept)})


def _note(kept: Memory) -> str:
    taken = f" {len(kept.redactions)} secrets were taken out." if kept.redactions else ""
    if kept.status is Status.INBOX:
        return f"It waits in the inbox; search finds it once the user keeps it.{taken}"
    return f"It is remembered.{taken}"


REMEMBER = Tool(
    name="remember",
    description=(
        "Keep one thing worth knowing in later sessions, as one self-contained sentence. No "
        "secrets, nothing already known. The user reviews it before it counts."
    ),
    takes={
        "content": TEXT,
        "type": told_about(
            one_of(*MemoryType), "profile: about the user, in every project. Default: project"
        ),
        "tags": list_of(TEXT),
        "rationale": told_about(TEXT, "Why, for a decision"),
        "alternatives": told_about(list_of(TEXT), "What was decided against"),
    },
    needs=("content",),
    gives={"id": TEXT, "status": TEXT, "note": TEXT},
    always=("id", "status", "note"),
    hints=ADDS,
    run=remember,
)
