"""
Rank memories by the time a query names: those observed then come first, or get a boost.

The rules are in time_query.py; this file reads the store for them. A query that names no time costs
nothing here.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.domain.retrieval import Filters, ResolvedQuery
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.retrieval.pipeline import RankedCandidate
from recollect.retrieval.signals import Signal
from recollect.retrieval.time_query import (
    SessionSpan,
    TimeQuery,
    TimeRange,
    adjacent_session,
    boost_score,
    parse_time_query,
    resolve_time_range,
    sample_evenly,
    split_sessions,
)
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery, SearchCandidate


@dataclass(frozen=True)
class TimeRanking:
    """The time that *query* names, applied to the memories it may see."""

    tables: Tables
    query: ResolvedQuery
    index_query: IndexQuery
    time_query: TimeQuery | None
    time_range: TimeRange | None
    signals: tuple[Signal, ...]

    def extra_candidates(self, candidates: Sequence[SearchCandidate]) -> list[SearchCandidate]:
        """Return memories from that time that are not in *candidates*, whatever their score."""
        if self.time_query is None or self.time_range is None or not self.time_query.topic:
            return []
        filters = self.time_range.narrow_memories(self.query.filters)
        index_query = replace(
            self.index_query,
            filters=filters,
            within_time_range=True,
            use_preceding=False,
            others=None,
        )
        known_ids = {candidate.record.id for candidate in candidates}
        new = self.tables.search_index.search(index_query).candidates
        return [candidate for candidate in new if candidate.record.id not in known_ids]

    def admits(self, candidate: SearchCandidate) -> bool:
        """Return whether *candidate* is of that time and shares a word: that is enough."""
        if self.time_range is None or candidate.word_match is None:
            return False
        return _is_in(self.time_range, candidate)

    def reorder(self, ranked: list[RankedCandidate]) -> list[RankedCandidate]:
        """Return *ranked* with the memories of that time first, or with a boost."""
        if self.time_query is None:
            return ranked
        if self.time_query.session_step:
            time_range = self._adjacent_range(ranked, self.time_query.session_step)
            return self._put_first([], time_range, ranked) if time_range else ranked
        time_range, time = self.time_range, self.time_query.time
        if time_range is None or time is None:
            return ranked
        if self.time_query.include_all:
            return self._put_first(ranked if self.time_query.topic else [], time_range, ranked)
        boosted = [
            replace(memory, score=boost_score(memory.score, time), in_time=True)
            if _is_in(time_range, memory.candidate)
            else memory
            for memory in ranked
        ]
        return sorted(boosted, key=lambda memory: -memory.score)

    def _put_first(
        self, best: list[RankedCandidate], time_range: TimeRange, ranked: list[RankedCandidate]
    ) -> list[RankedCandidate]:
        """Return those of *best* in the range, then the others of it in order, then the rest."""
        filters = time_range.narrow_memories(self.query.filters)
        moments = self._timeline(filters)
        sample = [memory_id for _, memory_id in sample_evenly(moments, self.query.limit)]
        first = [
            replace(memory, score=1.0, in_time=True)
            for memory in best
            if _is_in(time_range, memory.candidate)
        ]
        ranked_ids = {memory.id for memory in first}
        records = {
            record.id: record for record in self.tables.search_index.records(sample, filters)
        }
        new = records.keys() - ranked_ids
        first += [
            RankedCandidate(
                SearchCandidate(records[memory_id]), 1.0, 0.0, self.signals, in_time=True
            )
            for memory_id in sample
            if memory_id in new
        ]
        ranked_ids |= records.keys()
        return first + [memory for memory in ranked if memory.id not in ranked_ids]

    def _adjacent_range(self, ranked: list[RankedCandidate], step: int) -> TimeRange | None:
        at = ranked[0].candidate.record.at if ranked else None
        return None if at is None else adjacent_session(at, self._sessions(), step)

    def _sessions(self) -> list[SessionSpan]:
        moments = self._timeline(self.query.filters)
        return split_sessions([at for at, _ in moments], asked_at=self.query.asked_at)

    def _timeline(self, filters: Filters) -> list[tuple[datetime, str]]:
        index_query = replace(self.index_query, filters=filters)
        limit = constants.MAX_MOMENTS
        return self.tables.search_index.timeline(index_query, limit=limit) or []


def time_ranking_for(
    tables: Tables, query: ResolvedQuery, index_query: IndexQuery, signals: Sequence[Signal]
) -> TimeRanking:
    """
    Return the ranking by the time that *query* names, resolved against visible memories.

    *signals* are those of memories that are returned for their time alone.
    """
    time_query = parse_time_query(query.text, asked_at=query.asked_at)
    ranking = TimeRanking(tables, query, index_query, time_query, None, tuple(signals))
    if time_query is None or time_query.time is None:
        return ranking
    sessions = ranking._sessions() if time_query.time.session_count else []
    return replace(ranking, time_range=resolve_time_range(time_query.time, sessions))


def _is_in(time_range: TimeRange, candidate: SearchCandidate) -> bool:
    return candidate.record.at is not None and time_range.contains(candidate.record.at)
