"""Find memories, or what was said in past conversations."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.app import Recollect
from recollect.domain.conversation import MessageHit
from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import Hit
from recollect.mcp.caller import DEEPEST, Caller, agent_of, owners_seen
from recollect.mcp.pages import cursor_to, cut, fitting, line, position_of
from recollect.mcp.tool import (
    NUMBER,
    READS,
    TEXT,
    YES_NO,
    Told,
    Tool,
    list_of,
    object_of,
    one_of,
    told_about,
)

LIMIT = 8
MOST = 50
CONTENT = 500  # characters of a hit
WHY = 160
NOTE = 500


def search(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Return one page of what answers a query."""
    query, kind = given["query"], given.get("kind", "memories")
    types = sorted(set(given.get("types", ()))) or None
    asked = (query, kind, types)
    start = position_of(given.get("cursor", ""), *asked)
    stop = start + given.get("limit", LIMIT)
    found: Sequence[Hit | MessageHit]
    if kind == "messages":
        found, note = _messages(memory, caller, query)
    else:
        found, note = _memories(memory, caller, query, types, min(stop + 1, DEEPEST))
    shown = fitting([_row(hit) for hit in found[start:stop]], memory.count_tokens)
    end = start + len(shown)
    more = end < len(found)
    told: dict[str, Any] = {"hits": shown, "more": more}
    if more:
        told["cursor"] = cursor_to(end, *asked)
    elif end >= DEEPEST:
        note = f"No more than the best {DEEPEST} can be listed: ask more precisely."
    if note:
        told["note"] = note
    if found and found[0].retrieval_id:
        told["retrieval_id"] = found[0].retrieval_id
    return Told(told)


def _memories(
    memory: Recollect, caller: Caller, query: str, types: list[str] | None, limit: int
) -> tuple[list[Hit], str]:
    """Return the memories that answer, or what came nearest and why it is not shown."""
    hits = memory.search(query, **caller.place, types=types, limit=limit)
    if hits:
        return hits, ""
    nearest = memory.why_nothing(query, **caller.place, types=types)
    if nearest.memory_id and memory.get(nearest.memory_id).owner not in owners_seen(memory, caller):
        return [], "Nothing is near enough."  # the nearest is another project's
    return [], line(nearest.text, NOTE)


def _row(hit: Hit | MessageHit) -> dict[str, Any]:
    return _memory(hit) if isinstance(hit, Hit) else _message(hit)


def _memory(hit: Hit) -> dict[str, Any]:
    memory = hit.memory
    row: dict[str, Any] = {
        "id": memory.id,
        "content": cut(memory.content, CONTENT),
        "type": memory.type.value,
        "status": memory.status.value,
        "date": f"{memory.observed_at:%Y-%m-%d}",
        "why": line(hit.explanation, WHY),
    }
    if hit.conflicts:
        row["conflicts"] = list(hit.conflicts)
    return row


def _messages(memory: Recollect, caller: Caller, query: str) -> tuple[list[MessageHit], str]:
    """Return what was said to the caller's agent, in this project or in none."""
    agent = agent_of(memory, caller)
    if agent is None:
        return [], "Messages belong to an agent, and this server was started for none (--agent)."
    project_id = memory.viewer(project=caller.project).project_id
    homes: dict[str, str | None] = {}
    found = []
    for hit in memory.search_messages(query, agent=agent, limit=DEEPEST):
        place = hit.message.conversation_id
        if place not in homes:
            homes[place] = memory.conversation(place).project_id
        if homes[place] in (None, project_id):
            found.append(hit)
    return found, "" if found else "Nothing that was said answers this."


def _message(hit: MessageHit) -> dict[str, Any]:
    message = hit.message
    return {
        "id": message.id,
        "content": cut(message.content, CONTENT),
        "type": "message",
        "status": message.role.value,
        "date": f"{message.created_at:%Y-%m-%d}",
        "why": line(hit.explanation, WHY),
    }


SEARCH = Tool(
    name="search",
    description=(
        "Find what is remembered: facts, decisions, preferences, past work. Call it before asking "
        "the user something they may have said before. `conflicts` are ids of memories that say "
        "otherwise; `note` tells why nothing came."
    ),
    takes={
        "query": told_about(TEXT, "A question or keywords"),
        "kind": told_about(one_of("memories", "messages"), "messages: past conversations"),
        "types": list_of(one_of(*MemoryType)),
        "limit": {**NUMBER, "minimum": 1, "maximum": MOST, "default": LIMIT},
        "cursor": told_about(TEXT, "From the last page"),
    },
    needs=("query",),
    gives={
        "hits": list_of(
            object_of(
                {
                    "id": TEXT,
                    "content": TEXT,
                    "type": TEXT,
                    "status": TEXT,
                    "date": TEXT,
                    "why": TEXT,
                    "conflicts": list_of(TEXT),
                }
            )
        ),
        "more": YES_NO,
        "cursor": TEXT,
        "note": TEXT,
        "retrieval_id": TEXT,
    },
    always=("hits", "more"),
    hints=READS,
    run=search,
)
