"""Explain a memory (its evidence, links and changes) or a logged retrieval, by its id."""

from dataclasses import replace

from recollect.domain.retrieval import MemoryExplanation, Retrieval
from recollect.errors import NotFound
from recollect.service.retrieval_log import FLUSH_S
from recollect.service.services import Services
from recollect.wire.requests.recollect import ExplainRequest


def explain(services: Services, request: ExplainRequest) -> MemoryExplanation | Retrieval:
    """Return the evidence, links and changes of a memory, or a logged retrieval."""
    queued = services.store.queued_retrieval(request.some_id)
    if queued is not None:
        return queued
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        retrieval = tables.retrievals.get(request.some_id)
        if retrieval is not None:
            return retrieval
        memory = tables.memories.get(request.some_id)
        if memory is None:
            raise NotFound(
                f"{request.some_id!r} is neither a memory nor a retrieval of this store"
                + _retention_hint(services)
            )
        explanation = MemoryExplanation(
            memory=memory,
            sources=tuple(tables.sources.of_memory(memory.id)),
            links=tuple(tables.links.of_memory(memory.id)),
            changes=tuple(tables.memories.changes(memory.id)),
            shown_in=tables.retrievals.times_returned(memory.id),
        )
    return replace(explanation, text=_describe(explanation))


def _describe(explanation: MemoryExplanation) -> str:
    memory = explanation.memory
    lines = [
        f"{memory.type} memory of {memory.scope} scope, {memory.status}, "
        f"confidence {memory.confidence:g}, observed {memory.observed_at:%Y-%m-%d %H:%M} UTC."
    ]
    for evidence in memory.evidence:
        quote = evidence.quote if len(evidence.quote) <= 200 else evidence.quote[:199] + "…"
        span = f"{evidence.start}–{evidence.end}"
        lines.append(f"Rests on “{quote}” (source {evidence.source_id}, {span}).")
    for link in explanation.links:
        subject = "It" if link.from_id == memory.id else f"Memory {link.from_id}"
        target = "this" if link.to_id == memory.id else f"{link.to_kind} {link.to_id}"
        lines.append(f"{subject} {link.relation.replace('_', ' ')} {target}.")
    for change in explanation.changes:
        was = f"from {change.before} " if change.before else ""
        names_others = change.effects.caused_by or change.effects.superseded
        moved = f"{was}to {change.after} by {change.by}"
        what = f" ({change.action})" if names_others else ""
        why = f": {change.reason}" if change.reason else ""
        lines.append(f"{change.at:%Y-%m-%d %H:%M}: {moved}{what}{why}.")
    lines.append(f"Returned by {explanation.shown_in} of the retrievals in the log.")
    return "\n".join(lines)


def _retention_hint(services: Services) -> str:
    settings = services.settings
    limits = [
        f"{limit} {unit} (setting {name})"
        for limit, unit, name in (
            (settings.keep_retrievals_days, "days", "keep_retrievals_days"),
            (settings.keep_retrievals_mb, "MB", "keep_retrievals_mb"),
        )
        if limit
    ]
    return f"; retrievals are kept for {' and up to '.join(limits)}" if limits else ""
