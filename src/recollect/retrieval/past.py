"""
Memories by the time a question names: what was observed then comes first, or is lifted.

The rules are in temporal.py; this file reads the store for them. A question that names no time
costs nothing here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.retrieval import Asking, Filters
from recollect.retrieval.candidates import Candidate, Meaning, gather
from recollect.retrieval.fuse import Relevance
from recollect.retrieval.rank import Ranked
from recollect.retrieval.temporal import (
    Stretch,
    Then,
    Timed,
    lifted,
    neighbour,
    sessions_among,
    spread,
    stretch_meant,
    timed,
)
from recollect.store.protocol import Tables
from recollect.store.values import Shelf, Standing

FEW = 5_000  # memories of a stretch: the legs are told which, instead of searching all
MANY = 100_000  # moments that sessions are counted among; of more the question names no session


@dataclass(frozen=True)
class Past:
    """The time *asking* names, against the memories it may see."""

    tables: Tables
    asking: Asking
    shelves: Sequence[Shelf]
    timed: Timed | None
    then: Then | None

    def more(
        self, meaning: Meaning | None, known: Sequence[Candidate[Standing]]
    ) -> list[Candidate[Standing]]:
        """Return candidates of that time which are not *known*; elsewhere they may be too weak."""
        if self.timed is None or self.then is None or not self.timed.query:
            return []
        filters = self.then.narrow_memories(self.asking.filters)
        moments = _timeline(self.tables, self.shelves, filters, most=FEW)
        found = gather(
            self.tables,
            self.asking.query,
            self.shelves,
            lambda seqs: self.tables.memories.standings(seqs, filters),
            meaning,
            limit=self.asking.limit,
            among=None if moments is None else [seq for _, seq in moments],
        )
        seen = {candidate.standing.seq for candidate in known}
        return [one for one in found.candidates if one.standing.seq not in seen]

    def speaks_for(self, candidate: Candidate[Standing]) -> bool:
        """Say whether *candidate* is of that time and shares a word: the time says as much."""
        if self.then is None or candidate.words is None:
            return False
        return self.then.holds(candidate.standing.observed_at)

    def preferred(self, ranked: list[Ranked]) -> list[Ranked]:
        """Return *ranked* with what was observed then before the rest, or lifted."""
        if self.timed is None:
            return ranked
        if self.timed.beside:
            then = self._beside(ranked, self.timed.beside)
            return self._listed([], then, ranked) if then else ranked
        then, when = self.then, self.timed.when
        if then is None or when is None:
            return ranked
        if self.timed.whole:
            return self._listed(ranked if self.timed.query else [], then, ranked)
        scored = [
            replace(one, score=lifted(one.score, when), in_time=True)
            if then.holds(one.candidate.standing.observed_at)
            else one
            for one in ranked
        ]
        return sorted(scored, key=lambda one: -one.score)

    def _listed(self, best: list[Ranked], then: Then, ranked: list[Ranked]) -> list[Ranked]:
        """Return what was observed then, of *best* first, in order of time, then the rest."""
        filters = then.narrow_memories(self.asking.filters)
        moments = _timeline(self.tables, self.shelves, filters, most=MANY) or []
        chosen = [seq for _, seq in spread(moments, self.asking.limit)]
        first = [one for one in best if then.holds(one.candidate.standing.observed_at)]
        known = {one.candidate.standing.seq for one in first}
        standings = {one.seq: one for one in self.tables.memories.standings(chosen, filters)}
        listed = [replace(one, score=1.0, in_time=True) for one in first]
        listed += [_observed(standings[seq]) for seq in chosen if seq in standings.keys() - known]
        known |= standings.keys()
        return listed + [one for one in ranked if one.candidate.standing.seq not in known]

    def _beside(self, ranked: list[Ranked], step: int) -> Then | None:
        if not ranked:
            return None
        sessions = _sessions(self.tables, self.asking, self.shelves)
        return neighbour(ranked[0].candidate.standing.observed_at, sessions, step)


def past_of(tables: Tables, asking: Asking, shelves: Sequence[Shelf]) -> Past:
    """Return the time that *asking* names, as far as what it may see gives it a meaning."""
    found = timed(asking.query, asked_at=asking.asked_at)
    if found is None or found.when is None:
        return Past(tables, asking, shelves, found, None)
    sessions = _sessions(tables, asking, shelves) if found.when.count else []
    return Past(tables, asking, shelves, found, stretch_meant(found.when, sessions))


def _sessions(tables: Tables, asking: Asking, shelves: Sequence[Shelf]) -> list[Stretch]:
    moments = _timeline(tables, shelves, asking.filters, most=MANY) or []
    return sessions_among([at for at, _ in moments], asked_at=asking.asked_at)


def _timeline(
    tables: Tables, shelves: Sequence[Shelf], filters: Filters, *, most: int
) -> list[tuple[datetime, int]] | None:
    return tables.memories.timeline([shelf.owner for shelf in shelves], filters, most=most)


def _observed(standing: Standing) -> Ranked:
    candidate = Candidate(standing, None, None)
    return Ranked(candidate, 1.0, Relevance(0.0, 0.0, 0.0), 0.0, in_time=True)
