"""
Edit a block: labelled text that stands in every context.

Blocks of the caller's own agent and project are theirs to write. A global block is told to every
agent in every project, so an untrusted caller can only propose: the person is asked.
"""

from collections.abc import Mapping
from typing import Any

from recollect.app import Recollect
from recollect.domain import block as edits
from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import Block, By, Edit, changed
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, NotFound
from recollect.mcp.caller import Caller, agent_of, blocks_seen
from recollect.mcp.pages import shown_to_person
from recollect.mcp.tool import CHANGES, NUMBER, TEXT, Ask, Outcome, Told, Tool, one_of, told_about

_NO_BLOCKS = (
    "use `remember` instead (only where the user adds `--agent NAME` to `recollect mcp` in this "
    "client's settings does the server have blocks)"
)


def edit_block(memory: Recollect, caller: Caller, given: Mapping[str, Any]) -> Outcome:
    """Apply one edit, or ask whether it may be applied."""
    agent = agent_of(memory, caller)
    if agent is None and caller.agent is not None:
        agent = memory.create_agent(caller.agent)
    label = given["label"]
    block = _named(memory, caller, agent, label)
    wanted = _wanted(given)
    version = given.get("version")
    if block is None:
        shared, value = DEFAULT_LABELS[label].scope is Scope.GLOBAL, wanted("")
    else:
        shared, value = block.scope is Scope.GLOBAL, ""
        if shared and version in (None, block.version):
            # What cannot be done is refused before anybody is asked.
            value = changed(block, wanted, by=By.AGENT, at=block.updated_at).value
            version = block.version

    def then() -> Told:
        return Told(_row(_edited(memory, caller, agent, block or label, given, version)))

    if not shared or (block is not None and version != block.version):
        return then()  # in the second case only to be told what it says now
    name = block.label if block else label
    return Ask(
        question=(
            f"Change the block {name!r}, which every agent sees in every project? It would say:"
            f"\n\n{shown_to_person(value)}"
        ),
        then=then,
        instead=f"ask the user to edit it with `recollect memory update --agent {caller.agent}`",
    )


def _named(memory: Recollect, caller: Caller, agent: Agent | None, label: str) -> Block | None:
    """Return the block that is meant, or None for one that its first edit makes."""
    seen = [one.label for one in blocks_seen(memory, caller)]
    found = None
    if agent is not None or caller.project is not None:
        # With neither, the verb would take the label for the id of anybody's block.
        try:
            found = memory.block(agent, label, project=caller.project)
        except NotFound:
            if agent is not None and label in DEFAULT_LABELS:
                return None
    if found is None or found.hidden:
        others = f"the blocks here are {', '.join(seen)}" if seen else _NO_BLOCKS
        raise NotFound(f"there is no block {label[:80]!r} here; {others}")
    return found


def _wanted(given: Mapping[str, Any]) -> Edit:
    how, text = given["how"], given["text"]
    if how == "append":
        return edits.append(text)
    if how == "insert":
        return edits.insert_at(given.get("line", -1), text)
    if how == "set":
        return edits.rethink(text)
    if "old" not in given:
        raise InvalidInput("replace needs `old`: the text to replace, which must occur once")
    return edits.replace_once(given["old"], text)


def _edited(
    memory: Recollect,
    caller: Caller,
    agent: Agent | None,
    block: Block | str,
    given: Mapping[str, Any],
    version: int | None,
) -> Block:
    how, text = given["how"], given["text"]
    edit: dict[str, Any] = {
        "by": "agent",
        "expected_version": version,
        "reason": "edited over MCP",
    }
    if isinstance(block, Block):
        agent = None  # it was found: now its id names it
    else:
        edit["project"] = caller.project
    if how == "append":
        return memory.append_block(agent, block, text, **edit)
    if how == "insert":
        return memory.insert_in_block(agent, block, text, given.get("line", -1), **edit)
    if how == "set":
        return memory.set_block(agent, block, text, **edit)
    return memory.replace_in_block(agent, block, given["old"], text, **edit)


def _row(block: Block) -> dict[str, Any]:
    return {"label": block.label, "version": block.version, "chars": len(block.value)}


EDIT_BLOCK = Tool(
    name="edit_block",
    description=(
        "Change a block: short labelled text shown at the start of every context (status lists "
        "them). Give the version you read, so that nobody's change is lost unseen. The user is "
        "asked where every agent shares it (human, style)."
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
