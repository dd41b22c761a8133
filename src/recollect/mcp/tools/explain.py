"""The tool `explain`: why a memory exists, why a search returned it, or why it did not."""

from collections.abc import Mapping
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.retrieval import MemoryExplanation, Retrieval
from recollect.errors import NotFound
from recollect.mcp.caller_scope import (
    Caller,
    get_explainable_memory,
    is_retrieval_visible,
    owners_visible_to,
)
from recollect.mcp.pagination import MAX_PAGE_TOKENS, one_line, truncate
from recollect.mcp.tool_definition import READ_ONLY, TEXT, Tool, ToolResult, with_description

MAX_TEXT_CHARS = (
    4 * MAX_PAGE_TOKENS
)  # cut before counting: a longer text exceeds the token limit in any script
MAX_HITS = 20


def explain(rec: LocalRecollect, caller: Caller, arguments: Mapping[str, Any]) -> ToolResult:
    """Return an explanation as text."""
    some_id, query = arguments["id"], arguments.get("query", "")
    if query:
        target = get_explainable_memory(rec, caller, some_id, query)
        verdict = rec.why_not(target.id, query, **caller.read_scope)
        text = verdict.text
        if target.owner not in owners_visible_to(rec, caller):
            # A memory of another project can only be explained with a query, so include everything.
            text = f"{text}\n{_describe_memory(_memory_explanation(rec, target.id))}"
        return _result("why not", some_id, text, rec)
    try:
        explanation = rec.explain(some_id)
    except NotFound:
        explanation = None
    if isinstance(explanation, Retrieval) and is_retrieval_visible(rec, caller, explanation):
        return _result("retrieval", some_id, _describe_retrieval(explanation), rec)
    # The error for a hidden memory is the same as for a missing one.
    get_explainable_memory(rec, caller, some_id)
    return _result("memory", some_id, _describe_memory(_memory_explanation(rec, some_id)), rec)


def _result(kind: str, some_id: str, text: str, rec: LocalRecollect) -> ToolResult:
    text = truncate(text, MAX_TEXT_CHARS)
    while rec.models.count_tokens(text) > MAX_PAGE_TOKENS:
        text = truncate(text, len(text) * 3 // 4)
    return ToolResult({"kind": kind, "id": some_id, "text": text})


def _memory_explanation(rec: LocalRecollect, memory_id: str) -> MemoryExplanation:
    explanation = rec.explain(memory_id)
    assert isinstance(explanation, MemoryExplanation)
    return explanation


def _describe_memory(explanation: MemoryExplanation) -> str:
    memory = explanation.memory
    lines = [memory.content]
    if memory.rationale:
        lines.append(f"Because: {memory.rationale}")
    lines += [f"Instead of: {alternative}" for alternative in memory.alternatives]
    return "\n".join([*lines, explanation.text])


def _describe_retrieval(retrieval: Retrieval) -> str:
    lines = [
        f"{retrieval.verb} {retrieval.query!r}, asked {retrieval.asked_at:%Y-%m-%d %H:%M} UTC."
    ]
    lines += [one_line(note, 300) for note in retrieval.notes]
    for hit in retrieval.hits[:MAX_HITS]:
        outcome = "" if hit.outcome == "returned" else f" ({hit.outcome})"
        reason = one_line(hit.explanation, 300)
        lines.append(f"{hit.rank}. {hit.memory_id}, score {hit.score:.2f}{outcome}: {reason}")
    if len(retrieval.hits) > MAX_HITS:
        lines.append(f"… and {len(retrieval.hits) - MAX_HITS} more.")
    lines += [
        f"{item.kind} {item.item_id}: {item.outcome}" for item in retrieval.context[:MAX_HITS]
    ]
    return "\n".join(lines)


EXPLAIN = Tool(
    name="explain",
    description=(
        "Explain a memory (evidence, links, history), the results of a search or context, or, with "
        "query, why a memory was not found."
    ),
    parameters={
        "id": with_description(TEXT, "Id of a memory or a retrieval"),
        "query": with_description(TEXT, "The query that should find the memory"),
    },
    required=("id",),
    output={"kind": TEXT, "id": TEXT, "text": TEXT},
    required_output=("kind", "id", "text"),
    hints=READ_ONLY,
    run=explain,
)
