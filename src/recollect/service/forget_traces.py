"""
Remove the traces of deleted items: what was asked about them, and what was captured from them.

When a conversation or a file goes, its words stay in the log of retrievals, in saved searches, and
in the transcript that was captured from it. A logged query is blanked if it met a deleted item, or
if it has an uncommon word that only the deleted items have. Run this before the items are deleted:
the word index tells who has a word.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.domain.memory import MemoryType
from recollect.domain.scope import Owner, Scope
from recollect.lazy_dataclass import dataclass
from recollect.service.block_lookup import require_conversation
from recollect.service.erase_deleted import request_erasure
from recollect.service.forget import (
    FLUSH_S,
    QUERIES_BLANKED,
    drop_source,
    forget_memory,
    redact_texts,
)
from recollect.service.forget_plan import has_words, retrievals_with, views_with
from recollect.service.services import Services
from recollect.store.bounded_steps import StepBudget, run_in_steps
from recollect.store.protocol import Tables
from recollect.store.values import ItemWithWord, TextCell
from recollect.text.forgotten_words import ForgottenWords, uncommon_words

MAX_ITEMS = 200  # looked at for each word
IDS_AT_ONCE = 5_000
# Texts beside the items themselves in which their words may be repeated.
TRACE_TABLES = ("ingestion_events", "jobs", "memory_changes", "memory_links", "model_calls")


@dataclass(frozen=True)
class ItemsToDelete:
    """Items that will be deleted: by id, or as messages of some conversations."""

    ids: frozenset[str] = frozenset()
    conversation_ids: frozenset[str] = frozenset()

    def include(self, item: ItemWithWord) -> bool:
        """Return whether *item* is one of them."""
        return item.id in self.ids or item.conversation_id in self.conversation_ids


def remove_traces(services: Services, deleted: ItemsToDelete, removed: Counter[str]) -> None:
    """Blank the logged queries, and delete the saved searches, that only make sense with them."""
    services.store.flush_log(timeout_s=FLUSH_S)
    with services.store.read() as tables:
        words = ForgottenWords(words=frozenset(_words_only_in(tables, deleted)))
        deleted_ids = {*deleted.ids, *_retrieved_messages(tables, deleted)}
        retrievals = list(retrievals_with(tables, words, deleted_ids))
        views = list(views_with(tables, words))
        texts = [
            cell
            for table in TRACE_TABLES
            for cell in tables.texts.cells(table)
            if has_words(words, cell)
        ]

    def step(tables: Tables, budget: StepBudget) -> bool:
        request_erasure(tables, services.clock)
        while not budget.is_exhausted:
            if retrievals:
                removed[QUERIES_BLANKED] += tables.retrievals.scrub(
                    [retrievals.pop()], deleted_ids=deleted_ids
                )
            elif texts:
                redact_texts(tables, [texts.pop()], words, removed)
            else:
                for name in views:
                    removed["views"] += tables.retrievals.delete_view(name)
                return False
            budget.spend(rows=10)
        return True

    if retrievals or views or texts:
        run_in_steps(services.store, step)


def remove_conversation_traces(
    services: Services, conversation_ids: Sequence[str], *, agent_id: str | None = None
) -> tuple[Counter[str], list[str]]:
    """
    Remove the traces of conversations, and of an agent, that will be deleted.

    Return what was removed, and a line for each memory that stays.
    """
    removed: Counter[str] = Counter()
    with services.store.read() as tables:
        ids: set[str] = set()
        for conversation_id in conversation_ids:
            require_conversation(tables, conversation_id)
            ids.update(tables.conversations.own_memory_ids(conversation_id))
            for source_id in tables.sources.ids_of_session(conversation_id):
                ids.update(unreviewed_memories(tables, source_id))
        if agent_id is not None:
            ids.update(tables.agents.own_memory_ids(agent_id))
            owner = Owner(Scope.AGENT, agent_id)
            ids.update(block.id for block in tables.blocks.of_owner(owner))
    remove_traces(services, ItemsToDelete(frozenset(ids), frozenset(conversation_ids)), removed)
    lines = [
        line
        for conversation_id in conversation_ids
        for line in _forget_captures(services, conversation_id, removed)
    ]
    return removed, lines


def _forget_captures(services: Services, conversation_id: str, removed: Counter[str]) -> list[str]:
    """
    Remove what was captured from a conversation for its project; return what stays, in lines.

    Candidates nobody accepted and the session record go. An active memory that was learnt from it
    stays with its quote, and the rest of the transcript is blanked.
    """
    with services.store.read() as tables:
        left = tables.sources.ids_of_session(conversation_id)[::-1]
    lines: list[str] = []

    def step(tables: Tables, budget: StepBudget) -> bool:
        request_erasure(tables, services.clock)
        while left and not budget.is_exhausted:
            lines.extend(_forget_capture(tables, left.pop(), services, removed))
            budget.spend(rows=100)
        return bool(left)

    if left:
        run_in_steps(services.store, step)
    return lines


def _forget_capture(
    tables: Tables, source_id: str, services: Services, removed: Counter[str]
) -> list[str]:
    for memory_id in unreviewed_memories(tables, source_id):
        removed.update(forget_memory(tables, memory_id, services.clock).removed)
    for event in tables.sources.events_of(source_id):
        tables.agents.delete_event(event.id)
        removed["captures"] += 1
    return drop_source(tables, source_id, services.clock, removed)


def unreviewed_memories(tables: Tables, source_id: str) -> list[str]:
    """Return the ids of the unreviewed memories and session records that rest on a source alone."""
    quoting = sorted({quote.memory_id for quote in tables.sources.evidence_in(source_id)})
    return [
        memory.id
        for memory in tables.memories.get_many(quoting)
        if not memory.is_reviewed or memory.type is MemoryType.EPISODE
        if {quote.source_id for quote in memory.evidence} == {source_id}
    ]


def _words_only_in(tables: Tables, deleted: ItemsToDelete) -> Iterator[str]:
    """Yield the uncommon words of the log and the views that only deleted items have."""
    texts = [query for _, query in tables.retrievals.queries()]
    texts += [text for view in tables.retrievals.views() for text in (view.name, view.query)]
    texts += [cell.text for cell in _trace_cells(tables)]
    for word in uncommon_words(texts):
        items = tables.texts.items_with(word, limit=MAX_ITEMS)
        if items and all(map(deleted.include, items)):
            yield word


def _trace_cells(tables: Tables) -> Iterator[TextCell]:
    for table in TRACE_TABLES:
        yield from (cell for cell in tables.texts.cells(table) if not cell.is_json)


def _retrieved_messages(tables: Tables, deleted: ItemsToDelete) -> set[str]:
    """Return the ids of the deleted messages that a logged retrieval met."""
    if not deleted.conversation_ids:
        return set()
    conversations: Sequence[str] = sorted(deleted.conversation_ids)
    ids = sorted({some_id for _, met in tables.retrievals.result_ids() for some_id in met})
    messages: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        messages |= tables.texts.messages_among(ids[start : start + IDS_AT_ONCE], conversations)
    return messages
