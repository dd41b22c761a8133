"""The command `agent approvals`: list tool calls that wait for a person, and decide them."""

from collections.abc import Iterator, Sequence

import click

from recollect.api.agent_tools import AgentTools
from recollect.app.local_recollect import LocalRecollect
from recollect.cli.options import with_store
from recollect.cli.output import Output, safe
from recollect.cli.terminal_chat.approval_prompt import approval_lines
from recollect.domain.agent_run import Approval, RunResult, StopReason
from recollect.text.message_text import SEND_MESSAGE

_STOPPED_WELL = (StopReason.END_TURN, StopReason.TOOL_RULE, StopReason.REQUIRES_APPROVAL)


@click.command()
@click.option("--agent", help="Only of this agent.")
@click.option("--approve", metavar="ID", help="Run this call; the agent goes on.")
@click.option("--always", is_flag=True, help="With --approve: also every later call of this tool.")
@click.option("--deny", metavar="ID", help="Do not run this call; the agent goes on.")
@click.option("--reason", default="", help="With --deny: the reason sent to the model.")
@with_store
def approvals(
    rec: LocalRecollect,
    *,
    agent: str | None,
    approve: str | None,
    always: bool,
    deny: str | None,
    reason: str,
) -> Output:
    """
    List the tool calls that wait for a decision, and decide them.

    A call waits until it is decided, its conversation gets another message, or it expires. After
    the last decision of a run the agent goes on, which takes a chat model.
    """
    if approve and deny:
        raise click.UsageError("decide one call at a time: --approve ID or --deny ID")
    if (always and not approve) or (reason and not deny):
        raise click.UsageError("--always belongs to --approve, and --reason to --deny")
    if approve or deny:
        waiting = {approval.id: approval for approval in rec.agents.approvals()}
        if approve in waiting:
            _require_runnable(rec, waiting[approve])
        decided = approve or deny or ""
        result = rec.agents.decide(decided, bool(approve), reason=reason, always=always)
        failed = result.stop_reason not in _STOPPED_WELL
        return Output(result, _result_lines(result, approved=bool(approve)), failed=failed)
    listed = rec.agents.approvals(agent=agent)
    return Output(listed, _list_lines(rec, listed))


def _require_runnable(rec: LocalRecollect, approval: Approval) -> None:
    """Refuse a call that cannot run in this process: once approved it cannot wait any more."""
    tool = approval.tool
    is_known = tool in AgentTools.NAMES or tool == SEND_MESSAGE or bool(approval.source_code)
    if not is_known:
        raise click.ClickException(
            f"the tool {tool} belongs to the program that runs this agent; approve the call there, "
            "with `rec.agents.decide`. --deny works here"
        )
    if not rec.agents.can_run:
        raise click.ClickException(
            "no chat model is configured, so the agent could not go on; set chat_backend and "
            "chat_model first. The call still waits"
        )


def _list_lines(rec: LocalRecollect, waiting: Sequence[Approval]) -> Iterator[str]:
    if not waiting:
        yield "No tool call waits for a decision."
    for approval in waiting:
        yield from approval_lines(rec, approval)
        agent = safe(rec.agents.get(approval.agent_id).name) if approval.agent_id else "no agent"
        yield f"[dim]  {agent}, until {approval.expires_at:%Y-%m-%d %H:%M} UTC: {approval.id}[/dim]"


def _result_lines(result: RunResult, *, approved: bool) -> Iterator[str]:
    yield "Approved." if approved else "Denied."
    if result.text:
        yield safe(result.text)
    if result.approvals:
        yield f"{len(result.approvals)} more to decide: `recollect agent approvals`"
    elif result.stop_reason not in _STOPPED_WELL:
        yield f"[red]{safe(result.stop_reason)}: {safe(result.error)}[/red]"
