"""
Forget a memory: remove it and its words from every table and index, and return a receipt.

What goes with it is decided in forget_plan.py. Messages, summaries, saved searches and the like are
redacted in bounded steps, so that other writers pass between them; the memory itself goes at last.
If that is interrupted, the memory is still there: forget it again. A source that was written for
this memory alone is deleted; in a captured one the words are blanked. Deleted content is
overwritten in the file, and the write-ahead log is truncated.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.clock import Clock
from recollect.domain.maintenance import Receipt
from recollect.domain.memory import Memory
from recollect.domain.scope import ItemKind, Owner
from recollect.domain.source import Source, SourceKind
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.service.erase_deleted import finish_erasure, request_erasure
from recollect.service.forget_plan import ForgetPlan, has_words, plan_forgetting, without_words
from recollect.service.forget_sources import BLANKED, blank_spans, occurrences
from recollect.service.services import Services
from recollect.service.write_memory import require_memory
from recollect.store.bounded_steps import StepBudget, iterate_steps
from recollect.store.protocol import Tables
from recollect.store.values import TextCell
from recollect.text.forgotten_words import ForgottenWords
from recollect.wire.requests.recollect import ForgetRequest

FLUSH_S = 1.0  # how long `forget` waits until the log has everything that it must look through
QUERIES_BLANKED = "retrieval queries blanked"
NO_WORDS = ForgottenWords()


def forget(services: Services, request: ForgetRequest) -> Receipt:
    """Remove a memory permanently; return what was removed and what could not be."""
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        plan = plan_forgetting(tables, request.memory_id)
    if request.dry_run:
        return _preview(services, plan)
    removed: Counter[str] = Counter()
    for _ in _redact_in_steps(services, plan, removed):
        pass
    lines = services.store.write(lambda tables: _forget_planned(tables, plan, services, removed))
    return Receipt(
        memory_id=plan.memory.id,
        forgotten_at=services.clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=(*lines, *plan.kept, *erase_and_list_copies(services)),
        rewritten=plan.rewritten,
    )


def erase_and_list_copies(services: Services) -> list[str]:
    """Erase deleted content from the files; return a line for each that may still hold it."""
    remaining = []
    if not finish_erasure(services):
        remaining.append(
            "the write-ahead log could not be emptied while another process reads; the server, or "
            "`recollect work --once`, does it when that process is done"
        )
    return remaining + copies_on_disk(services)


def copies_on_disk(services: Services) -> list[str]:
    """Return a line for each copy of the store that may hold what is forgotten."""
    file = services.store.file
    if file is None:
        return [
            "the database server keeps deleted rows until it vacuums its tables, and longer in its "
            "write-ahead log, replicas and backups; they expire as its administrator has decided"
        ]
    lines = [f"a copy taken before a change may hold it: {path}" for path in file.snapshots()]
    if folder := services.shared_folder():
        lines.append(
            f"other devices, and the files in {folder}, may hold it until each device has synced"
        )
    return lines


def forget_memory(
    tables: Tables,
    memory_id: str,
    clock: Clock,
    *,
    words: ForgottenWords = NO_WORDS,
    record_ids: Sequence[str] = (),
) -> Receipt:
    """
    Remove a memory and its sources inside the caller's transaction.

    In a source that stays, its quotes and *words* are blanked. Other texts and the log are left to
    the caller. *record_ids* are session records that are redacted in the same transaction.
    """
    request_erasure(tables, clock)
    memory = require_memory(tables, memory_id)
    sources = tables.sources.of_memory(memory.id)
    links = tables.links.of_memory(memory.id)
    linked = {end for link in links for end in (link.from_id, link.to_id)}
    for change in tables.memories.changes(memory.id):
        effects = change.effects
        linked.update((effects.caused_by, *effects.superseded, *effects.merged))
    tables.memories.remove_id_from_history(memory.id, sorted(linked - {memory.id, ""}))
    removed = Counter(tables.memories.delete(memory.id))
    now = clock.now()
    tables.tombstones.add(Tombstone(kind=DeletedKind.MEMORY, id=memory.id, deleted_at=now))
    remaining = []
    for source in sources:
        if not tables.sources.evidence_in(source.id) and source.kind is SourceKind.MANUAL:
            tables.sources.delete(source.id)  # it was written for this memory alone
            kind = DeletedKind.SOURCE
            tables.tombstones.add(
                Tombstone(kind=kind, id=source.id, sha256=source.sha256, deleted_at=now)
            )
            removed["sources"] += 1
            continue
        spans = _spans_of(memory, source, words)
        before = removed[BLANKED]
        quoting = blank_spans(
            tables, source, spans, clock=clock, removed=removed, redacted_ids=record_ids
        )
        if quoting:
            ids = ", ".join(sorted(quoting))
            remaining.append(
                f"source {source.id}: kept, another memory quotes the same words: {ids}"
            )
        elif removed[BLANKED] == before:
            remaining.append(f"source {source.id}: kept, nothing to blank")
    return Receipt(
        memory_id=memory.id,
        forgotten_at=clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=tuple(remaining),
    )


def _spans_of(memory: Memory, source: Source, words: ForgottenWords) -> list[tuple[int, int]]:
    quotes = [quote for quote in memory.evidence if quote.source_id == source.id]
    spans = [span for quote in quotes for span in occurrences(source.content, quote.quote)]
    return [*spans, *words.spans(source.content)]


def _redact_in_steps(services: Services, plan: ForgetPlan, removed: Counter[str]) -> Iterator[None]:
    """Redact what has the words of the plan, yielding between the transactions."""
    texts, retrievals = list(reversed(plan.texts)), list(reversed(plan.retrieval_ids))
    own_sources = {quote.source_id for quote in plan.memory.evidence}
    sources = [source_id for source_id in plan.source_ids if source_id not in own_sources]
    deleted_ids = set(plan.memory_ids)

    def step(tables: Tables, budget: StepBudget) -> bool:
        request_erasure(tables, services.clock)
        while not budget.is_exhausted:
            if texts:
                redact_texts(tables, texts.pop(), plan.words, removed)
            elif retrievals:
                removed[QUERIES_BLANKED] += tables.retrievals.scrub(
                    [retrievals.pop()], deleted_ids=deleted_ids
                )
            elif sources:
                _redact_source(tables, sources.pop(), plan, services.clock, removed)
            else:
                for name in plan.view_names:
                    removed["views"] += tables.retrievals.delete_view(name)
                return False
            budget.spend(rows=10)
        return True

    return iterate_steps(services.store, step)


def redact_texts(
    tables: Tables, cells: Sequence[TextCell], words: ForgottenWords, removed: Counter[str]
) -> None:
    """Remove *words* from texts of one row, as they are now."""
    current = [cell for cell in map(tables.texts.current, cells) if cell is not None]
    redacted = [without_words(words, cell) for cell in current if has_words(words, cell)]
    if redacted:
        tables.texts.overwrite(redacted)
        removed[f"{redacted[0].table.replace('_', ' ')} redacted"] += 1


def _redact_source(
    tables: Tables, source_id: str, plan: ForgetPlan, clock: Clock, removed: Counter[str]
) -> None:
    source = tables.sources.get(source_id)
    deleted_ids = set(plan.memory_ids)
    quoted = source is not None and tables.sources.evidence_in(source.id)
    if source is None or any(quote.memory_id in deleted_ids for quote in quoted or ()):
        return  # it is blanked together with the memory that quotes it
    spans = plan.words.spans(source.content)
    blank_spans(tables, source, spans, clock=clock, removed=removed, redacted_ids=plan.record_ids)


def _forget_planned(
    tables: Tables, plan: ForgetPlan, services: Services, removed: Counter[str]
) -> list[str]:
    """Remove the memories of a plan and redact the session records; return what stays, in lines."""
    lines: list[str] = []
    for memory_id in plan.memory_ids:
        if memory_id != plan.memory.id and tables.memories.get(memory_id) is None:
            continue
        receipt = forget_memory(
            tables, memory_id, services.clock, words=plan.words, record_ids=plan.record_ids
        )
        removed.update(receipt.removed)
        lines += receipt.kept
    records = set(plan.record_ids)
    if records:
        by_record: dict[str, list[TextCell]] = {}
        for cell in tables.texts.cells("memories"):
            if cell.key[0] in records:
                by_record.setdefault(str(cell.key[0]), []).append(cell)
        for cells in by_record.values():
            redact_texts(tables, cells, plan.words, removed)
    return lines


def _preview(services: Services, plan: ForgetPlan) -> Receipt:
    removed = Counter({"memories": len(plan.memory_ids), "views": len(plan.view_names)})
    removed[QUERIES_BLANKED] = len(plan.retrieval_ids)
    removed["memories redacted"] = len(plan.record_ids)
    removed["sources"] = len(plan.source_ids)
    for cells in plan.texts:
        removed[f"{cells[0].table.replace('_', ' ')} redacted"] += 1
    return Receipt(
        memory_id=plan.memory.id,
        forgotten_at=services.clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=(*plan.kept, *copies_on_disk(services)),
        rewritten=plan.rewritten,
        dry_run=True,
    )


def drop_partitions(tables: Tables, owner: Owner) -> None:
    """Remove everything of an owner from the indexes."""
    for kind in ItemKind:
        tables.search_index.drop(kind, owner)


def delete_captures(
    tables: Tables, events: Sequence[tuple[str, str | None]], clock: Clock, removed: Counter[str]
) -> list[str]:
    """
    Remove captures and their sources; return a line for each source that others use.

    Of a source that a memory still quotes only the quotes stay.
    """
    lines = []
    for event_id, _ in events:
        tables.agents.delete_event(event_id)
        removed["captures"] += 1
    for source_id in sorted({source_id for _, source_id in events if source_id}):
        if not tables.sources.events_of(source_id):  # or somebody else captured the same
            lines += drop_source(tables, source_id, clock, removed)
    return lines


def drop_source(tables: Tables, source_id: str, clock: Clock, removed: Counter[str]) -> list[str]:
    """Delete a source, or all of it that no memory quotes; return a line for each memory."""
    source = tables.sources.get(source_id)
    if source is None:
        return []
    if not tables.sources.evidence_in(source_id):
        tables.sources.delete(source_id)
        removed["sources"] += 1
        return []
    whole = [(0, len(source.content))]
    quoting = blank_spans(tables, source, whole, clock=clock, removed=removed)
    cells = [TextCell("sources", (source_id,), column, "") for column in ("title", "uri")]
    tables.texts.overwrite(cells)
    return [
        f"memory {memory_id} was learnt from it and stays with its quote"
        for memory_id in sorted(quoting)
    ]
