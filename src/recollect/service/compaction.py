"""
Compact a conversation: a summary replaces its older messages, which stay searchable.

context/compaction_plan.py decides which messages leave; context/summary, or the chat model if one
is configured, writes the summary. This file reads the window, has the summary written outside of
any transaction, and stores it, unless the conversation changed in the meantime.
"""

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from recollect.context.compaction_plan import (
    CompactionPlan,
    CompactionSettings,
    needs_compaction,
    plan_compaction,
)
from recollect.context.summary.summarize import summarize
from recollect.context.summary.summary_prompt import parse_summary, summary_request
from recollect.domain.agent import Agent
from recollect.domain.conversation import Compacted, Conversation, Message, Summary
from recollect.engine.budgeted_chat import complete_within_budget
from recollect.service.block_lookup import require_conversation
from recollect.service.context_window import measure_window, window_size
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.token_counter import TokenCounter, counter_for
from recollect.wire.requests.conversations import CompactConversationRequest
from recollect.wire.requests.shared import BlockPlaceFields

MADE_BY_EXTRACT = "extract"
TRIES = 3  # after so many concurrent compactions the conversation is compacted anyway


@dataclass(frozen=True)
class _Window:
    """The window of a conversation as it was read."""

    conversation: Conversation
    agent: Agent | None
    messages: list[Message]
    previous: Summary | None
    other_tokens: int
    counter: TokenCounter


def compact(services: Services, request: CompactConversationRequest) -> Compacted | None:
    """Compact a conversation if its window is too full, or forced; None if no message leaves."""
    for _ in range(TRIES):
        window = _read_window(services, request.conversation)
        settings = CompactionSettings(
            window_tokens=window_size(request.window_tokens, window.agent),
            threshold=request.threshold,
            mode=request.mode,
            keep_last=request.keep_last,
            target=request.target,
            summary_tokens=request.summary_tokens,
        )
        messages, used = window.messages, window.other_tokens
        is_full = needs_compaction(messages, settings=settings, other_tokens=used)
        if not is_full and not request.force:
            return None
        plan = plan_compaction(messages, settings=settings, other_tokens=used)
        if plan is None or not plan.evicted:
            return None
        summary, notes = _summarize(services, window, plan, settings)
        if services.store.write(partial(_store_summary, window, plan, summary)):
            return Compacted(
                summary=summary,
                evicted=len(plan.evicted),
                kept=len(plan.remaining),
                reason=plan.reason,
                notes=notes,
            )
    return None


def _read_window(services: Services, conversation_id: str) -> _Window:
    with services.store.read() as tables:
        conversation = require_conversation(tables, conversation_id)
        agent = tables.agents.get(conversation.agent_id) if conversation.agent_id else None
        summaries = tables.conversations.summaries(conversation.id)
        messages = tables.messages.in_context(conversation.id)
    overview = measure_window(services, BlockPlaceFields(conversation=conversation.id))
    return _Window(
        conversation=conversation,
        agent=agent,
        messages=messages,
        previous=summaries[-1] if summaries else None,
        other_tokens=overview.used - overview.messages,
        counter=counter_for(agent.model if agent else ""),
    )


def _summarize(
    services: Services, window: _Window, plan: CompactionPlan, settings: CompactionSettings
) -> tuple[Summary, tuple[str, ...]]:
    previous = window.previous.content if window.previous else ""
    budget = settings.summary_budget
    count = window.counter.count
    notes: tuple[str, ...] = ()
    text, made_by = None, MADE_BY_EXTRACT
    if services.engine.uses_chat:
        request = summary_request(plan.evicted, previous=previous, budget_tokens=budget)
        if request.omitted:
            # Messages that do not fit into the prompt enter it as a summary of their own.
            omitted, rest = plan.evicted[: request.omitted], plan.evicted[request.omitted :]
            so_far = summarize(omitted, previous=previous, budget_tokens=budget, count=count)
            request = summary_request(rest, previous=so_far, budget_tokens=budget)
        answer = complete_within_budget(
            services.engine,
            purpose="summary",
            system=request.system,
            prompt=request.prompt,
            max_tokens=request.max_tokens,
        )
        text = (
            parse_summary(answer.text, budget_tokens=budget, count=count) if answer.text else None
        )
        made_by = answer.model if text else MADE_BY_EXTRACT
        if text is None:
            why = answer.failure or "its answer was no summary"
            notes = (f"written without the language model: {why}",)
    if text is None:
        text = summarize(plan.evicted, previous=previous, budget_tokens=budget, count=count)
    text = text or previous or f"{len(plan.evicted)} messages that say little"
    first, last = plan.evicted[0].position, plan.evicted[-1].position
    made_at = services.clock.now()
    if window.previous is not None:
        first = min(first, window.previous.first_position)
        last = max(last, window.previous.last_position)
        # The latest summary is used, so it must be newer even if the clock went back.
        made_at = max(made_at, window.previous.created_at + timedelta(microseconds=1))
    summary = Summary(
        id=services.clock.new_id(),
        conversation_id=window.conversation.id,
        mode=settings.mode,
        content=text,
        first_position=first,
        last_position=last,
        tokens=count(text),
        made_by=made_by,
        created_at=made_at,
    )
    return summary, notes


def _store_summary(window: _Window, plan: CompactionPlan, summary: Summary, tables: Tables) -> bool:
    """Store the summary unless messages or summaries changed since the window was read."""
    require_conversation(tables, window.conversation.id)
    ids = [message.id for message in plan.evicted]
    if tables.messages.get_many(ids) != list(plan.evicted):
        return False
    latest = tables.conversations.summaries(window.conversation.id)
    before = window.previous.id if window.previous else None
    if (latest[-1].id if latest else None) != before:
        return False
    tables.conversations.add_summary(summary)
    tables.messages.mark_summarized(ids, summary.id)
    return True
