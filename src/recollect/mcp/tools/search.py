"""The tool `search`: find memories, or messages of past conversations."""

from collections.abc import Sequence
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.conversation import MessageHit
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.project import unknown_name_hint
from recollect.domain.provenance import StatementFlag
from recollect.domain.retrieval import RELATED, Hit, caution_about
from recollect.mcp.caller_scope import MAX_SEARCH_RESULTS, Caller, caller_agent, is_memory_visible
from recollect.mcp.pagination import cursor_position, make_cursor, one_line, take_fitting, truncate
from recollect.mcp.tool_definition import READ_ONLY, Arguments, Tool, ToolResult
from recollect.wire.json_schema import BOOLEAN, INTEGER, TEXT, describe, enum_of, list_of, object_of

DEFAULT_LIMIT = 8
MAX_LIMIT = 50
MAX_CONTENT_CHARS = 500  # characters of a hit
MAX_WHY_CHARS = 160
MAX_RATIONALE_CHARS = 300
MAX_CANDIDATES = 200  # among which a caller's own ones are looked for, the newest first
OWN_CANDIDATE = "you stored it; the user has not reviewed it"
MAX_NOTE_CHARS = 500


def search(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return one page of the hits of a query."""
    query, kind = arguments["query"], arguments.get("kind", "memories")
    types = sorted(set(arguments.get("types", ()))) or None
    request = (query, kind, types)
    start = cursor_position(arguments.get("cursor", ""), *request)
    stop = start + arguments.get("limit", DEFAULT_LIMIT)
    hits: Sequence[Hit | MessageHit]
    related: Sequence[Hit] = ()
    if kind == "messages":
        hits, note = _search_messages(rec, caller, query)
    else:
        limit, with_related = min(stop + 1, MAX_SEARCH_RESULTS), arguments.get("related", False)
        every_hit, note = _search_memories(rec, caller, query, types, limit, related=with_related)
        hits = [hit for hit in every_hit if hit.reached != RELATED]
        related = [] if start else [hit for hit in every_hit if hit.reached == RELATED]
    page = hits[start:stop]
    rows = take_fitting([_row(hit) for hit in (*page, *related)], rec.models.count_tokens)
    end = start + min(len(rows), len(page))
    more = end < len(hits)
    values: dict[str, Any] = {"hits": rows, "more": more}
    if more:
        values["cursor"] = make_cursor(end, *request)
    elif end >= MAX_SEARCH_RESULTS:
        note = f"Only the best {MAX_SEARCH_RESULTS} hits can be listed; use a more precise query."
    if note:
        values["note"] = note
    if hits and hits[0].retrieval_id:
        values["retrieval_id"] = hits[0].retrieval_id
    return ToolResult(values)


def _search_memories(
    rec: LocalRecollect,
    caller: Caller,
    query: str,
    types: list[str] | None,
    limit: int,
    *,
    related: bool,
) -> tuple[list[Hit], str]:
    """Return the hits with a caution if they may not answer; without hits, a note says why."""
    hits = rec.search(query, **caller.read_scope, types=types, limit=limit, related=related)
    hits = _with_own_candidates(rec, caller, hits, query, types, limit)
    if hits:
        return hits, caution_about(hits)
    if caller.project and (hint := unknown_name_hint(caller.project, rec.projects.list())):
        return [], hint
    closest = rec.why_nothing(query, **caller.read_scope, types=types)
    closest_memory = rec.memories.get(closest.memory_id) if closest.memory_id else None
    if closest_memory is not None and not is_memory_visible(rec, caller, closest_memory):
        return [], "No memory is relevant enough."  # the closest is of another project
    return [], one_line(closest.text, MAX_NOTE_CHARS)


def _with_own_candidates(
    rec: LocalRecollect,
    caller: Caller,
    hits: list[Hit],
    query: str,
    types: list[str] | None,
    limit: int,
) -> list[Hit]:
    """Return *hits* and what this caller stored itself and nobody reviewed, best first."""
    scope = caller.candidate_scope
    inbox = rec.memories.list(
        statuses=["inbox"], types=types, limit=MAX_CANDIDATES, everywhere=False, **scope
    )
    own_ids = {memory.id for memory in inbox if _is_by(memory, caller)}
    own_ids -= {hit.memory.id for hit in hits}
    if not own_ids:
        return hits
    candidates = rec.search(query, **scope, types=types, statuses=["inbox"], limit=limit)
    own = [hit for hit in candidates if hit.memory.id in own_ids]
    # Stable: the order of the search stays, and with it that of its scores.
    return sorted([*hits, *own], key=lambda hit: -hit.score)[:limit] if own else hits


def _is_by(memory: Memory, caller: Caller) -> bool:
    origin = memory.provenance
    return StatementFlag.BY_AGENT in origin.flags and origin.author == caller.author


def _note(memory: Memory) -> str:
    if memory.status is Status.INBOX and StatementFlag.BY_AGENT in memory.provenance.flags:
        return OWN_CANDIDATE
    return memory.provenance.author_note


def _row(hit: Hit | MessageHit) -> dict[str, Any]:
    if isinstance(hit, MessageHit):
        return _message_row(hit)
    memory = hit.memory
    row: dict[str, Any] = {
        "id": memory.id,
        "content": truncate(memory.content, MAX_CONTENT_CHARS),
        "type": memory.type.value,
        "status": memory.status.value,
        "date": f"{memory.observed_at:%Y-%m-%d}",
        "why": one_line(hit.explanation, MAX_WHY_CHARS),
    }
    if memory.rationale:
        row["rationale"] = one_line(memory.rationale, MAX_RATIONALE_CHARS)
    if note := _note(memory):
        row["note"] = note
    if hit.conflicts:
        row["conflicts"] = list(hit.conflicts)
    return row


def _search_messages(
    rec: LocalRecollect, caller: Caller, query: str
) -> tuple[list[MessageHit], str]:
    """Return messages to the caller's agent, of this project or without a project."""
    agent = caller_agent(rec, caller)
    if agent is None:
        return [], "Messages belong to an agent, and this server was started without --agent."
    project_id = rec.engine.viewer(project=caller.project).project_id
    homes: dict[str, str | None] = {}
    hits = []
    for hit in rec.conversations.search(query, agent=agent, limit=MAX_SEARCH_RESULTS):
        place = hit.message.conversation_id
        if place not in homes:
            homes[place] = rec.conversations.get(place).project_id
        if homes[place] in (None, project_id):
            hits.append(hit)
    return hits, "" if hits else "No message matches the query."


def _message_row(hit: MessageHit) -> dict[str, Any]:
    message = hit.message
    return {
        "id": message.id,
        "content": truncate(message.content, MAX_CONTENT_CHARS),
        "type": "message",
        "status": message.role.value,
        "date": f"{message.created_at:%Y-%m-%d}",
        "why": one_line(hit.explanation, MAX_WHY_CHARS),
    }


_ROW = dict.fromkeys(("id", "content", "type", "status", "date", "why"), TEXT)
_OPTIONAL = {"rationale": TEXT, "note": TEXT, "conflicts": list_of(TEXT)}
SEARCH = Tool(
    name="search",
    description=(
        "Search memories: facts, decisions, preferences, past work. Call it before you ask the "
        "user something they may have said before. `conflicts`: ids of contradicting memories; "
        "`note`: why there are no hits."
    ),
    parameters={
        "query": describe(TEXT, "A question or keywords"),
        "kind": describe(
            enum_of("memories", "messages"), "messages: search past conversations instead"
        ),
        "types": list_of(enum_of(*MemoryType)),
        "limit": {**INTEGER, "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
        "related": describe(BOOLEAN, "Also linked memories"),
        "cursor": describe(TEXT, "From the previous page"),
    },
    required=("query",),
    output={
        "hits": list_of(object_of(_ROW | _OPTIONAL)),
        "more": BOOLEAN,
        "cursor": TEXT,
        "note": TEXT,
        "retrieval_id": TEXT,
    },
    optional_output=("cursor", "note", "retrieval_id"),
    hints=READ_ONLY,
    run=search,
)
