"""
The tool `edit_block`: change a block, labelled text that is part of every context.

A caller edits the blocks of its own agent. A block of the project or a global block is shown to
others, so the user is asked to confirm the change. If the user cannot be asked, or the change is
too long for a question, it is a proposal in the inbox.
"""

from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain import block as edits
from recollect.domain.agent import DEFAULT_LABELS, Agent
from recollect.domain.block import Block, Edit
from recollect.domain.scope import Scope
from recollect.errors import BlockReadOnly, InvalidInput, NotFound
from recollect.mcp.caller_scope import Caller, caller_agent, visible_blocks
from recollect.mcp.tool_definition import (
    DESTRUCTIVE,
    Arguments,
    ConfirmationRequest,
    Tool,
    ToolOutcome,
    ToolResult,
)
from recollect.wire.json_schema import INTEGER, TEXT, describe, enum_of

FIRST_VERSION = 1
MAX_DIFF_CHARS = 2_000  # of a question: the user must see everything they confirm
_NO_BLOCKS = (
    "use `remember` instead (the server has blocks only if the user adds `--agent NAME` to "
    "`recollect mcp`, or `agent=NAME` to the address, in this client's settings)"
)


def edit_block(rec: LocalRecollect, caller: Caller, arguments: Arguments) -> ToolOutcome:
    """Apply one edit, ask the user to confirm it, or propose it."""
    agent = caller_agent(rec, caller)
    label, version = arguments["label"], arguments.get("version")
    change = _parse_edit(arguments)
    if agent is None and caller.agent is not None:
        _require_default_block(label, version, change)  # a failed edit must not create an agent
        agent = rec.agents.create(caller.agent)
    author = agent.name if agent is not None else caller.author
    block = _find_block(rec, caller, agent, label)
    scope = DEFAULT_LABELS[label].scope if block is None else block.scope
    is_outdated = block is not None and version not in (None, block.version)
    is_nowhere = scope is Scope.PROJECT and caller.project is None
    if is_outdated or is_nowhere or scope not in edits.SHARED_SCOPES:
        # With another version or without a project this raises the error.
        return _result(_apply_edit(rec, caller, agent, block or label, arguments, author, version))
    if block is not None:
        version = block.version  # what is confirmed below must not be another change

    def propose() -> ToolResult:
        return _result(_apply_edit(rec, caller, agent, block or label, arguments, author, version))

    def apply_edit() -> ToolResult:
        edited = _apply_edit(rec, caller, agent, block or label, arguments, author, version)
        if not edited.proposal_id:
            return _result(edited)
        by = "agent" if caller.trusted else "user"
        rec.blocks.accept(edited.proposal_id, reason="decided over MCP", by=by)
        return _result(rec.blocks.get(None, edited.id))

    diff = _diff(rec, author, block, label, change)
    if len(diff) > MAX_DIFF_CHARS and not caller.trusted:
        return propose()
    is_global = scope is Scope.GLOBAL
    audience = f"every agent in {'every' if is_global else 'this'} project"
    return ConfirmationRequest(
        question=f"Change the block {label!r}, which is shown to {audience}?\n\n{diff}",
        on_confirm=apply_edit,
        propose=propose,
    )


def _require_default_block(label: str, version: int | None, edit: Edit) -> None:
    """Raise unless an edit can be applied to the blocks of an agent that is created for it."""
    default = DEFAULT_LABELS.get(label)
    if default is None or default.scope is Scope.SESSION:
        raise NotFound(f"there is no block {label[:80]!r} here; {_NO_BLOCKS}")
    if default.read_only:
        raise BlockReadOnly(f"the block {label!r} cannot be edited; it is written by the server")
    if version not in (None, FIRST_VERSION):
        raise InvalidInput(f"the block {label!r} has no version {version}; leave `version` out")
    edits.check_limit(edit(""), edits.DEFAULT_LIMIT)


def _diff(rec: LocalRecollect, author: str, block: Block | None, label: str, edit: Edit) -> str:
    """Return what the edit changes; raise if it cannot be applied."""
    if block is None:
        old, new = "", edit("")
    else:
        own = edits.own_pending_proposal(rec.blocks.proposals(), block, author)
        old, new = block.value, edits.proposed_text(block, edit, own)
    return edits.text_diff(old, new, from_name=f"{label} now", to_name=f"{label} then")


def _result(block: Block) -> ToolResult:
    values: dict[str, Any] = {
        "label": block.label,
        "version": block.version,
        "chars": len(block.value),
    }
    if block.proposal_id:
        values |= {"proposal_id": block.proposal_id, "note": edits.proposal_note(block)}
    return ToolResult(values)


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
    author: str,
    version: int | None,
) -> Block:
    how, text = arguments["how"], arguments["text"]
    edit: dict[str, Any] = {"by": "agent", "author": author, "reason": "edited over MCP"}
    edit["expected_version"] = version
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
        "Pass the version you read, to detect changes by others. A change of a block that others "
        "see (project, human, style) needs the user's confirmation; it may wait as a proposal."
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
    output={
        "label": TEXT,
        "version": INTEGER,
        "chars": INTEGER,
        "proposal_id": TEXT,
        "note": TEXT,
    },
    optional_output=("proposal_id", "note"),
    hints=DESTRUCTIVE,
    run=edit_block,
)
