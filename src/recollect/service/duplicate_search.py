"""
Find near-duplicates of candidates: among the other candidates, and among active memories.

Two ways. `find_duplicates` asks the word index for the most similar memories of the same owner and
compares only those; it is what a reviewer is shown. `duplicate_ids` compares a candidate with every
candidate of its owner and type, because a decision is about all of them; it reads their texts, not
the whole records. `engine/inbox_duplicates.py` has the rules of similarity.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from recollect.domain.candidate_scope import may_merge
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.scope import Owner, Scope
from recollect.lazy_dataclass import dataclass
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.store.search_index import NeighbourQuery
from recollect.text.fingerprint import fingerprint

MAX_NEIGHBOURS = 8  # memories with similar words that a candidate is compared with
MAX_POSTINGS = 500  # of its rarest words: a near-duplicate has most of the words
EVERYWHERE = Owner(Scope.GLOBAL, "")


@dataclass(frozen=True)
class Duplicates:
    """The near-duplicates of a candidate."""

    waiting: tuple[Memory, ...] = ()  # other candidates that are decided together with it
    active: Memory | None = None  # of the same owner, or global


NO_DUPLICATES = Duplicates()


def find_duplicates(
    tables: Tables, memories: Sequence[Memory], *, single_user: bool
) -> Mapping[str, Duplicates]:
    """Return the near-duplicates of each memory, by its id."""
    # Imported here, because only a review needs the rules of similarity.
    from recollect.engine.inbox_duplicates import are_duplicates, can_be_duplicates

    compared = [memory for memory in memories if memory.type is not MemoryType.EPISODE]
    neighbours = _neighbour_ids(tables, compared)
    texts = tables.memories.contents(sorted({id_ for ids in neighbours for id_ in ids}))
    similar = {
        memory.id: [
            other_id
            for other_id in sorted(ids)
            if other_id != memory.id
            and can_be_duplicates(memory.content, texts[other_id])
            and are_duplicates(memory.content, texts[other_id])
        ]
        for memory, ids in zip(compared, neighbours, strict=True)
    }
    loaded = tables.memories.get_many(sorted({id_ for ids in similar.values() for id_ in ids}))
    by_id = {other.id: other for other in loaded}
    return {
        memory.id: _classify(
            memory,
            [
                other
                for other_id in similar[memory.id]
                if may_merge(memory, other := by_id[other_id], single_user=single_user)
            ],
        )
        for memory in compared
    }


def active_duplicate(tables: Tables, memory: Memory, *, single_user: bool) -> Memory | None:
    """Return an active memory, of the same owner or global, that says the same."""
    duplicates = find_duplicates(tables, [memory], single_user=single_user)
    return duplicates.get(memory.id, NO_DUPLICATES).active


def duplicate_ids(services: Services, memories: Iterable[Memory]) -> Mapping[str, list[str]]:
    """Return, for each candidate, the ids of the candidates that are decided together with it."""
    partitions: dict[tuple[Owner, MemoryType], list[Memory]] = defaultdict(list)
    for memory in memories:
        partitions[memory.owner, memory.type].append(memory)
    duplicates: dict[str, list[str]] = {}
    with services.store.read() as tables:
        for (owner, kind), members in partitions.items():
            texts = tables.memories.candidate_texts(owner, kind)
            for memory in members:
                single_user = services.settings.single_user
                duplicates[memory.id] = _group_of(tables, memory, texts, single_user=single_user)
    return duplicates


def count_sessions(tables: Tables, candidates: Sequence[Memory]) -> Mapping[str, int]:
    """Return in how many separate sessions each candidate was said."""
    several = [memory for memory in candidates if len(memory.evidence) > 1]
    source_ids = {evidence.source_id for memory in several for evidence in memory.evidence}
    session_of = {source_id: tables.sources.session_of(source_id) for source_id in source_ids}
    return {memory.id: len(memory.evidence) for memory in candidates} | {
        memory.id: len({session_of[evidence.source_id] for evidence in memory.evidence})
        for memory in several
    }


def _neighbour_ids(tables: Tables, memories: Sequence[Memory]) -> list[Iterable[str]]:
    """Return, for each memory, the ids of the memories it is compared with."""
    owners = [
        list(dict.fromkeys([memory.owner, EVERYWHERE, *_agent_owner(memory)]))
        for memory in memories
    ]
    texts = [
        (fingerprint(memory.content), owner)
        for memory, visible in zip(memories, owners, strict=True)
        for owner in visible
    ]
    same_words = iter(tables.memories.with_fingerprints(texts))
    queries = [
        NeighbourQuery(
            memory.content, visible, also=[id_ for _ in visible for id_ in next(same_words)]
        )
        for memory, visible in zip(memories, owners, strict=True)
    ]
    index = tables.search_index
    return list(index.neighbours(queries, limit=MAX_NEIGHBOURS, max_postings=MAX_POSTINGS))


def _agent_owner(memory: Memory) -> tuple[Owner, ...]:
    """Return the agent for which a candidate about the person may be kept."""
    if memory.scope is not Scope.GLOBAL or memory.agent_id is None:
        return ()
    return (Owner(Scope.AGENT, memory.agent_id),)


def _classify(memory: Memory, similar: Sequence[Memory]) -> Duplicates:
    same_type = [other for other in similar if other.type is memory.type]
    active = [other for other in same_type if other.status is Status.ACTIVE]
    waiting = (
        other
        for other in same_type
        if other.status is Status.INBOX
        and (other.owner, other.title, other.summary)
        == (memory.owner, memory.title, memory.summary)
    )
    return Duplicates(tuple(waiting), active[0] if active else None)


def _group_of(
    tables: Tables,
    memory: Memory,
    texts: Sequence[tuple[str, str, str, str]],
    *,
    single_user: bool,
) -> list[str]:
    """Return the ids of the other candidates in the group of duplicates that has *memory*."""
    from recollect.engine.inbox_duplicates import (
        can_be_duplicates,
        group_duplicates,
        review_order,
    )

    similar = [
        other_id
        for other_id, title, summary, content in texts
        if (title, summary) == (memory.title, memory.summary)
        and can_be_duplicates(memory.content, content)
    ]
    candidates = tables.memories.get_many([memory.id, *(set(similar) - {memory.id})])
    sessions = count_sessions(tables, candidates)
    ranked = sorted(candidates, key=lambda other: review_order(other, sessions[other.id]))
    for group in group_duplicates(ranked, single_user=single_user):
        ids = [other.id for other in (group.representative, *group.duplicates)]
        if memory.id in ids:
            return [other_id for other_id in ids if other_id != memory.id]
    return []
