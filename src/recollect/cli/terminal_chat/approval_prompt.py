"""
Show a tool call that waits for the user's decision, and read the decision.

An edit of a block is shown as the difference that it makes, and a tool that came with an agent file
with its source code.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click

from recollect.api.recollect import Recollect
from recollect.cli.diff_lines import diff_lines
from recollect.cli.output import print_text, safe
from recollect.domain import block as edits
from recollect.domain.agent_run import Approval
from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass

_KEYS = (
    "[bold]y[/bold] run it  [bold]n[/bold] deny  [bold]r[/bold] deny with a reason  "
    "[bold]a[/bold] always for this tool  [bold]esc[/bold] later"
)
# The tools that edit blocks, with the edit that a call makes.
BLOCK_EDITS: Mapping[str, Callable[[Mapping[str, Any]], edits.Edit]] = {
    "core_memory_append": lambda args: edits.append(args["content"]),
    "core_memory_replace": lambda args: edits.replace_once(
        args["old_content"], args["new_content"]
    ),
    "memory_replace": lambda args: edits.replace_once(args["old_str"], args["new_str"]),
    "memory_insert": lambda args: edits.insert_at(args.get("insert_line", -1), args["new_str"]),
    "memory_rethink": lambda args: edits.replace_all(args["new_memory"]),
}


@dataclass(frozen=True)
class ApprovalDecision:
    """What the user decided."""

    approve: bool
    reason: str = ""
    always: bool = False


def ask_decision(rec: Recollect, approval: Approval) -> ApprovalDecision | None:
    """Show the call and read a decision; None: the user decides later."""
    print_text(approval_lines(rec, approval))
    print_text(_KEYS)
    while True:
        try:
            key = click.getchar()
        except (KeyboardInterrupt, EOFError):
            return None
        match key.lower():
            case "y":
                return ApprovalDecision(True)
            case "a":
                return ApprovalDecision(True, always=True)
            case "n":
                return ApprovalDecision(False)
            case "r":
                reason = click.prompt("Why not", default="", show_default=False)
                return ApprovalDecision(False, reason=reason)
            case "\x1b" | "q":
                return None


def approval_lines(rec: Recollect, approval: Approval) -> Iterator[str]:
    """Yield the call: its tool, its arguments or the difference, and code that came with it."""
    yield f"[yellow]{safe(approval.tool)} waits for your decision[/yellow]"
    if diff := _block_diff(rec, approval):
        yield from diff_lines(diff)
    else:
        arguments = json.dumps(dict(approval.arguments), ensure_ascii=False, indent=2)
        yield from (f"  {safe(line)}" for line in arguments.splitlines())
    if approval.source_code:
        yield "[dim]  its code, which came with the agent's file:[/dim]"
        yield from (f"  [dim]{safe(line)}[/dim]" for line in approval.source_code.splitlines())


def _block_diff(rec: Recollect, approval: Approval) -> str:
    """Return the difference that an edit of a block makes, '' if it is not one."""
    edit_of = BLOCK_EDITS.get(approval.tool)
    label = approval.arguments.get("label")
    if edit_of is None or not isinstance(label, str):
        return ""
    try:
        conversation = rec.conversations.get(approval.conversation_id)
        block = rec.blocks.get(
            approval.agent_id, label, project=conversation.project_id, conversation=conversation
        )
        after = edit_of(approval.arguments)(block.value)
    except (RecollectError, KeyError, TypeError):
        return ""  # the arguments are shown instead
    return edits.text_diff(block.value, after, from_name=label, to_name=label)
