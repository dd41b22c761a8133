"""
The tool `review`: list the candidates in the inbox, and keep, replace or reject one.

The user decides: if the caller is not trusted, the user is asked before anything changes.
"""

from collections.abc import Mapping
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.link import Relation
from recollect.domain.maintenance import ReviewVerdict, InboxItem
from recollect.domain.memory import Memory, Status
from recollect.domain.retrieval import MemoryExplanation
from recollect.errors import IllegalTransition, InvalidInput
from recollect.mcp.caller_scope import Caller, get_visible_memory, owners_visible_to
from recollect.mcp.pagination import (
    cursor_position,
    excerpt_for_person,
    make_cursor,
    one_line,
    take_fitting,
    truncate,
)
from recollect.mcp.tool_definition import (
    BOOLEAN,
    DESTRUCTIVE,
    INTEGER,
    TEXT,
    ConfirmationRequest,
    Tool,
    ToolOutcome,
    ToolResult,
    enum_schema,
    list_schema,
    object_schema,
    with_description,
)

DEFAULT_LIMIT = 10
MAX_LIMIT = 50
MAX_INBOX = 1_000  # the maximum of the inbox operation
MAX_CONTENT_CHARS = 500
MAX_DUPLICATES_SHOWN = 20  # the rest is counted
MAX_REASON_CHARS = 2_000  # checked before the user is asked
_QUESTIONS = {
    "keep": "Keep this memory?",
    "replace": "Keep this memory and replace those it contradicts?",
    "reject": "Reject this memory?",
}


def review(rec: LocalRecollect, caller: Caller, arguments: Mapping[str, Any]) -> ToolOutcome:
    """List the inbox, or decide about one candidate."""
    action = arguments.get("action", "list")
    if action == "list":
        return ToolResult(list_inbox(rec, caller, arguments))
    if not arguments.get("id"):
        raise InvalidInput(f"{action} needs the id of a candidate; action list shows them")
    candidate = get_visible_memory(rec, caller, arguments["id"])
    if candidate.status is not Status.INBOX:
        raise IllegalTransition(
            f"memory {candidate.id} is {candidate.status}; only the inbox can be reviewed"
        )
    decided_by = "an agent decided, trusted to" if caller.trusted else "the user said so over MCP"
    reason = "; ".join(part for part in (arguments.get("reason", ""), decided_by) if part)

    def apply_decision() -> ToolResult:
        by = "agent" if caller.trusted else "user"
        changed = rec.inbox.decide(candidate.id, action, reason=reason, by=by)
        rows = [{"id": item.id, "status": item.status.value} for item in changed]
        return ToolResult({"changed": rows, "more": False})

    return ConfirmationRequest(
        question=_question(rec, caller, candidate, action),
        on_confirm=apply_decision,
        alternative="ask the user to run `recollect inbox`",
    )


def _question(rec: LocalRecollect, caller: Caller, candidate: Memory, verdict: str) -> str:
    """Return the question for the user, with the memories that would be replaced."""
    lines = [_QUESTIONS[verdict], "", excerpt_for_person(candidate.content)]
    duplicates = rec.engine.duplicates_of(candidate.id)
    wordings = list(dict.fromkeys(duplicate.content for duplicate in duplicates))
    for wording in wordings[:MAX_DUPLICATES_SHOWN]:
        lines += ["", f"Same decision for: {excerpt_for_person(wording, 500)}"]
    if len(duplicates) > len(wordings[:MAX_DUPLICATES_SHOWN]):
        lines += [
            "",
            f"In total, the decision also applies to {len(duplicates)} memories that say the same.",
        ]
    if verdict == "replace":
        explained = rec.explain(candidate.id)
        links = explained.links if isinstance(explained, MemoryExplanation) else ()
        rivals = [link for link in links if link.relation is Relation.CONTRADICTS]
        rival_ids = {end for link in rivals for end in (link.from_id, link.to_id)} - {candidate.id}
        owners = owners_visible_to(rec, caller)
        for rival in (rec.memories.get(rival_id) for rival_id in sorted(rival_ids)):
            is_visible = rival.owner in owners
            text = (
                excerpt_for_person(rival.content, 500)
                if is_visible
                else "a memory of another project"
            )
            lines += ["", f"Replaces: {text}"]
    return "\n".join(lines)


def list_inbox(rec: LocalRecollect, caller: Caller, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the candidates that *caller* may see."""
    start = cursor_position(arguments.get("cursor", ""), "inbox")
    stop = start + arguments.get("limit", DEFAULT_LIMIT)
    limit = min(stop + 1, MAX_INBOX)
    candidates = rec.inbox.list(limit=limit, everywhere=False, **caller.read_scope)
    rows = take_fitting(
        [_row(candidate) for candidate in candidates[start:stop]], rec.models.count_tokens
    )
    end = start + len(rows)
    text: dict[str, Any] = {"waiting": rows, "more": end < len(candidates)}
    if text["more"]:
        text["cursor"] = make_cursor(end, "inbox")
    return text


def _row(waiting: InboxItem) -> dict[str, Any]:
    memory = waiting.memory
    row: dict[str, Any] = {
        "id": memory.id,
        "content": truncate(memory.content, MAX_CONTENT_CHARS),
        "type": memory.type.value,
        "why": one_line(waiting.why, 200),
        "source": one_line(waiting.source, 100),
        "group": one_line(waiting.group, 100),
    }
    if waiting.duplicates:
        row["also"] = len(waiting.duplicates)
    if waiting.already_stored:
        row["known"] = waiting.already_stored.id
    if waiting.conflicts:
        row["conflicts"] = [rival.id for rival in waiting.conflicts]
    return row


REVIEW = Tool(
    name="review",
    description=(
        "List or decide candidates: memories in the inbox that the user has not confirmed. list "
        "shows them and their conflicts. keep, replace (keep and supersede the memories it "
        "conflicts with) and reject decide one; the user is asked to confirm."
    ),
    parameters={
        "action": {**enum_schema("list", *ReviewVerdict), "default": "list"},
        "id": with_description(TEXT, "Id of the candidate"),
        "reason": {**TEXT, "maxLength": MAX_REASON_CHARS},
        "limit": {**INTEGER, "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        "cursor": TEXT,
    },
    output={
        "waiting": list_schema(
            object_schema(
                {
                    "id": TEXT,
                    "content": TEXT,
                    "type": TEXT,
                    "why": TEXT,
                    "source": TEXT,
                    "group": TEXT,
                    "also": with_description(
                        INTEGER, "Number of others that say the same; decided with it"
                    ),
                    "known": with_description(TEXT, "Id of an active memory that says the same"),
                    "conflicts": list_schema(TEXT),
                }
            )
        ),
        "changed": list_schema(object_schema({"id": TEXT, "status": TEXT})),
        "more": BOOLEAN,
        "cursor": TEXT,
    },
    required_output=("more",),
    hints=DESTRUCTIVE,
    run=review,
)
