"""
Compact a conversation: a summary stands for its older messages, which stay searchable for ever.

Deciding what leaves is context/compaction_plan.py, the summary itself context/summary, or the chat
model where one is configured. Here the window is read, the summary made outside of any transaction,
and all of it written at once, unless somebody else compacted in the meantime.
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
from recollect.domain.conversation import (
    Compacted,
    CompactionMode,
    Conversation,
    Message,
    Summary,
)
from recollect.engine.budgeted_chat import complete_within_budget
from recollect.service import inputs, window
from recollect.service.block_target import Place, known_conversation
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.token_counter import TokenCounter, counter_for

MADE_BY_EXTRACT = "extract"
TRIES = 3  # whoever is overtaken so often gives up, for then it is compacted


@dataclass(frozen=True)
class _Window:
    """A conversation's window as it was read."""

    conversation: Conversation
    agent: Agent | None
    messages: list[Message]
    previous: Summary | None
    other_tokens: int
    counter: TokenCounter


def compact(
    services: Services,
    conversation: object,
    *,
    window_tokens: object = None,
    mode: object = CompactionMode.SLIDING_WINDOW,
    keep_last: object = 10,
    threshold: object = 0.8,
    target: object = 0.5,
    summary_tokens: object = None,
    force: bool = False,
) -> Compacted | None:
    """Compact a conversation whose window is too full (or in any case); None if nothing leaves."""
    chosen = inputs.one_of("mode", CompactionMode, mode)
    for _ in range(TRIES):
        seen = _read(services, conversation)
        settings = CompactionSettings(
            window_tokens=window.window_tokens_of(window_tokens, seen.agent),
            threshold=inputs.share_of("threshold", threshold),
            mode=chosen,
            keep_last=inputs.count_of("keep_last", keep_last, least=0, most=10**6),
            target=inputs.share_of("target", target),
            summary_tokens=summary_tokens
            if summary_tokens is None
            else inputs.count_of("summary_tokens", summary_tokens, least=20, most=10**6),
        )
        used = seen.other_tokens
        if not force and not needs_compaction(seen.messages, settings=settings, other_tokens=used):
            return None
        plan = plan_compaction(seen.messages, settings=settings, other_tokens=used)
        if plan is None or not plan.evicted:
            return None
        summary, notes = _summary(services, seen, plan, settings)
        if services.store.write(partial(_keep, seen, plan, summary)):
            return Compacted(
                summary=summary,
                evicted=len(plan.evicted),
                kept=len(plan.kept),
                reason=plan.reason,
                notes=notes,
            )
    return None


def _read(services: Services, conversation: object) -> _Window:
    with services.store.read() as tables:
        found = known_conversation(tables, conversation)
        agent = tables.agents.get(found.agent_id) if found.agent_id else None
        counter = counter_for(agent.model if agent else "")
        summaries = tables.conversations.summaries(found.id)
        messages = tables.messages.in_context(found.id)
    overview = window.overview(services, Place(conversation=found))
    return _Window(
        conversation=found,
        agent=agent,
        messages=messages,
        previous=summaries[-1] if summaries else None,
        other_tokens=overview.used - overview.messages,
        counter=counter,
    )


def _summary(
    services: Services, seen: _Window, plan: CompactionPlan, settings: CompactionSettings
) -> tuple[Summary, tuple[str, ...]]:
    previous = seen.previous.content if seen.previous else ""
    budget = settings.summary_budget
    count = seen.counter.count
    notes: tuple[str, ...] = ()
    text, made_by = None, MADE_BY_EXTRACT
    if services.engine.uses_chat:
        asked = summary_request(plan.evicted, previous=previous, budget_tokens=budget)
        if asked.omitted:
            # What the model cannot be shown at once it is told as a summary so far.
            hidden, shown = plan.evicted[: asked.omitted], plan.evicted[asked.omitted :]
            so_far = summarize(hidden, previous=previous, budget_tokens=budget, count=count)
            asked = summary_request(shown, previous=so_far, budget_tokens=budget)
        answer = complete_within_budget(
            services.engine,
            purpose="summary",
            system=asked.system,
            prompt=asked.prompt,
            max_tokens=asked.max_tokens,
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
    if seen.previous is not None:
        first = min(first, seen.previous.first_position)
        last = max(last, seen.previous.last_position)
        # The latest summary counts, whatever the clock of the machine says.
        made_at = max(made_at, seen.previous.created_at + timedelta(microseconds=1))
    summary = Summary(
        id=services.clock.new_id(),
        conversation_id=seen.conversation.id,
        mode=settings.mode,
        content=text,
        first_position=first,
        last_position=last,
        tokens=count(text),
        made_by=made_by,
        created_at=made_at,
    )
    return summary, notes


def _keep(seen: _Window, plan: CompactionPlan, summary: Summary, tables: Tables) -> bool:
    """Write it all, unless somebody compacted, pinned or deleted since the window was read."""
    known_conversation(tables, seen.conversation)
    ids = [message.id for message in plan.evicted]
    if tables.messages.get_many(ids) != list(plan.evicted):
        return False
    latest = tables.conversations.summaries(seen.conversation.id)
    before = seen.previous.id if seen.previous else None
    if (latest[-1].id if latest else None) != before:
        return False
    tables.conversations.add_summary(summary)
    tables.messages.mark_summarized(ids, summary.id)
    return True
