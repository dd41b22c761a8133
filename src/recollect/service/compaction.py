"""
Compact a conversation: a summary replaces its older messages, which stay searchable.

context/compaction_plan.py decides which messages leave; context/summary, or the chat model if one
is configured, writes the summary. This file reads the window, has the summary written outside of
any transaction, and stores it, unless the conversation changed in the meantime.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from recollect.context.compaction_plan import (
    CompactionPlan,
    CompactionSettings,
    message_tokens,
    needs_compaction,
    next_position,
    plan_compaction,
    plan_oldest,
)
from recollect.context.summary.summarize import summarize
from recollect.context.summary.summary_prompt import parse_summary, summary_request
from recollect.context.tool_call_groups import is_user_speech
from recollect.domain.agent import Agent
from recollect.domain.conversation import (
    Compacted,
    CompactionMode,
    Conversation,
    Message,
    Summary,
)
from recollect.engine.budgeted_chat import complete_within_budget
from recollect.errors import RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.service.block_lookup import require_conversation
from recollect.service.context_window import measure_window, window_size
from recollect.service.services import Services
from recollect.store.bounded_steps import PAUSE_S
from recollect.store.protocol import Tables
from recollect.text.token_counter import TokenCounter, counter_for
from recollect.wire.requests.conversations import CompactConversationRequest
from recollect.wire.requests.shared import BlockPlaceFields

log = logging.getLogger(__name__)

MADE_BY_EXTRACT = "extract"
ROUND_MESSAGES = 2_000  # evicted in one transaction of a window that is far too full
MAX_LOOKED_BACK = 20_000  # messages, to find the user's last one
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
    oldest = _compact_oldest(services, request)
    rest = _compact_window(services, request)
    if oldest is None or rest is None:
        return rest or oldest
    evicted = oldest.evicted + rest.evicted
    reason = f"{evicted:,} messages leave, the oldest first. At the end: {rest.reason}"
    return replace(rest, evicted=evicted, reason=reason)


def compact_if_full(services: Services, new: Sequence[Message]) -> None:
    """
    Compact the conversation of *new* messages if they have filled its window.

    The language model is not asked: whoever appends a message must not wait for it. A failure is
    logged and nothing else, because the message is stored, and the next one tries again.
    """
    tokens = sum(map(message_tokens, new))
    if not new or not services.settings.auto_compaction:
        return
    conversation_id = new[0].conversation_id
    if not services.headroom.spend(conversation_id, tokens):
        return
    request = CompactConversationRequest(conversation=conversation_id)
    place = BlockPlaceFields(conversation=conversation_id)
    try:
        overview = measure_window(services, place)
        if overview.used > request.threshold * overview.window_tokens:
            _compact_oldest(services, request)
            _compact_window(services, request, use_chat=False)
            overview = measure_window(services, place)
        free = int(request.threshold * overview.window_tokens) - overview.used
        services.headroom.set_free(conversation_id, free)
    except RecollectError as error:
        log.warning("conversation %s was not compacted: %s", conversation_id, error)


def _compact_window(
    services: Services, request: CompactConversationRequest, *, use_chat: bool = True
) -> Compacted | None:
    """Compact a window that is read as a whole."""
    for _ in range(TRIES):
        window = _read_window(services, request.conversation)
        settings = _settings(services, request, window.agent)
        messages, used = window.messages, window.other_tokens
        is_full = needs_compaction(messages, settings=settings, other_tokens=used)
        if not is_full and not request.force:
            return None
        plan = plan_compaction(messages, settings=settings, other_tokens=used)
        if plan is None or not plan.evicted:
            return None
        summary, notes = _summarize(services, window, plan, settings, use_chat=use_chat)
        if services.store.write(partial(_store_summary, window, plan, summary)):
            return _compaction_result(summary, plan, notes)
    return None


def _compact_oldest(services: Services, request: CompactConversationRequest) -> Compacted | None:
    """
    Evict the oldest messages of a very large window in rounds, each one short transaction.

    A window of a million messages is never read as a whole, and nobody waits for more than one
    round. The last messages are left to `_compact_window`. The rounds use no language model.
    """
    with services.store.read() as tables:
        conversation = require_conversation(tables, request.conversation)
        left, tokens = tables.messages.context_size(conversation.id)
        if left < 2 * ROUND_MESSAGES:
            return None
        keep = _last_speech(tables, conversation.id)
    window = _read_window(services, conversation.id, limit=ROUND_MESSAGES)
    settings = _settings(services, request, window.agent)
    used = window.other_tokens + tokens
    if not request.force and used <= settings.threshold * settings.window_tokens:
        return None
    compacted: Compacted | None = None
    while left - len(window.messages) >= max(request.keep_last, ROUND_MESSAGES):
        plan = plan_oldest(window.messages, keep=keep)
        used -= sum(map(message_tokens, plan.evicted))
        is_enough = used < settings.target * settings.window_tokens
        if is_enough and settings.mode is CompactionMode.SLIDING_WINDOW:
            break
        previous = window.previous
        if plan.evicted:
            summary, notes = _summarize(services, window, plan, settings, use_chat=False)
            if not services.store.write(partial(_store_summary, window, plan, summary)):
                break  # somebody else compacts it
            so_far = compacted.evicted if compacted else 0
            compacted = _compaction_result(summary, plan, notes, evicted=so_far + len(plan.evicted))
            previous = summary
            time.sleep(PAUSE_S)
        left -= len(window.messages)
        start = next_position(window.messages)
        with services.store.read() as tables:
            messages = tables.messages.in_context_from(
                conversation.id, start=start, limit=ROUND_MESSAGES
            )
        window = replace(window, messages=messages, previous=previous)
    return compacted


def _last_speech(tables: Tables, conversation_id: str) -> int:
    """Return the position of the user's last message, -1 if it is not among the latest ones."""
    before = tables.messages.next_position(conversation_id)
    for _ in range(0, MAX_LOOKED_BACK, ROUND_MESSAGES):
        page = tables.messages.page_back(conversation_id, before=before, limit=ROUND_MESSAGES)
        for message in page:
            if is_user_speech(message):
                return message.position
        if not page:
            break
        before = page[-1].position
    return -1


def _settings(
    services: Services, request: CompactConversationRequest, agent: Agent | None
) -> CompactionSettings:
    return CompactionSettings(
        window_tokens=window_size(services, request.window_tokens, agent),
        threshold=request.threshold,
        mode=request.mode,
        keep_last=request.keep_last,
        target=request.target,
        summary_tokens=request.summary_tokens,
    )


def _compaction_result(
    summary: Summary, plan: CompactionPlan, notes: tuple[str, ...], *, evicted: int | None = None
) -> Compacted:
    return Compacted(
        summary=summary,
        evicted=len(plan.evicted) if evicted is None else evicted,
        kept=len(plan.remaining),
        reason=plan.reason,
        notes=notes,
    )


def _read_window(services: Services, conversation_id: str, *, limit: int | None = None) -> _Window:
    """Read the window of a conversation, or its oldest *limit* messages."""
    with services.store.read() as tables:
        conversation = require_conversation(tables, conversation_id)
        agent = tables.agents.get(conversation.agent_id) if conversation.agent_id else None
        summaries = tables.conversations.summaries(conversation.id)
        if limit is None:
            messages = tables.messages.in_context(conversation.id)
        else:
            messages = tables.messages.in_context_from(conversation.id, start=0, limit=limit)
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
    services: Services,
    window: _Window,
    plan: CompactionPlan,
    settings: CompactionSettings,
    *,
    use_chat: bool = True,
) -> tuple[Summary, tuple[str, ...]]:
    previous = window.previous.content if window.previous else ""
    budget = settings.summary_budget
    count = window.counter.count
    notes: tuple[str, ...] = ()
    text, made_by = None, MADE_BY_EXTRACT
    if use_chat and services.engine.uses_chat:
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
        text = summarize(
            plan.evicted,
            previous=previous,
            budget_tokens=budget,
            count=count,
            upcoming=plan.remaining,
        )
    text = text or previous or _count_text(len(plan.evicted))
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


def _count_text(count: int) -> str:
    return "one message that says little" if count == 1 else f"{count} messages that say little"


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
