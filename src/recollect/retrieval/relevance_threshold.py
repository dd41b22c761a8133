"""
The relevance threshold: if no candidate passes it, a search returns nothing.

The score of a candidate is its similarity, minus a share of the mean similarity of the store (in a
store about one topic every item is somewhat similar), plus a bonus for the words it shares with the
query. If one candidate passes the threshold, the others need less: the second half of an answer is
often worded differently. The threshold is higher if the query contains names and none of them
occurs in the store. A candidate without an embedding only needs a word in common.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.retrieval.search_candidates import Candidate, CandidatePool
from recollect.store.values import SimilarityStats, VectorMatch
from recollect.text.query_names import names_in_query

# Chosen on one half of the unrelated questions of benchmarks/, confirmed on the other; but
# UNKNOWN_NAMES_PENALTY was chosen on both.
MIN_SCORE = 0.39  # of the best candidate
SLACK = 0.25  # subtracted for all candidates once one has passed
MEAN_SHARE = 0.6  # share of the mean similarity that is subtracted, if many items were measured
MEAN_SMOOTHING = 16  # items; with fewer than this, the mean may mostly be the answer itself
COVERAGE_BONUS = 0.15  # for a candidate that has every word of the query
LONG_DOCUMENT_BONUS = 0.09  # several chunks: only a part answers, so the similarity is lower
# A long query mentions several things, and no item is close to all of them. From SHORT_QUERY_WORDS
# on the threshold falls, and at LONG_QUERY_WORDS it is lower by LONG_QUERY_DISCOUNT.
SHORT_QUERY_WORDS, LONG_QUERY_WORDS, LONG_QUERY_DISCOUNT = 16, 30, 0.13
UNKNOWN_NAMES_PENALTY = 0.06  # added if the names in the query occur nowhere in the store
# Words alone can be enough: an embedder understands little of an identifier.
FULL_COVERAGE = 0.99  # of the query's weight
HIGH_COVERAGE, MIN_SIMILARITY = 0.8, 0.2


@dataclass(frozen=True)
class ClosestMatch:
    """The best candidate of a search in which none passed the threshold."""

    id: str
    score: float
    threshold: float
    reason: str  # why the threshold is higher than usual, or ''


@dataclass(frozen=True)
class Threshold:
    """Decides which candidates are relevant enough to be returned."""

    similarity_stats: SimilarityStats
    minimum: float
    has_documents: bool  # candidates may be documents of several chunks; long messages are not
    unknown_names: tuple[str, ...] = ()  # the names in the query, if none occurs in the store

    @classmethod
    def for_candidates(
        cls, pool: CandidatePool[Any], query: str, *, has_documents: bool
    ) -> "Threshold":
        """Return the threshold for *pool*: lowered by SLACK if a candidate passes without it."""
        length = (len(query.split()) - SHORT_QUERY_WORDS) / (LONG_QUERY_WORDS - SHORT_QUERY_WORDS)
        names = names_in_query(query) if pool.unknown_words else frozenset()
        unknown_names = tuple(sorted(names)) if names <= set(pool.unknown_words) else ()
        discount = LONG_QUERY_DISCOUNT * min(max(length, 0.0), 1.0)
        minimum = MIN_SCORE - discount + UNKNOWN_NAMES_PENALTY * bool(unknown_names)
        strict = cls(pool.similarity_stats, round(minimum, 6), has_documents, unknown_names)
        if any(strict.admits(candidate) for candidate in pool.candidates):
            return replace(strict, minimum=round(minimum - SLACK, 6))
        return strict

    def admits(self, candidate: Candidate[Any]) -> bool:
        """Return whether *candidate* passes."""
        if candidate.vector_match is None or candidate.reached == "linked":
            return candidate.word_match is not None  # a link already says that it matters here
        return self.score(candidate) >= self.minimum or _has_enough_words(candidate)

    def closest(self, candidates: Sequence[Candidate[Any]]) -> ClosestMatch | None:
        """Return the candidate with the highest score, of those that do not pass."""
        if not candidates:
            return None
        best = max(candidates, key=lambda c: (self.score(c), c.item.item_id))
        return ClosestMatch(best.item.id, round(self.score(best), 6), self.minimum, self.reason)

    @property
    def reason(self) -> str:
        """A sentence that says why the threshold is higher than usual, or ''."""
        names = ", ".join(f"“{name}”" for name in self.unknown_names)
        occurs = "occurs" if len(self.unknown_names) == 1 else "occur"
        return f" The threshold is higher because {names} {occurs} in no memory." if names else ""

    def score(self, candidate: Candidate[Any]) -> float:
        """Return the score of *candidate* that is compared with the threshold."""
        if candidate.vector_match is None:
            return 0.0
        return self.score_match(candidate.vector_match, candidate.coverage)

    def score_match(self, match: VectorMatch, coverage: float) -> float:
        """Return the score for a similarity and a share of the query's words."""
        stats = self.similarity_stats
        sample_weight = stats.sample_size / (stats.sample_size + MEAN_SMOOTHING)
        usual = MEAN_SHARE * sample_weight * max(stats.mean, 0.0)
        long = LONG_DOCUMENT_BONUS if self.has_documents and match.chunk_count > 1 else 0.0
        return match.similarity - usual + COVERAGE_BONUS * coverage + long

    def describe(self, match: VectorMatch, coverage: float) -> str:
        """Return text that compares the score of a match with the threshold."""
        return (
            f"Relevance {self.score_match(match, coverage):.2f}, threshold {self.minimum:.2f} "
            f"(similarity {match.similarity:.2f}, mean similarity in this store "
            f"{self.similarity_stats.mean:.2f}).{self.reason}"
        )


def _has_enough_words(candidate: Candidate[Any]) -> bool:
    match = candidate.vector_match
    is_similar = match is not None and match.similarity >= MIN_SIMILARITY
    return candidate.coverage >= (HIGH_COVERAGE if is_similar else FULL_COVERAGE)
