"""Say why a memory is there, why a search gave what it gave, or why something was not found."""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.domain.retrieval import MemoryExplanation, Retrieval
from recollect.errors import NotFound
from recollect.mcp.caller import Caller, memory_shown, owners_seen, retrieval_seen
from recollect.mcp.pages import MOST_TOKENS, cut, line
from recollect.mcp.tool import READS, TEXT, Told, Tool, told_about

CHARS = 4 * MOST_TOKENS  # more than this many are too many tokens in any script
HITS = 20


def explain(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Return an explanation in sentences."""
    some_id, query = given["id"], given.get("query", "")
    if query:
        known = memory_shown(memory, caller, some_id, query)
        found = memory.why_not(known.id, query, **caller.place)
        told = found.text
        if known.owner not in owners_seen(memory, caller):
            # Without the query that found it nothing is told of it, so all of it is told here.
            told = f"{told}\n{_of_memory(_explained(memory, known.id))}"
        return _told("why not", some_id, told, memory)
    try:
        explained = memory.explain(some_id)
    except NotFound:
        explained = None
    if isinstance(explained, Retrieval) and retrieval_seen(memory, caller, explained):
        return _told("retrieval", some_id, _of_retrieval(explained), memory)
    # Whoever asks for what is hidden is told the same as who asks for nothing.
    memory_shown(memory, caller, some_id)
    return _told("memory", some_id, _of_memory(_explained(memory, some_id)), memory)


def _told(kind: str, some_id: str, text: str, memory: Recollect) -> Told:
    text = cut(text, CHARS)
    while memory.count_tokens(text) > MOST_TOKENS:
        text = cut(text, len(text) * 3 // 4)
    return Told({"kind": kind, "id": some_id, "text": text})


def _explained(memory: Recollect, memory_id: str) -> MemoryExplanation:
    explained = memory.explain(memory_id)
    assert isinstance(explained, MemoryExplanation)
    return explained


def _of_memory(explained: MemoryExplanation) -> str:
    memory = explained.memory
    lines = [memory.content]
    if memory.rationale:
        lines.append(f"Because: {memory.rationale}")
    lines += [f"Instead of: {one}" for one in memory.alternatives]
    return "\n".join([*lines, explained.text])


def _of_retrieval(found: Retrieval) -> str:
    lines = [f"{found.verb} {found.query!r}, asked {found.asked_at:%Y-%m-%d %H:%M} UTC."]
    lines += [line(note, 300) for note in found.notes]
    for hit in found.hits[:HITS]:
        outcome = "" if hit.outcome == "returned" else f" ({hit.outcome})"
        said = line(hit.explanation, 300)
        lines.append(f"{hit.rank}. {hit.memory_id}, score {hit.score:.2f}{outcome}: {said}")
    if len(found.hits) > HITS:
        lines.append(f"… and {len(found.hits) - HITS} more.")
    lines += [f"{one.kind} {one.item_id}: {one.outcome}" for one in found.context[:HITS]]
    return "\n".join(lines)


EXPLAIN = Tool(
    name="explain",
    description=(
        "Why is a memory there (evidence, links, history), why did a search or context give what "
        "it gave, or, with query, why was a memory not found?"
    ),
    takes={
        "id": told_about(TEXT, "Of a memory or a retrieval"),
        "query": told_about(TEXT, "What should have found it"),
    },
    needs=("id",),
    gives={"kind": TEXT, "id": TEXT, "text": TEXT},
    always=("kind", "id", "text"),
    hints=READS,
    run=explain,
)
