"""
The tool `edit_block`: change a block, labelled text that is part of every context.

A caller may edit the blocks of its own agent and project. A global block is shown to every agent in
every project, so an edit by an untrusted caller needs the user's confirmation.
"""

from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain import block as edits
from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import Block, BlockAuthor, Edit
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput, NotFound
from recollect.mcp.caller_scope import Caller, caller_agent, visible_blocks
from recollect.mcp.pagination import excerpt_for_person
from recollect.mcp.schema import INTEGER, TEXT, describe, enum_of
from recollect.mcp.tool_definition import (
    DESTRUCTIVE,
    Arguments,
    ConfirmationRequest,
    Tool,
    ToolOutcome,
    ToolResult,
)

_NO_BLOCKS = (
    "use `remember` instead (the server has blocks only if the user adds `--agent NAME` to "
    "`recollect mcp` in this client's settings)"
)


def edit_block(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolOutcome:
    """Apply one edit, or ask the user to confirm it."""
    agent = caller_agent(rec, caller)
    if agent is None and caller.agent is not None:
        agent = rec.agents.create(caller.agent)
    label = arguments["label"]
    block = _find_block(rec, caller, agent, label)
    edit = _parse_edit(arguments)
    version = arguments.get("version")
    if block is None:
        is_shared, value = DEFAULT_LABELS[label].scope is Scope.GLOBAL, edit("")
    else:
        is_shared, value = block.scope is Scope.GLOBAL, ""
        if is_shared and version in (None, block.version):
            # An edit that cannot be applied must fail before the user is asked.
            value = edits.edit_block(block, edit, by=BlockAuthor.AGENT, at=block.updated_at).value
            version = block.version

    def apply_edit() -> ToolResult:
        edited = _apply_edit(rec, caller, agent, block or label, arguments, version)
        row = {"label": edited.label, "version": edited.version, "chars": len(edited.value)}
        return ToolResult(row)

    if not is_shared or (block is not None and version != block.version):
        return apply_edit()  # with another version this raises the conflict with the current text
    name = block.label if block else label
    command = f"recollect memory update --agent {caller.agent}"
    return ConfirmationRequest(
        question=(
            f"Change the block {name!r}, which every agent sees in every project? The new text:"
            f"\n\n{excerpt_for_person(value)}"
        ),
        on_confirm=apply_edit,
        alternative=f"ask the user to edit it with `{command}`",
    )


def _find_block(
    rec: LocalRecollect, caller: Caller, agent: Agent | None, label: str
) -> Block | None:
    """Return the block *label*, or None if the edit creates this default block."""
    labels = [block.label for block in visible_blocks(rec, caller)]
    block = None
    if agent is not None or caller.project is not None:
        # Without both, the label would be looked up as the id of any block.
        try:
            block = rec.blocks.get(agent, label, project=caller.project)
        except NotFound:
            if agent is not None and label in DEFAULT_LABELS:
                return None
    if block is None or block.hidden:
        hint = f"the blocks here are {', '.join(labels)}" if labels else _NO_BLOCKS
        raise NotFound(f"there is no block {label[:80]!r} here; {hint}")
    return block


def _parse_edit(arguments: Arguments) -> Edit:
    how, text = arguments["how"], arguments["text"]
    if how == "append":
        return edits.append(text)
    if how == "insert":
        return edits.insert_at(arguments.get("line", -1), text)
    if how == "set":
        return edits.replace_all(text)
    if "old" not in arguments:
        raise InvalidInput("replace needs `old`, the text to replace; it must occur exactly once")
    return edits.replace_once(arguments["old"], text)


def _apply_edit(
    rec: LocalRecollect,
    caller: Caller,
    agent: Agent | None,
    block: Block | str,
    arguments: Arguments,
    version: int | None,
) -> Block:
    how, text = arguments["how"], arguments["text"]
    edit: dict[str, Any] = {"by": "agent", "expected_version": version, "reason": "edited over MCP"}
    if isinstance(block, Block):
        agent = None  # an existing block is addressed by its id
    else:
        edit["project"] = caller.project
    if how == "append":
        return rec.blocks.append(agent, block, text, **edit)
    if how == "insert":
        return rec.blocks.insert(agent, block, text, arguments.get("line", -1), **edit)
    if how == "set":
        return rec.blocks.set(agent, block, text, **edit)
    return rec.blocks.replace(agent, block, arguments["old"], text, **edit)


EDIT_BLOCK = Tool(
    name="edit_block",
    description=(
        "Change a block: short labelled text at the start of every context (status lists them). "
        "Pass the version you read, to detect changes by others. For a block that all agents "
        "share (human, style), the user is asked to confirm."
    ),
    parameters={
        "label": TEXT,
        "how": enum_of("append", "replace", "insert", "set"),
        "text": TEXT,
        "old": describe(TEXT, "For replace: text that occurs exactly once"),
        "line": describe(INTEGER, "For insert: after this line; 0: start, -1: end"),
        "version": INTEGER,
    },
    required=("label", "how", "text"),
    output={"label": TEXT, "version": INTEGER, "chars": INTEGER},
    hints=DESTRUCTIVE,
    run=edit_block,
)
