"""Edit a block of the caller's agent: labelled text that stands in every context."""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.domain.block import Block
from recollect.errors import InvalidInput, NotFound
from recollect.mcp.caller import Caller, agent_of, blocks_seen
from recollect.mcp.tool import CHANGES, NUMBER, TEXT, Told, Tool, one_of, told_about


def edit_block(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Told:
    """Apply one edit."""
    agent = agent_of(memory, caller)
    if agent is None and caller.agent is not None:
        agent = memory.create_agent(caller.agent)
    label, how, text = given["label"], given["how"], given["text"]
    seen = [one.label for one in blocks_seen(memory, caller)]
    if agent is None and label not in seen:
        # Without an agent the verb would take the label for the id of anybody's block.
        has = ", ".join(seen) or "none; start the server with --agent to have some"
        raise NotFound(f"there is no block {label[:80]!r} here; there is {has}")
    edit: dict[str, Any] = {
        "project": caller.project,
        "by": "agent",
        "expected_version": given.get("version"),
        "reason": "edited over MCP",
    }
    if how == "append":
        block = memory.append_block(agent, label, text, **edit)
    elif how == "insert":
        block = memory.insert_in_block(agent, label, text, given.get("line", -1), **edit)
    elif how == "set":
        block = memory.set_block(agent, label, text, **edit)
    elif "old" in given:
        block = memory.replace_in_block(agent, label, given["old"], text, **edit)
    else:
        raise InvalidInput("replace needs `old`: the text to replace, which must occur once")
    return Told(_row(block))


def _row(block: Block) -> dict[str, Any]:
    return {"label": block.label, "version": block.version, "chars": len(block.value)}


EDIT_BLOCK = Tool(
    name="edit_block",
    description=(
        "Change a block: short labelled text shown at the start of every context (status lists "
        "them). Give the version you read, so that nobody's change is lost unseen."
    ),
    takes={
        "label": TEXT,
        "how": one_of("append", "replace", "insert", "set"),
        "text": TEXT,
        "old": told_about(TEXT, "For replace: occurs exactly once"),
        "line": told_about(NUMBER, "For insert: after this line; 0 top, -1 end"),
        "version": NUMBER,
    },
    needs=("label", "how", "text"),
    gives={"label": TEXT, "version": NUMBER, "chars": NUMBER},
    always=("label", "version", "chars"),
    hints=CHANGES,
    run=edit_block,
)
