"""
The signals of a ranking: each scores a candidate, has a weight, and can describe itself.

Rank fusion loses how certain each index is, and with equal weights it drifts to the mean of the two
(docs/how-it-works/retrieval.md). So scores are fused, each on a scale on which a difference means
something, and each weighted by how far it can be trusted:

semantic    the similarity of a record's best chunk, in standard deviations above the mean
            similarity of the store. Models and stores differ in what is similar; the deviation
            accounts for that. A record of many chunks needs more: the best of many is similar by
            chance.
keyword     BM25 as a share of the best match, times how far the best match stands out: if ten
            records match about equally well, words do not distinguish them. A record of many chunks
            among short ones shares words by chance: its share counts for less.
preceding   the word score of the record just before: an answer leaves out the words of its
            question. A record of many chunks leaves out less, so this counts for less.
speaker     for messages of the speaker the query asks about.
scope, recency, confidence   decide between equally relevant memories.

A list of signals is all that a pipeline knows about scores: the parts of a hit, its explanation and
its score come from the same list.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from math import log2

from recollect.domain.memory import HALF_LIFE
from recollect.domain.scope import Scope
from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.store.search_index import SearchCandidate, SimilarityStats

SHOWN_WORDS = 6


def _nothing(_candidate: SearchCandidate) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One reason to rank a candidate higher."""

    name: str
    weight: float
    score: Callable[[SearchCandidate], float]  # times the weight, it is added to the relevance
    part: Callable[[SearchCandidate], float] | None = (
        None  # shown, between 0 and 1; None: not shown
    )
    describe: Callable[[SearchCandidate], str] = _nothing  # for the explanation; '' says nothing


@dataclass(frozen=True)
class WordScale:
    """The scale of the word scores of some candidates."""

    best: float  # the highest BM25
    trust: float  # from MIN_WORD_TRUST to 1: how far the best match stands out

    @classmethod
    def of(cls, candidates: Sequence[SearchCandidate]) -> "WordScale":
        """Return the scale of *candidates*."""
        scores = [match.score if (match := c.word_match) else 0.0 for c in candidates]
        descending = sorted(scores, reverse=True)
        best = descending[0] if descending else 0.0
        if best <= 0:
            return cls(0.0, 0.0)
        rank = constants.TRUST_RANK
        others = descending[rank - 1] if len(descending) >= rank else 0.0
        least = constants.MIN_WORD_TRUST
        return cls(best, least + (1 - least) * (1 - others / best))

    def share(self, candidate: SearchCandidate) -> float:
        """Return the word score of *candidate* as a share of the best one."""
        match = candidate.word_match
        return match.score / self.best if match and self.best else 0.0


def index_signals(
    candidates: Sequence[SearchCandidate], stats: SimilarityStats, *, visible_count: int = 0
) -> list[Signal]:
    """
    Return the signals of both indexes, on the scale of *candidates*.

    *visible_count* is how many records the query may see, 0 if that is not known. Among a few
    records one common word makes the best match, so words count only as far as it covers the query.
    """
    scale = WordScale.of(candidates)
    chunk_count = _chunk_counter(candidates)
    counts = sorted(map(chunk_count, candidates))
    short = counts[int(constants.SHORT_QUANTILE * len(counts))] if counts else 1.0

    def words(candidate: SearchCandidate) -> float:
        if candidate.word_match is None:
            return 0.0  # most candidates: the powers take time
        share: float = scale.share(candidate) ** constants.WORD_SHARE_POWER
        length: float = max(chunk_count(candidate) / short, 1.0) ** constants.LENGTH_POWER
        return scale.trust * share / length

    def preceding(candidate: SearchCandidate) -> float:
        if not scale.best or not candidate.preceding_score:
            return 0.0
        return scale.trust * candidate.preceding_score / (scale.best * chunk_count(candidate))

    doubt = 0.0  # of the words, in a small store where the best match lacks words of the query
    if visible_count:
        smallness = 1 / (1 + (visible_count / constants.SMALL_STORE_RECORDS) ** 2) / short
        coverage = max((candidate.coverage for candidate in candidates), default=0.0)
        doubt = smallness * (1 - coverage)
    signals = [
        Signal(
            name="keyword",
            weight=constants.WORD_WEIGHT * (1 - doubt),
            score=words,
            part=scale.share,
            describe=_describe_words,
        ),
        Signal(name="preceding", weight=constants.PRECEDING_WEIGHT, score=preceding),
    ]
    return [*signals, _vector_signal(candidates, scale, stats, doubt=doubt)]


def _vector_signal(
    candidates: Sequence[SearchCandidate],
    scale: WordScale,
    stats: SimilarityStats,
    *,
    doubt: float,
) -> Signal:
    deviations = {c.record.id: _deviation(c, stats) for c in candidates if c.vector_match}
    # A record not embedded yet gets the mean of those that match words.
    embedded = [c for c in candidates if c.vector_match]
    matching = [c for c in embedded if scale.share(c) > 0] or embedded
    mean = sum(deviations[c.record.id] for c in matching) / len(matching) if matching else 0.0
    return Signal(
        name="semantic",
        weight=constants.VECTOR_WEIGHT * (1 + constants.SMALL_STORE_VECTOR_BONUS * doubt),
        score=lambda candidate: deviations.get(candidate.record.id, mean),
        part=similarity,
        describe=_describe_similarity,
    )


def speaker_signal(role: str) -> Signal:
    """Return the signal for messages of the speaker that the query asks about; '' for none."""
    return Signal(
        name="speaker",
        weight=constants.SPEAKER_BONUS,
        score=lambda candidate: float(candidate.record.role == role),
    )


def secondary_signals(asked_at: datetime) -> list[Signal]:
    """Return the signals that decide between equally relevant memories."""

    def recency(candidate: SearchCandidate) -> float:
        record = candidate.record
        assert record.at is not None  # as every memory has
        assert record.type is not None
        age_s = max((asked_at - record.at).total_seconds(), 0.0)
        half_life_s: float = HALF_LIFE[record.type].total_seconds()
        return float(0.5 ** (age_s / half_life_s))

    def describe_age(candidate: SearchCandidate) -> str:
        assert candidate.record.at is not None
        return f"observed {_age((asked_at - candidate.record.at).days)}"

    def confidence(candidate: SearchCandidate) -> float:
        return candidate.record.confidence

    weight = constants.SECONDARY_WEIGHT
    return [
        Signal(
            name="scope",
            weight=weight,
            score=_scope_score,
            part=_scope_score,
            describe=_describe_origin,
        ),
        Signal(name="recency", weight=weight, score=recency, part=recency, describe=describe_age),
        Signal(
            name="confidence",
            weight=weight,
            score=confidence,
            part=confidence,
            describe=_describe_confidence,
        ),
    ]


def skill_signals() -> list[Signal]:
    """Return the signals of skills: few and short, so that nothing is normalised."""

    def words(candidate: SearchCandidate) -> float:
        return candidate.coverage

    def meaning(candidate: SearchCandidate) -> float:
        match = candidate.vector_match
        return candidate.coverage if match is None else max(match.similarity, 0.0)

    return [
        Signal(name="keyword", weight=constants.SKILL_WORD_WEIGHT, score=words, part=words),
        Signal(
            name="semantic", weight=constants.SKILL_VECTOR_WEIGHT, score=meaning, part=similarity
        ),
    ]


def similarity(candidate: SearchCandidate) -> float:
    """Return the similarity of *candidate* to the query, between 0 and 1."""
    match = candidate.vector_match
    return min(max(match.similarity, 0.0), 1.0) if match else 0.0


def _deviation(candidate: SearchCandidate, stats: SimilarityStats) -> float:
    """Return the standard deviations above the mean similarity, less the chunk penalty."""
    match = candidate.vector_match
    assert match is not None
    deviation = (match.similarity - stats.mean) / stats.stdev
    if match.chunk_count <= 1:
        return deviation
    return deviation - constants.CHUNK_PENALTY * log2(match.chunk_count)


def _chunk_counter(candidates: Sequence[SearchCandidate]) -> Callable[[SearchCandidate], float]:
    """Return a function: the number of chunks; of a record not embedded yet, the others' mean."""
    measured = [max(c.vector_match.chunk_count, 1) for c in candidates if c.vector_match]
    mean = sum(measured) / len(measured) if measured else 1.0

    def chunk_count(candidate: SearchCandidate) -> float:
        match = candidate.vector_match
        return mean if match is None else float(max(match.chunk_count, 1))

    return chunk_count


def _scope_score(candidate: SearchCandidate) -> float:
    owner = candidate.record.owner
    if candidate.reached != "visible" or owner is None:
        return 0.0
    return 0.5 if owner.scope is Scope.GLOBAL else 1.0


def _describe_words(candidate: SearchCandidate) -> str:
    if candidate.word_match is None:
        return ""
    words = ", ".join(f"“{word}”" for word in candidate.word_match.words[:SHOWN_WORDS])
    more = len(candidate.word_match.words) - SHOWN_WORDS
    return f"matches {words}" + (f" and {more} more words" if more > 0 else "")


def _describe_similarity(candidate: SearchCandidate) -> str:
    value = candidate.vector_match.similarity if candidate.vector_match else 0.0
    return f"its meaning is {_closeness(value)} (similarity {value:.2f})" if value > 0 else ""


def _describe_origin(candidate: SearchCandidate) -> str:
    if candidate.reached == "linked":
        return "of another project, linked to this one"
    if candidate.reached == "relevant":
        return "of another project, shown because it clearly answers the question"
    record = candidate.record
    assert record.owner is not None
    if not record.is_reviewed and record.at is not None:
        pasted = "" if record.is_typed else "perhaps pasted, "
        label = "said of" if record.is_of_past else "said on"
        return f"{label} {record.at:%Y-%m-%d}, {pasted}not reviewed"
    return f"{record.owner.scope} memory"


def _describe_confidence(candidate: SearchCandidate) -> str:
    confidence = candidate.record.confidence
    return f"confidence {confidence:.2f}" if confidence < 1 else ""


def _closeness(value: float) -> str:
    if value >= 0.6:
        return "very close"
    return "close" if value >= 0.4 else "somewhat related"


def _age(days: int) -> str:
    if days < 0:
        return "at a later time"
    if days < 1:
        return "today"
    if days < 60:
        return f"{days} day{'s' if days > 1 else ''} ago"
    return f"{days // 30} months ago" if days < 730 else f"{days // 365} years ago"
