"""The tool `context`: the memory context for a task, within a token budget."""

from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller, caller_agent
from recollect.mcp.tool_definition import READ_ONLY, Arguments, Tool, ToolResult
from recollect.wire.json_schema import INTEGER, TEXT, describe, list_of, object_of

DEFAULT_BUDGET = 1_500
MIN_BUDGET, MAX_BUDGET = 200, 16_000
_BUDGET = {**INTEGER, "minimum": MIN_BUDGET, "maximum": MAX_BUDGET, "default": DEFAULT_BUDGET}


def context(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolResult:
    """Return the context for a task."""
    bundle = rec.context_for(
        arguments["task"],
        project=caller.project,
        agent=caller_agent(rec, caller),
        budget_tokens=arguments.get("budget_tokens", DEFAULT_BUDGET),
        form="markdown",  # without empty blocks: `status` lists the labels
    )
    citations = [{"mark": item.mark, "id": item.memory_id} for item in bundle.citations]
    values: dict[str, Any] = {"text": bundle.text, "citations": citations, "tokens": bundle.tokens}
    if bundle.retrieval_id:
        values["retrieval_id"] = bundle.retrieval_id
    return ToolResult(values)


CONTEXT = Tool(
    name="context",
    description=(
        "Return the context for a task: blocks, facts, decisions and past work, with citations. "
        "Call it once before a task; use search for single questions."
    ),
    parameters={
        "task": describe(TEXT, "What you are about to do"),
        "budget_tokens": _BUDGET,
    },
    required=("task",),
    output={
        "text": TEXT,
        "citations": list_of(object_of({"mark": TEXT, "id": TEXT})),
        "tokens": INTEGER,
        "retrieval_id": TEXT,
    },
    optional_output=("retrieval_id",),
    hints=READ_ONLY,
    run=context,
)
