"""
The inbox: list what waits, and decide over it.

Deciding is the user's: an untrusted caller can only propose, and the person in front of the client
is asked before anything changes.
"""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.domain.link import Relation
from recollect.domain.memory import Memory, Status
from recollect.domain.retrieval import MemoryExplanation
from recollect.domain.upkeep import ReviewVerdict, Waiting
from recollect.errors import IllegalTransition, InvalidInput
from recollect.mcp.caller import Caller, memory_seen, owners_seen
from recollect.mcp.pages import cursor_to, cut, fitting, line, position_of, shown_to_person
from recollect.mcp.tool import (
    CHANGES,
    NUMBER,
    TEXT,
    YES_NO,
    Ask,
    Outcome,
    Told,
    Tool,
    list_of,
    object_of,
    one_of,
    told_about,
)

LIMIT = 10
MOST = 50
DEEPEST = 1_000  # as many as the verb lists
CONTENT = 500
MOST_TWINS = 20  # wordings a person is shown; the rest is counted
MOST_REASON = 2_000  # refused before the person is asked, not after
_ASKED = {
    "keep": "Keep this memory?",
    "replace": "Keep this memory in place of what it speaks against?",
    "reject": "Reject this memory?",
}


def review(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Outcome:
    """List what waits, or decide over one candidate."""
    action = given.get("action", "list")
    if action == "list":
        return Told(waiting(memory, caller, given))
    if not given.get("id"):
        raise InvalidInput(f"{action} needs the id of a candidate; action list shows them")
    candidate = memory_seen(memory, caller, given["id"])
    if candidate.status is not Status.INBOX:
        raise IllegalTransition(
            f"memory {candidate.id} is {candidate.status} and does not wait for a decision"
        )
    said = "an agent decided, trusted to" if caller.trusted else "the user said so over MCP"
    reason = "; ".join(part for part in (given.get("reason", ""), said) if part)

    def then() -> Told:
        by = "agent" if caller.trusted else "user"
        changed = memory.decide(candidate.id, action, reason=reason, by=by)
        rows = [{"id": one.id, "status": one.status.value} for one in changed]
        return Told({"changed": rows, "more": False})

    return Ask(
        question=_question(memory, caller, candidate, action),
        then=then,
        instead="ask the user to run `recollect inbox`",
    )


def _question(memory: Recollect, caller: Caller, candidate: Memory, verdict: str) -> str:
    """Return what the person is asked: with what would be replaced, as far as it is seen here."""
    lines = [_ASKED[verdict], "", shown_to_person(candidate.content)]
    twins = memory.twins(candidate.id)
    wordings = list(dict.fromkeys(twin.content for twin in twins))
    for wording in wordings[:MOST_TWINS]:
        lines += ["", f"Decided with it: {shown_to_person(wording, 500)}"]
    if len(twins) > len(wordings[:MOST_TWINS]):
        lines += ["", f"In all, {len(twins)} others that say the same are decided with it."]
    if verdict == "replace":
        explained = memory.explain(candidate.id)
        links = explained.links if isinstance(explained, MemoryExplanation) else ()
        rivals = [link for link in links if link.relation is Relation.CONTRADICTS]
        others = {end for link in rivals for end in (link.from_id, link.to_id)} - {candidate.id}
        owners = owners_seen(memory, caller)
        for rival in (memory.get(one) for one in sorted(others)):
            seen = rival.owner in owners
            told = shown_to_person(rival.content, 500) if seen else "one of another project"
            lines += ["", f"In place of: {told}"]
    return "\n".join(lines)


def waiting(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the candidates that can be seen from where *caller* is."""
    start = position_of(given.get("cursor", ""), "inbox")
    stop = start + given.get("limit", LIMIT)
    limit = min(stop + 1, DEEPEST)
    found = memory.waiting(limit=limit, everywhere=False, **caller.place)
    shown = fitting([_row(one) for one in found[start:stop]], memory.count_tokens)
    end = start + len(shown)
    told: dict[str, Any] = {"waiting": shown, "more": end < len(found)}
    if told["more"]:
        told["cursor"] = cursor_to(end, "inbox")
    return told


def _row(one: Waiting) -> dict[str, Any]:
    memory = one.memory
    row: dict[str, Any] = {
        "id": memory.id,
        "content": cut(memory.content, CONTENT),
        "type": memory.type.value,
        "why": line(one.why, 200),
        "source": line(one.source, 100),
        "group": line(one.group, 100),
    }
    if one.also:
        row["also"] = len(one.also)
    if one.known:
        row["known"] = one.known.id
    if one.rivals:
        row["conflicts"] = [rival.id for rival in one.rivals]
    return row


REVIEW = Tool(
    name="review",
    description=(
        "The inbox of memories not yet confirmed. list shows what waits and what it conflicts "
        "with; keep, replace (keep, and supersede what it conflicts with) and reject decide over "
        "one: the user is asked to confirm."
    ),
    takes={
        "action": {**one_of("list", *ReviewVerdict), "default": "list"},
        "id": told_about(TEXT, "The candidate to decide over"),
        "reason": {**TEXT, "maxLength": MOST_REASON},
        "limit": {**NUMBER, "minimum": 1, "maximum": MOST, "default": LIMIT},
        "cursor": TEXT,
    },
    gives={
        "waiting": list_of(
            object_of(
                {
                    "id": TEXT,
                    "content": TEXT,
                    "type": TEXT,
                    "why": TEXT,
                    "source": TEXT,
                    "group": TEXT,
                    "also": told_about(NUMBER, "Others that say the same, decided with it"),
                    "known": told_about(TEXT, "An active memory that says so already"),
                    "conflicts": list_of(TEXT),
                }
            )
        ),
        "changed": list_of(object_of({"id": TEXT, "status": TEXT})),
        "more": YES_NO,
        "cursor": TEXT,
    },
    always=("more",),
    hints=CHANGES,
    run=review,
)
