"""The tool `explain`: why a memory exists, why a search returned it, or why it did not."""

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.retrieval import MemoryExplanation, Retrieval
from recollect.errors import NotFound
from recollect.mcp import caller_scope
from recollect.mcp.caller_scope import Caller, get_explainable_memory
from recollect.mcp.pagination import MAX_PAGE_TOKENS, one_line, truncate
from recollect.mcp.tool_definition import READ_ONLY, Arguments, Tool, ToolResult
from recollect.wire.json_schema import TEXT, describe

# Cut before counting: a longer text exceeds the token limit in any script.
MAX_TEXT_CHARS = 4 * MAX_PAGE_TOKENS
MAX_HITS = 20


def explain(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return an explanation as text."""
    some_id, query = arguments["id"], arguments.get("query", "")
    if query:
        target = get_explainable_memory(rec, caller, some_id, query)
        text = rec.why_not(target.id, query, **caller.read_scope).text
        if target.owner not in caller_scope.owners_visible_to(rec, caller):
            # A memory of another project can only be explained with a query, so include everything.
            text = f"{text}\n{_describe_memory(rec, target.id)}"
        return _result("why not", some_id, text, rec)
    try:
        explanation = rec.explain(some_id)
    except NotFound:
        explanation = None
    is_visible = caller_scope.is_retrieval_visible
    if isinstance(explanation, Retrieval) and is_visible(rec, caller, explanation):
        return _result("retrieval", some_id, _describe_retrieval(explanation), rec)
    # The error for a hidden memory is the same as for a missing one.
    get_explainable_memory(rec, caller, some_id)
    return _result("memory", some_id, _describe_memory(rec, some_id), rec)


def _result(kind: str, some_id: str, text: str, rec: LocalRecollect) -> ToolResult:
    text = truncate(text, MAX_TEXT_CHARS)
    while rec.models.count_tokens(text) > MAX_PAGE_TOKENS:
        text = truncate(text, len(text) * 3 // 4)
    return ToolResult({"kind": kind, "id": some_id, "text": text})


def _describe_memory(rec: LocalRecollect, memory_id: str) -> str:
    explanation = rec.explain(memory_id)
    assert isinstance(explanation, MemoryExplanation)
    memory = explanation.memory
    lines = [memory.content]
    if memory.rationale:
        lines.append(f"Because: {memory.rationale}")
    lines += [f"Instead of: {alternative}" for alternative in memory.alternatives]
    return "\n".join([*lines, explanation.text])


def _describe_retrieval(retrieval: Retrieval) -> str:
    asked_at = f"{retrieval.asked_at:%Y-%m-%d %H:%M} UTC"
    lines = [f"{retrieval.verb} {retrieval.query!r}, asked {asked_at}."]
    lines += [one_line(note, 300) for note in retrieval.notes]
    for hit in retrieval.hits[:MAX_HITS]:
        outcome = "" if hit.outcome == "returned" else f" ({hit.outcome})"
        reason = one_line(hit.explanation, 300)
        lines.append(f"{hit.rank}. {hit.memory_id}, score {hit.score:.2f}{outcome}: {reason}")
    if len(retrieval.hits) > MAX_HITS:
        lines.append(f"… and {len(retrieval.hits) - MAX_HITS} more.")
    items = retrieval.context[:MAX_HITS]
    lines += [f"{item.kind} {item.item_id}: {item.outcome}" for item in items]
    return "\n".join(lines)


EXPLAIN = Tool(
    name="explain",
    description=(
        "Explain a memory (evidence, links, history), the results of a search or context, or, with "
        "query, why a memory was not found."
    ),
    parameters={
        "id": describe(TEXT, "Id of a memory or a retrieval"),
        "query": describe(TEXT, "The query that should find the memory"),
    },
    required=("id",),
    output={"kind": TEXT, "id": TEXT, "text": TEXT},
    hints=READ_ONLY,
    run=explain,
)
