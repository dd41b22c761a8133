"""
The memory search: a query in, ranked and explained hits out.

gather (both indexes, other projects, the time in the query) → score (signals) → threshold → rank
→ memories of the requested time first → newer facts first → explain

Everything here reads; the service writes the log. The same store and the same query give the same
hits in the same order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.domain.link import LinkedMemory
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit, Parts, ResolvedQuery
from recollect.domain.scope import ItemKind
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.retrieval.cross_project import linked_candidates, other_owners, relevant_candidates
from recollect.retrieval.pipeline import RankedCandidate, as_sentence, fuse, rank
from recollect.retrieval.prefer_newer import asks_for_earlier, prefer_newer, with_newer_sides
from recollect.retrieval.related import RelatedMemories
from recollect.retrieval.relevance_threshold import ClosestMatch, Threshold
from recollect.retrieval.signals import index_signals, secondary_signals
from recollect.retrieval.time_ranking import time_ranking_for
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery, QueryVector, SearchCandidate
from recollect.text.answer_kind import expected_answer_kind
from recollect.text.fingerprint import fingerprint
from recollect.text.request_kind import asks_to_write_about_unknown, has_words_to_search
from recollect.text.speaker_intent import intended_speaker


@dataclass(frozen=True)
class MemorySearchResult:
    """The hits to return, how many passed the threshold, and the closest match if none did."""

    hits: tuple[Hit, ...]
    above_threshold: int
    closest: ClosestMatch | None = None
    related: RelatedMemories | None = None  # if the query asks for them


@dataclass(frozen=True)
class BestMemories:
    """The best candidates, newer facts first, with what was read for them."""

    candidates: list[RankedCandidate]
    memories: Mapping[str, Memory]  # by id, also those linked to the best if the query asks
    conflicts: Mapping[str, tuple[str, ...]]  # by id
    links: Mapping[str, tuple[LinkedMemory, ...]]  # by id, if the query asks


@dataclass(frozen=True)
class RankedMemories:
    """Every memory above the threshold, best first, and the closest match if there is none."""

    memories: list[RankedCandidate]
    threshold: Threshold
    closest: ClosestMatch | None = None
    candidates: Sequence[SearchCandidate] = ()  # also those below the threshold

    def is_weak(self, memory: RankedCandidate) -> bool:
        """Return whether *memory* is only the best there is, or is below the threshold."""
        if memory.in_time or (memory.replaces_id and not self.threshold.is_weak):
            return False
        return self.threshold.is_weak or not self.threshold.admits(memory.candidate)


def retrieve(
    tables: Tables, query: ResolvedQuery, vector: QueryVector | None
) -> MemorySearchResult:
    """Return the hits for *query*; without *vector*, by words alone."""
    ranked, loaded = rank_and_load(tables, query, vector)
    best, memories = loaded.candidates, loaded.memories
    if query.filters.only_said:
        best = _without_repeated_texts(best, memories)
    best = best[: query.limit]
    visible = _visible_conflicts(tables, query, loaded.conflicts, [memory.id for memory in best])
    hits = tuple(
        _hit(
            memory,
            memories[memory.id],
            visible.get(memory.id, ()),
            is_weak=ranked.is_weak(memory),
        )
        for memory in best
    )
    related = None
    if query.related:
        related = RelatedMemories(query=query, links=loaded.links, memories=memories)
    return MemorySearchResult(hits, len(ranked.memories), ranked.closest, related)


def rank_and_load(
    tables: Tables, query: ResolvedQuery, vector: QueryVector | None
) -> tuple[RankedMemories, BestMemories]:
    """
    Rank the memories that pass the threshold, and load the best of them; return both.

    Both are empty if the query asks for a kind of answer that no close match may hold.
    """
    ranked = rank_memories(tables, query, vector)
    loaded = load_best(tables, query, vector, ranked)
    kind = "" if query.below_threshold else expected_answer_kind(query.text)
    best = loaded.candidates
    if not kind or not best or any(memory.in_time for memory in best):
        return ranked, loaded
    texts = {id_: _text_of(memory) for id_, memory in loaded.memories.items()}
    if ranked.threshold.could_answer(kind, texts, [memory.candidate for memory in best]):
        return ranked, loaded
    threshold = replace(ranked.threshold, missing=kind)
    closest = threshold.closest(ranked.candidates)
    return RankedMemories([], threshold, closest, ranked.candidates), BestMemories([], {}, {}, {})


def _text_of(memory: Memory) -> str:
    return " ".join(filter(None, (memory.title, memory.content, memory.rationale)))


def load_best(
    tables: Tables,
    query: ResolvedQuery,
    vector: QueryVector | None,
    ranked: RankedMemories,
) -> BestMemories:
    """Return the best of *ranked*, newer facts first, with their memories and conflicts."""
    best = list(ranked.memories[: max(query.limit, constants.CONFLICT_TOP)])
    if not best:
        return BestMemories([], {}, {}, {})
    conflicts = tables.links.conflicts([memory.id for memory in best])
    if conflicts and not asks_for_earlier(query.text):
        usual = ranked.threshold.similarity_stats.mean
        best = with_newer_sides(best, conflicts, ranked.candidates, usual_similarity=usual)
    ids = [memory.id for memory in best]
    links = tables.links.linked_memories(ids) if query.related else {}
    linked_ids = {linked.id for some in links.values() for linked in some}
    every_id = [*ids, *sorted(linked_ids.difference(ids))]
    memories = {memory.id: memory for memory in tables.memories.get_many(every_id)}
    contents = {memory.id: memory.content for memory in memories.values()}
    best = prefer_newer(tables, best, query.text, vector, contents=contents, links=conflicts)
    return BestMemories(best, memories, conflicts, links)


def _without_repeated_texts(
    best: Sequence[RankedCandidate], memories: Mapping[str, Memory]
) -> list[RankedCandidate]:
    """Return *best* without unreviewed memories that repeat the words of a better one."""
    texts: set[str] = set()
    distinct = []
    for candidate in best:
        text = fingerprint(memories[candidate.id].content)
        if candidate.candidate.record.is_reviewed or text not in texts:
            distinct.append(candidate)
        texts.add(text)
    return distinct


def index_query_for(query: ResolvedQuery, vector: QueryVector | None) -> IndexQuery:
    """Return what the index is asked for *query*."""
    return IndexQuery(
        kind=ItemKind.MEMORY,
        text=query.text,
        vector=vector,
        owners=query.owners,
        scopes=query.scopes,
        filters=query.filters,
        limit=query.limit,
        use_preceding=not _asks_about_own_words(query.text),
        correct_spelling=True,
        others=other_owners(query),
    )


def rank_memories(
    tables: Tables, query: ResolvedQuery, vector: QueryVector | None
) -> RankedMemories:
    """Return every memory above the threshold, best first."""
    secondary = secondary_signals(query.asked_at)
    index_query = index_query_for(query, vector)
    time_ranking = time_ranking_for(tables, query, index_query, secondary)
    result = tables.search_index.search(index_query)
    candidates = list(result.candidates)
    if query.owners is not None:
        others = linked_candidates(tables, query, index_query)
        candidates = _merge(candidates, others + relevant_candidates(result.others))
    candidates += time_ranking.extra_candidates(candidates)
    threshold = Threshold.for_candidates(
        result,
        query.text,
        has_documents=True,
        weak_matches=has_words_to_search(query.text)
        and not asks_to_write_about_unknown(query.text, result.unknown_words),
        # "What did we do on Monday?" has no content word, and the time says what is meant.
        doubt_similarity=time_ranking.time_range is None,
    )
    if query.for_bundle and time_ranking.time_range is None:
        threshold = threshold.for_bundle()
    signals = index_signals(candidates, result.similarity_stats, visible_count=result.visible_count)
    relevances = [
        relevance * _trust_factor(candidate)
        for candidate, relevance in zip(candidates, fuse(candidates, signals), strict=True)
    ]
    memories = rank(
        candidates,
        signals,
        admits=lambda memory: (
            query.below_threshold or threshold.admits(memory) or time_ranking.admits(memory)
        ),
        relevances=relevances,
        secondary=secondary,
    )
    memories = time_ranking.reorder(memories)
    closest = None if memories else threshold.closest(candidates)
    return RankedMemories(memories, threshold, closest, candidates)


def _trust_factor(candidate: SearchCandidate) -> float:
    """Return how far the relevance of a candidate counts, by its origin and its review."""
    factor = 1.0 if candidate.reached == "visible" else constants.OTHER_PROJECT_FACTOR
    if candidate.record.is_reviewed:
        return factor
    least, most = constants.UNREVIEWED_FACTORS
    return factor * (least + (most - least) * candidate.record.confidence)


def _merge(
    candidates: list[SearchCandidate], others: Sequence[SearchCandidate]
) -> list[SearchCandidate]:
    """Return *candidates* and then those of *others* that are not among them, each once."""
    by_id = {candidate.record.id: candidate for candidate in candidates}
    for candidate in others:
        by_id.setdefault(candidate.record.id, candidate)
    return list(by_id.values())


def _visible_conflicts(
    tables: Tables, query: ResolvedQuery, conflicts: Mapping[str, tuple[str, ...]], ids: list[str]
) -> Mapping[str, tuple[str, ...]]:
    """Return which memories contradict those of *ids*, without those the caller may not see."""
    conflicts = {memory_id: conflicts[memory_id] for memory_id in ids if memory_id in conflicts}
    if query.owners is None or not conflicts:
        return conflicts
    other_ids = sorted({other_id for others in conflicts.values() for other_id in others})
    others = tables.memories.get_many(other_ids)
    visible = {
        other.id
        for other in others
        if other.owner in query.owners and query.filters.admits_user_of(other)
    } | set(ids)
    filtered = {
        memory_id: tuple(other_id for other_id in others if other_id in visible)
        for memory_id, others in conflicts.items()
    }
    return {memory_id: others for memory_id, others in filtered.items() if others}


def _hit(
    ranked: RankedCandidate, memory: Memory, conflicts: tuple[str, ...], *, is_weak: bool
) -> Hit:
    explanation = _explain(ranked, conflicts=len(conflicts))
    if ranked.contradicted_by is not None:
        explanation = f"{explanation[:-1]}; {ranked.contradicted_by.text}."
    return Hit(
        memory=memory,
        score=ranked.score,
        parts=Parts(**ranked.parts),
        explanation=f"Weak match. {explanation}" if is_weak else explanation,
        matched_words=ranked.words,
        reached=ranked.candidate.reached,
        conflicts=conflicts,
        is_weak=is_weak,
        contradicted_by=ranked.contradicted_by,
    )


def _explain(ranked: RankedCandidate, *, conflicts: int) -> str:
    """Return one sentence: matching words, similarity, scope, age, confidence, conflicts."""
    texts = ranked.descriptions()
    matches = [texts.pop(name) for name in ("keyword", "semantic") if name in texts]
    confidence = texts.pop("confidence", "")
    without_match = "is in the requested time range" if ranked.in_time else "is linked"
    reasons = [" and ".join(matches) or without_match, *texts.values()]
    if ranked.in_time and matches:
        reasons.append("in the requested time range")
    if confidence:
        reasons.append(confidence)
    if conflicts:
        reasons.append(f"in conflict with {conflicts} other" + ("s" if conflicts > 1 else ""))
    return as_sentence(reasons) + "."


def _asks_about_own_words(query: str) -> bool:
    """Return whether the query asks what a speaker said; a reply is not an answer to that."""
    is_short = len(query.split()) <= constants.MAX_QUESTION_WORDS
    return is_short and bool(intended_speaker(query))
