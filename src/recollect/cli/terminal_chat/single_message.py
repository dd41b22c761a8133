"""One message and its answer, for scripts: `recollect chat -p`. Needs no terminal and no extra."""

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.cli.output import Output, safe
from recollect.cli.terminal_chat.chat_session import ChatSession
from recollect.cli.terminal_chat.memory_answer import NOTHING_FOUND, find_answer, plain_answer
from recollect.domain.agent_run import RunResult, StopReason
from recollect.domain.retrieval import Hit

_ANSWERED = (StopReason.END_TURN, StopReason.TOOL_RULE)


def answer_once(session: ChatSession, text: str) -> Output:
    """Send *text* and return the answer; it has failed if the agent did not answer."""
    conversation = session.ensure_conversation()
    if not session.has_model:
        hits = find_answer(session, text)
        text = safe(plain_answer(hits)) or NOTHING_FOUND
        return Output(_memory_answer(session, hits), text)
    result = session.rec.agents.run(
        session.agent, text, conversation=conversation, model=session.model
    )
    session.count_usage(result)
    failed = result.stop_reason not in _ANSWERED
    return Output(_run_answer(session, result), _lines(result), failed=failed)


def _lines(result: RunResult) -> Iterator[str]:
    if result.text:
        yield safe(result.text)
    if result.stop_reason is StopReason.REQUIRES_APPROVAL:
        tools = ", ".join(approval.tool for approval in result.approvals)
        yield (
            f"[yellow]{safe(tools)} waits for your decision: `recollect agent approvals`, or "
            f"`recollect chat --resume {result.conversation_id}`[/yellow]"
        )
    elif result.error:
        yield f"[red]{safe(result.stop_reason)}: {safe(result.error)}[/red]"


def _run_answer(session: ChatSession, result: RunResult) -> dict[str, Any]:
    return {
        "text": result.text,
        "stop_reason": result.stop_reason,
        "error": result.error,
        "model": result.model,
        "agent": session.agent.name,
        "conversation_id": result.conversation_id,
        "run_id": result.run_id,
        "usage": result.usage,
        "approvals": result.approvals,
        "citations": result.citations,
    }


def _memory_answer(session: ChatSession, hits: Sequence[Hit]) -> dict[str, Any]:
    conversation = session.ensure_conversation()
    return {
        "text": plain_answer(hits),
        "stop_reason": None,
        "error": "",
        "model": "",
        "agent": session.agent.name,
        "conversation_id": conversation.id,
        "run_id": None,
        "usage": None,
        "approvals": [],
        "citations": [
            {
                "mark": f"m{number}",
                "memory_id": hit.memory.id,
                "quote": hit.evidence[0].quote if hit.evidence else "",
                "source_id": hit.memory.source_ref or "",
            }
            for number, hit in enumerate(hits, start=1)
        ],
    }
