"""Get everything worth knowing for a task, within a budget."""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.mcp.caller import Caller, agent_of
from recollect.mcp.tool import NUMBER, READS, TEXT, Told, Tool, list_of, object_of, told_about

BUDGET = 1_500
LEAST, MOST = 200, 16_000


def context(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Return the bundle for a task."""
    bundle = memory.context_for(
        given["task"],
        project=caller.project,
        agent=agent_of(memory, caller),
        budget_tokens=given.get("budget_tokens", BUDGET),
    )
    cited = [{"mark": one.mark, "id": one.memory_id} for one in bundle.citations]
    told: dict[str, Any] = {"text": bundle.text, "citations": cited, "tokens": bundle.tokens}
    if bundle.retrieval_id:
        told["retrieval_id"] = bundle.retrieval_id
    return Told(told)


CONTEXT = Tool(
    name="context",
    description=(
        "Get what to know before starting a task: blocks, facts, decisions and past work, cited. "
        "Call it once per task; use search for single questions."
    ),
    takes={
        "task": told_about(TEXT, "What you are about to do"),
        "budget_tokens": {**NUMBER, "minimum": LEAST, "maximum": MOST, "default": BUDGET},
    },
    needs=("task",),
    gives={
        "text": TEXT,
        "citations": list_of(object_of({"mark": TEXT, "id": TEXT})),
        "tokens": NUMBER,
        "retrieval_id": TEXT,
    },
    always=("text", "citations", "tokens"),
    hints=READS,
    run=context,
)
