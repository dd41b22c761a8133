"""
The memory search pipeline: a query in, ranked and explained hits out.

filters → word index → vector index → other projects → score fusion → threshold → rank → time
→ newer facts first → explain

Everything here reads; the service writes the log. The same store and the same query give the same
hits in the same order.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.domain.retrieval import Hit, ResolvedQuery
from recollect.domain.scope import ItemKind
from recollect.retrieval.cross_project import linked_candidates, relevant_candidates
from recollect.retrieval.explain import explain
from recollect.retrieval.prefer_newer import prefer_newer
from recollect.retrieval.rank import MemoryCandidate, RankedMemory, rank
from recollect.retrieval.relevance_threshold import ClosestMatch, Threshold
from recollect.retrieval.score_fusion import fuse_scores
from recollect.retrieval.search_candidates import QueryVector, find_candidates
from recollect.retrieval.time_ranking import time_ranking_for
from recollect.store.protocol import Tables
from recollect.store.values import Partition
from recollect.text.speaker_intent import intended_speaker

MAX_QUESTION_WORDS = 25  # a longer text mostly tells something, and asks in passing


@dataclass(frozen=True)
class SearchResult:
    """The hits to return, how many passed the threshold, and the closest match if none did."""

    hits: tuple[Hit, ...]
    above_threshold: int
    closest: ClosestMatch | None = None


@dataclass(frozen=True)
class RankedCandidates:
    """Every memory above the threshold, best first, and the closest match if there is none."""

    memories: list[RankedMemory]
    threshold: Threshold
    closest: ClosestMatch | None = None


def retrieve(tables: Tables, query: ResolvedQuery, vector: QueryVector | None) -> SearchResult:
    """Return the hits for *query*; without *vector*, by words alone."""
    ranked = rank_candidates(tables, query, vector)
    best = ranked.memories[: query.limit]
    ids = [result.candidate.item.id for result in best]
    memories = {memory.id: memory for memory in tables.memories.get_many(ids)}
    conflicts = _visible_conflicts(tables, query, ids)
    hits = tuple(
        Hit(
            memory=memories[memory_id],
            score=result.score,
            parts=result.parts,
            explanation=explain(
                result, asked_at=query.asked_at, conflicts=len(conflicts.get(memory_id, ()))
            ),
            matched_words=result.candidate.word_match.words if result.candidate.word_match else (),
            reached=result.candidate.reached,
            conflicts=conflicts.get(memory_id, ()),
        )
        for memory_id, result in zip(ids, best, strict=True)
    )
    return SearchResult(hits, len(ranked.memories), ranked.closest)


def _visible_conflicts(
    tables: Tables, query: ResolvedQuery, ids: list[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return which memories contradict those of *ids*, without those the caller may not see."""
    conflicts = tables.links.conflicts(ids)
    if query.owners is None or not conflicts:
        return conflicts
    other_ids = sorted({other_id for others in conflicts.values() for other_id in others})
    others = tables.memories.get_many(other_ids)
    visible = {other.id for other in others if other.owner in query.owners} | set(ids)
    filtered = {
        memory_id: tuple(other_id for other_id in others if other_id in visible)
        for memory_id, others in conflicts.items()
    }
    return {memory_id: others for memory_id, others in filtered.items() if others}


def visible_partitions(tables: Tables, query: ResolvedQuery) -> list[Partition]:
    """Return the partitions that *query* may read."""
    partitions = tables.word_index.partitions(ItemKind.MEMORY, query.owners)
    return [partition for partition in partitions if partition.owner.scope in query.scopes]


def rank_candidates(
    tables: Tables, query: ResolvedQuery, vector: QueryVector | None
) -> RankedCandidates:
    """Return every memory above the threshold, best first."""
    partitions = visible_partitions(tables, query)
    time_ranking = time_ranking_for(tables, query, partitions)
    pool = find_candidates(
        tables,
        query.text,
        partitions,
        lambda item_ids: tables.memories.candidate_rows(item_ids, query.filters),
        vector,
        limit=query.limit,
        preceding=None if _asks_about_own_words(query.text) else tables.memories.preceding,
    )
    candidates = pool.candidates
    if query.owners is not None:
        item_ids = {candidate.item.item_id for candidate in candidates}
        others = linked_candidates(tables, query, partitions, vector)
        for candidate in others + relevant_candidates(tables, query, vector):
            if candidate.item.item_id not in item_ids:
                item_ids.add(candidate.item.item_id)
                candidates.append(candidate)
    candidates += time_ranking.extra_candidates(vector, candidates)
    relevances = fuse_scores(candidates, pool.similarity_stats)
    threshold = Threshold.for_candidates(pool, query.text, has_documents=True)

    def admits(candidate: MemoryCandidate) -> bool:
        return threshold.admits(candidate) or time_ranking.admits(candidate)

    memories = rank(candidates, relevances, query.asked_at, admits=admits)
    memories = time_ranking.reorder(memories)
    if not memories:
        return RankedCandidates([], threshold, threshold.closest(candidates))
    return RankedCandidates(prefer_newer(tables, memories, query.text, vector), threshold)


def _asks_about_own_words(query: str) -> bool:
    """Return whether the query asks what a speaker said; a reply is not an answer to that."""
    return bool(intended_speaker(query)) and len(query.split()) <= MAX_QUESTION_WORDS
