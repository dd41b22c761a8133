"""
The tool `review`: list the candidates in the inbox, and keep, edit, replace or reject one.

The user decides: if the caller is not trusted, the user is asked before anything changes.
"""

from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.block import BlockProposal
from recollect.domain.link import Relation
from recollect.domain.maintenance import InboxItem, ReviewVerdict
from recollect.domain.memory import Memory, Status
from recollect.domain.retrieval import MemoryExplanation
from recollect.domain.scope import Scope
from recollect.errors import IllegalTransition, InvalidInput
from recollect.mcp import pagination
from recollect.mcp.caller_scope import (
    Caller,
    get_visible_memory,
    is_memory_visible,
    visible_blocks,
)
from recollect.mcp.pagination import excerpt_for_person, one_line
from recollect.mcp.tool_definition import (
    DESTRUCTIVE,
    Arguments,
    ConfirmationRequest,
    Tool,
    ToolOutcome,
    ToolResult,
)
from recollect.wire.json_schema import BOOLEAN, INTEGER, TEXT, describe, enum_of, list_of, object_of

EDIT = "edit"
EDITABLE = ("content", "type", "tags", "date")
VERDICTS = (ReviewVerdict.KEEP, ReviewVerdict.REPLACE, ReviewVerdict.REJECT)
DEFAULT_LIMIT = 10
MAX_LIMIT = 50
MAX_INBOX = 1_000  # the maximum of the inbox operation
MAX_CONTENT_CHARS = 500
MAX_DIFF_CHARS = 2_000  # of a question: the user must see everything they confirm
MAX_DUPLICATES_SHOWN = 20  # the rest is counted
MAX_EDIT_CHARS = 2_000  # of a new wording: the user must see all of it
MAX_REASON_CHARS = 2_000  # checked before the user is asked
_QUESTIONS = {
    "keep": "Keep this memory?",
    "edit": "Keep this memory with the changes below?",
    "replace": "Keep this memory and replace those it contradicts?",
    "reject": "Reject this memory?",
}
_OTHER_PROJECT = "a memory of another project"


def review(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolOutcome:
    """List the inbox, or decide about one candidate."""
    action = arguments.get("action", "list")
    if action == "list":
        return ToolResult(list_inbox(rec, caller, arguments))
    if not arguments.get("id"):
        raise InvalidInput(f"{action} needs the id of a candidate; action list shows them")
    block_ids = _ids_of_local_blocks(rec, caller)
    for proposal in rec.blocks.proposals():
        is_visible = proposal.block_id in block_ids or proposal.author == caller.author
        if proposal.id == arguments["id"] and is_visible:
            return _decide_proposal(rec, caller, proposal, arguments)
    candidate = get_visible_memory(rec, caller, arguments["id"])
    if candidate.status is not Status.INBOX:
        message = f"memory {candidate.id} is {candidate.status}; only the inbox can be reviewed"
        raise IllegalTransition(message)
    decided_by = "an agent decided, trusted to" if caller.trusted else "the user said so over MCP"
    reason = "; ".join(part for part in (arguments.get("reason", ""), decided_by) if part)
    if action == EDIT:
        return _edit(rec, caller, candidate, arguments, reason)

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


def _edit(
    rec: LocalRecollect, caller: Caller, candidate: Memory, arguments: Arguments, reason: str
) -> ToolOutcome:
    """Keep a candidate in other words, or with another type, tags or date; its quote stays."""
    changes = {name: arguments[name] for name in EDITABLE if name in arguments}
    if not changes:
        raise InvalidInput(f"edit needs what to change: {', '.join(EDITABLE)}")
    if caller.trusted and "content" in changes:
        raise IllegalTransition(
            "a trusted agent cannot word a memory of the user by itself; ask the user to run "
            "`recollect inbox`, or reject the candidate and store your own words with remember"
        )

    def apply_edit() -> ToolResult:
        fields = {("observed_at" if name == "date" else name): changes[name] for name in changes}
        edited = rec.memories.edit(candidate.id, **fields, reason=reason)
        changed = [edited, rec.memories.get(candidate.id)]
        rows = [{"id": item.id, "status": item.status.value} for item in changed]
        return ToolResult({"changed": rows, "more": False})

    lines = [_QUESTIONS[EDIT], "", excerpt_for_person(candidate.content)]
    for name, value in changes.items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        lines += ["", f"{name.capitalize()}: {excerpt_for_person(text)}"]
    return ConfirmationRequest(
        question="\n".join(lines),
        on_confirm=apply_edit,
        alternative="ask the user to run `recollect inbox`",
    )


def _ids_of_local_blocks(rec: LocalRecollect, caller: Caller) -> set[str]:
    """Return the ids of the blocks of the caller's own project and agent."""
    blocks = visible_blocks(rec, caller)
    return {block.id for block in blocks if block.scope is not Scope.GLOBAL}


def _decide_proposal(
    rec: LocalRecollect, caller: Caller, proposal: BlockProposal, arguments: Arguments
) -> ToolOutcome:
    """Accept or reject a proposed edit of a block, if the user confirms."""
    action = arguments["action"]
    if action in (ReviewVerdict.REPLACE, EDIT):
        raise InvalidInput(f"keep or reject a proposed edit of a block; {action} is for memories")
    if caller.trusted and proposal.author == caller.author:
        raise IllegalTransition(
            "an agent cannot decide about its own proposal; ask the user to run `recollect inbox`"
        )
    if len(proposal.diff) > MAX_DIFF_CHARS or proposal.is_outdated:
        why = "the block changed since" if proposal.is_outdated else "it is too long for a question"
        raise IllegalTransition(
            f"proposal {proposal.id} cannot be decided here: {why}; ask the user to run "
            "`recollect inbox`"
        )

    def apply_decision() -> ToolResult:
        reason = arguments.get("reason", "")
        if action == ReviewVerdict.REJECT:
            decided = rec.blocks.reject(proposal.id, reason)
        else:
            by = "agent" if caller.trusted else "user"
            decided = rec.blocks.accept(proposal.id, reason=reason, by=by)
        rows = [{"id": decided.id, "status": decided.state.value}]
        return ToolResult({"changed": rows, "more": False})

    verb = "Accept" if action == ReviewVerdict.KEEP else "Reject"
    return ConfirmationRequest(
        question=(
            f"{verb} this change of the block {proposal.label!r} ({proposal.place}), proposed by "
            f"agent {proposal.author}?\n\n{proposal.diff}"
        ),
        on_confirm=apply_decision,
        alternative="ask the user to run `recollect inbox`",
    )


def _question(rec: LocalRecollect, caller: Caller, candidate: Memory, verdict: str) -> str:
    """Return the question for the user, with the memories that would be replaced."""
    lines = [_QUESTIONS[verdict], "", excerpt_for_person(candidate.content)]
    duplicates = rec.engine.duplicates_of(candidate.id)
    wordings = list(dict.fromkeys(item.content for item in duplicates))[:MAX_DUPLICATES_SHOWN]
    for wording in wordings:
        lines += ["", f"Same decision for: {excerpt_for_person(wording, 500)}"]
    if (total := len(duplicates)) > len(wordings):
        lines += ["", f"In total, the decision also applies to {total} memories that say the same."]
    if verdict == "replace":
        explained = rec.explain(candidate.id)
        links = explained.links if isinstance(explained, MemoryExplanation) else ()
        rivals = [link for link in links if link.relation is Relation.CONTRADICTS]
        rival_ids = {end for link in rivals for end in (link.from_id, link.to_id)} - {candidate.id}
        for rival in (rec.memories.get(rival_id) for rival_id in sorted(rival_ids)):
            is_visible = is_memory_visible(rec, caller, rival)
            text = excerpt_for_person(rival.content, 500) if is_visible else _OTHER_PROJECT
            lines += ["", f"Replaces: {text}"]
    return "\n".join(lines)


def list_inbox(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> dict[str, Any]:
    """Return a page of the candidates that *caller* may see."""
    start = pagination.cursor_position(arguments.get("cursor", ""), "inbox")
    stop = start + arguments.get("limit", DEFAULT_LIMIT)
    limit = min(stop + 1, MAX_INBOX)
    candidates = rec.inbox.list(limit=limit, everywhere=False, **caller.candidate_scope)
    rows = [_row(candidate) for candidate in candidates[start:stop]]
    page = pagination.take_fitting(rows, rec.models.count_tokens)
    end = start + len(page)
    values: dict[str, Any] = {"waiting": page, "more": end < len(candidates)}
    # What was proposed for a global block may have been said in another project.
    block_ids = _ids_of_local_blocks(rec, caller)
    proposals = [item for item in rec.blocks.proposals() if item.block_id in block_ids]
    if proposals and not start:
        proposal_rows = [_proposal_row(proposal) for proposal in proposals]
        values["proposals"] = pagination.take_fitting(proposal_rows, rec.models.count_tokens)
    if values["more"]:
        values["cursor"] = pagination.make_cursor(end, "inbox")
    return values


def _row(waiting: InboxItem) -> dict[str, Any]:
    memory = waiting.memory
    row: dict[str, Any] = {
        "id": memory.id,
        "content": pagination.truncate(memory.content, MAX_CONTENT_CHARS),
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


def _proposal_row(proposal: BlockProposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "block": proposal.label,
        "author": one_line(proposal.author, 100),
        "diff": pagination.truncate(proposal.diff, MAX_DIFF_CHARS),
    }


_PROPOSAL = dict.fromkeys(("id", "block", "author", "diff"), TEXT)
_ROW = dict.fromkeys(("id", "content", "type", "why", "source", "group"), TEXT) | {
    "also": describe(INTEGER, "Number of others that say the same; decided with it"),
    "known": describe(TEXT, "Id of an active memory that says the same"),
    "conflicts": list_of(TEXT),
}
REVIEW = Tool(
    name="review",
    description=(
        "List or decide candidates: memories in the inbox that the user has not confirmed, and "
        "proposed edits of blocks. list shows them and their conflicts. keep, replace (keep and "
        "supersede what it conflicts with), edit (keep with changes) and reject decide one; the "
        "user is asked to confirm."
    ),
    parameters={
        "action": {**enum_of("list", *VERDICTS, EDIT), "default": "list"},
        "id": describe(TEXT, "Id of the candidate"),
        "content": {**TEXT, "maxLength": MAX_EDIT_CHARS},
        "type": TEXT,
        "tags": list_of(TEXT),
        "date": TEXT,
        "reason": {**TEXT, "maxLength": MAX_REASON_CHARS},
        "limit": {**INTEGER, "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        "cursor": TEXT,
    },
    output={
        "waiting": list_of(object_of(_ROW)),
        "proposals": list_of(object_of(_PROPOSAL)),
        "changed": list_of(object_of({"id": TEXT, "status": TEXT})),
        "more": BOOLEAN,
        "cursor": TEXT,
    },
    optional_output=("waiting", "proposals", "changed", "cursor"),
    hints=DESTRUCTIVE,
    run=review,
)
