"""
Score and rank candidates: the part of gather → score → threshold → rank that every search shares.

Memories, messages, blocks, files and skills differ in what they gather (`SearchIndex.search`) and
in their signals (signals.py); the threshold is in relevance_threshold.py. Pure: nothing here reads
a store. The same candidates and signals give the same hits in the same order.
"""

from collections.abc import Callable, Sequence

from recollect.domain.retrieval import NewerMemory
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.retrieval.signals import Signal
from recollect.store.search_index import SearchCandidate


@dataclass(slots=True, unsafe_hash=True)  # not frozen: see store/search_index.py
class RankedCandidate:
    """A candidate with its score, and the signals that its score comes from."""

    candidate: SearchCandidate
    score: float
    relevance: float = 0.0
    signals: tuple[Signal, ...] = ()
    in_time: bool = False  # of the time the query names
    replaces_id: str = ""  # the older memory that it is shown with
    contradicted_by: NewerMemory | None = None  # the newer memory that contradicts it

    @property
    def id(self) -> str:
        """The id of its record."""
        return self.candidate.record.id

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the query that it has."""
        return self.candidate.word_match.words if self.candidate.word_match else ()

    @property
    def parts(self) -> dict[str, float]:
        """The parts of the score by name. Computed on demand: most candidates are not returned."""
        parts = {s.name: round_score(s.part(self.candidate)) for s in self.signals if s.part}
        return {**parts, "relevance": round_score(self.relevance)}

    def descriptions(self) -> dict[str, str]:
        """Return what each signal says about the candidate, if it says anything."""
        texts = {signal.name: signal.describe(self.candidate) for signal in self.signals}
        return {name: text for name, text in texts.items() if text}


def rank(
    candidates: Sequence[SearchCandidate],
    signals: Sequence[Signal],
    *,
    admits: Callable[[SearchCandidate], bool],
    relevances: Sequence[float],
    secondary: Sequence[Signal] = (),
) -> list[RankedCandidate]:
    """
    Return the *candidates* that *admits* accepts, best first, always in the same order.

    *relevances* are those of the candidates, from `fuse`; *signals* are kept with each result to
    explain it. *secondary* signals weigh little: they decide between nearly equal ones. What is
    still equal is ordered by time and then by the order of writing, the newer first.
    """
    all_signals = (*signals, *secondary)
    rest = 1 - sum(signal.weight for signal in secondary)
    ranked = []
    for candidate, relevance in zip(candidates, relevances, strict=True):
        if not admits(candidate):
            continue
        score = rest * relevance + sum(s.weight * s.score(candidate) for s in secondary)
        ranked.append(RankedCandidate(candidate, round_score(score), relevance, all_signals))
    return sorted(ranked, key=sort_key)


def fuse(candidates: Sequence[SearchCandidate], signals: Sequence[Signal]) -> list[float]:
    """Return the relevance of each candidate between 0 and 1, from its signals and neighbours."""
    scores = [0.0] * len(candidates)
    for signal in signals:  # signal by signal: a sum for each candidate takes twice as long
        weight, score_of = signal.weight, signal.score
        scores = [score + weight * score_of(c) for score, c in zip(scores, candidates, strict=True)]
    scores = _add_adjacent_bonus(candidates, scores)
    if any(candidate.vector_match for candidate in candidates):
        return [min(max(score, 0.0), 1.0) for score in scores]
    highest = max(scores, default=0.0)
    scale = 1 / highest if highest > 0 else 0.0
    return [score * scale for score in scores]


def _add_adjacent_bonus(candidates: Sequence[SearchCandidate], scores: list[float]) -> list[float]:
    """Return *scores*, higher for records next to one of the best: answers have several parts."""
    order = sorted(range(len(scores)), key=lambda n: (-scores[n], -candidates[n].record.sequence))
    best = [candidates[n] for n in order[: constants.ADJACENT_TOP]]
    best_ids = {candidate.record.id for candidate in best}
    preceding_ids = {candidate.preceding_id for candidate in best}
    bonus = constants.ADJACENT_BONUS
    return [
        score + bonus * ((c.preceding_id in best_ids) + (c.record.id in preceding_ids))
        for c, score in zip(candidates, scores, strict=True)
    ]


def sort_key(ranked: RankedCandidate) -> tuple[float, float, int]:
    """Return the key that sorts the best first; among equals the newer."""
    record = ranked.candidate.record
    return (-ranked.score, -record.at.timestamp() if record.at else 0.0, -record.sequence)


def round_score(value: float) -> float:
    """Round to six places: beyond that floating-point sums may differ between machines."""
    return round(value, 6)


def as_sentence(reasons: Sequence[str]) -> str:
    """Return *reasons* as one sentence that begins with a capital letter."""
    sentence = "; ".join(reasons)
    return sentence[0].upper() + sentence[1:]
