"""
Rank memories by the time a query names: those observed then come first, or get a boost.

The rules are in time_query.py; this file reads the store for them. A query that names no time costs
nothing here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.retrieval import Filters, ResolvedQuery
from recollect.retrieval.rank import MemoryCandidate, RankedMemory
from recollect.retrieval.score_fusion import Relevance
from recollect.retrieval.search_candidates import Candidate, QueryVector, find_candidates
from recollect.retrieval.time_query import (
    SessionSpan,
    TimeQuery,
    TimeRange,
    boost_score,
    neighbour_session,
    parse_time_query,
    resolve_time_range,
    sample_evenly,
    split_sessions,
)
from recollect.store.protocol import Tables
from recollect.store.values import CandidateRow, Partition

RESTRICT_BELOW = 5_000  # if a time range has fewer memories, only those are searched
MAX_MOMENTS = 100_000  # to count sessions among; with more, a query names no session


@dataclass(frozen=True)
class TimeRanking:
    """The time that *query* names, applied to the memories it may see."""

    tables: Tables
    query: ResolvedQuery
    partitions: list[Partition]
    time_query: TimeQuery | None
    time_range: TimeRange | None

    def extra_candidates(
        self, vector: QueryVector | None, candidates: Sequence[MemoryCandidate]
    ) -> list[MemoryCandidate]:
        """Return memories from that time that are not in *candidates*, whatever their score."""
        if self.time_query is None or self.time_range is None or not self.time_query.topic:
            return []
        filters = self.time_range.narrow_memories(self.query.filters)
        moments = _timeline(self.tables, self.partitions, filters, most=RESTRICT_BELOW)
        pool = find_candidates(
            self.tables,
            self.query.text,
            self.partitions,
            lambda item_ids: self.tables.memories.candidate_rows(item_ids, filters),
            vector,
            limit=self.query.limit,
            among=None if moments is None else [item_id for _, item_id in moments],
        )
        known_ids = {candidate.item.item_id for candidate in candidates}
        return [new for new in pool.candidates if new.item.item_id not in known_ids]

    def admits(self, candidate: MemoryCandidate) -> bool:
        """Return whether *candidate* is of that time and shares a word: that is enough."""
        if self.time_range is None or candidate.word_match is None:
            return False
        return self.time_range.contains(candidate.item.observed_at)

    def reorder(self, ranked: list[RankedMemory]) -> list[RankedMemory]:
        """Return *ranked* with the memories of that time first, or with a boost."""
        if self.time_query is None:
            return ranked
        if self.time_query.session_step:
            time_range = self._neighbour_range(ranked, self.time_query.session_step)
            return self._put_first([], time_range, ranked) if time_range else ranked
        time_range, time = self.time_range, self.time_query.time
        if time_range is None or time is None:
            return ranked
        if self.time_query.include_all:
            return self._put_first(ranked if self.time_query.topic else [], time_range, ranked)
        boosted = [
            replace(memory, score=boost_score(memory.score, time), in_time=True)
            if time_range.contains(memory.candidate.item.observed_at)
            else memory
            for memory in ranked
        ]
        return sorted(boosted, key=lambda memory: -memory.score)

    def _put_first(
        self, best: list[RankedMemory], time_range: TimeRange, ranked: list[RankedMemory]
    ) -> list[RankedMemory]:
        """Return those of *best* in the range, then the others of it in order, then the rest."""
        filters = time_range.narrow_memories(self.query.filters)
        moments = _timeline(self.tables, self.partitions, filters, most=MAX_MOMENTS) or []
        sample = [item_id for _, item_id in sample_evenly(moments, self.query.limit)]
        first = [
            replace(memory, score=1.0, in_time=True)
            for memory in best
            if time_range.contains(memory.candidate.item.observed_at)
        ]
        ranked_ids = {memory.candidate.item.item_id for memory in first}
        rows = {row.item_id: row for row in self.tables.memories.candidate_rows(sample, filters)}
        new = rows.keys() - ranked_ids
        first += [_unscored_memory(rows[item_id]) for item_id in sample if item_id in new]
        ranked_ids |= rows.keys()
        return first + [m for m in ranked if m.candidate.item.item_id not in ranked_ids]

    def _neighbour_range(self, ranked: list[RankedMemory], step: int) -> TimeRange | None:
        if not ranked:
            return None
        sessions = _sessions(self.tables, self.query, self.partitions)
        return neighbour_session(ranked[0].candidate.item.observed_at, sessions, step)


def time_ranking_for(
    tables: Tables, query: ResolvedQuery, partitions: list[Partition]
) -> TimeRanking:
    """Return the ranking by the time that *query* names, resolved against visible memories."""
    time_query = parse_time_query(query.text, asked_at=query.asked_at)
    if time_query is None or time_query.time is None:
        return TimeRanking(tables, query, partitions, time_query, None)
    sessions = _sessions(tables, query, partitions) if time_query.time.session_count else []
    time_range = resolve_time_range(time_query.time, sessions)
    return TimeRanking(tables, query, partitions, time_query, time_range)


def _sessions(
    tables: Tables, query: ResolvedQuery, partitions: list[Partition]
) -> list[SessionSpan]:
    moments = _timeline(tables, partitions, query.filters, most=MAX_MOMENTS) or []
    return split_sessions([at for at, _ in moments], asked_at=query.asked_at)


def _timeline(
    tables: Tables, partitions: list[Partition], filters: Filters, *, most: int
) -> list[tuple[datetime, int]] | None:
    owners = [partition.owner for partition in partitions]
    return tables.memories.timeline(owners, filters, limit=most)


def _unscored_memory(row: CandidateRow) -> RankedMemory:
    candidate = Candidate(row, None, None)
    return RankedMemory(candidate, 1.0, Relevance(0.0, 0.0, 0.0), 0.0, in_time=True)
