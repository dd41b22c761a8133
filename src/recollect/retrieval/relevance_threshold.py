"""
The relevance threshold: what a candidate needs to be returned.

The score of a candidate is its similarity, minus a share of the mean similarity of the store (in a
store about one topic every item is somewhat similar), plus a bonus for the words it shares with the
query. In a small store the threshold is lower: the best of a few unrelated records is less similar
by chance than the best of many. If one candidate passes the threshold, the others need less: the
second half of an answer is often worded differently. A long query lowers the threshold; names in
the query of which none occurs in the store raise it. A candidate passes without that score if it
has nearly all words of the query, and with one common word if it is linked or has no embedding.

If the model finds all records similar to the query, as an English model does with texts in other
languages, similarity says little. Then a candidate also needs a content word of the query, or a
similarity that stands out from what the best of so many records has by chance.

If nothing passes, a search for memories returns weak matches: those that pass a lower threshold.
Other searches return nothing then. A question for a number or a person gets nothing if no close
match has a number or may name somebody.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from recollect.lazy_dataclass import dataclass
from recollect.retrieval import ranking_constants as constants
from recollect.store.search_index import SearchCandidate, SearchResult, SimilarityStats, VectorMatch
from recollect.text.answer_kind import may_hold_answer
from recollect.text.gloss import is_glossed
from recollect.text.query_names import names_in_query
from recollect.text.search_words import is_content_word


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
    is_weak: bool = False  # nothing is relevant enough: what passes now is a weak match
    unknown_names: tuple[str, ...] = ()  # the names in the query, if none occurs in the store
    is_doubtful: bool = False  # the model finds all records similar, so similarity is not enough
    strict_minimum: float = 0.0  # what the best candidate needs not to be a weak match
    missing: str = ""  # the kind of answer that the query asks for, if no close match can hold it

    @classmethod
    def for_candidates(
        cls,
        pool: SearchResult,
        query: str,
        *,
        has_documents: bool,
        weak_matches: bool = False,
        doubt_similarity: bool = False,
    ) -> "Threshold":
        """
        Return the threshold for *pool*; if a candidate passes it, a lower one for all.

        If none passes and *weak_matches* are wanted, return a lower one that marks what passes.
        With *doubt_similarity*, similarity is not enough if all records are similar to the query.
        """
        length = (len(query.split()) - constants.SHORT_QUERY_WORDS) / (
            constants.LONG_QUERY_WORDS - constants.SHORT_QUERY_WORDS
        )
        names = names_in_query(query) if pool.unknown_words else frozenset()
        unknown_names = tuple(sorted(names)) if names <= set(pool.unknown_words) else ()
        discount = constants.LONG_QUERY_DISCOUNT * min(max(length, 0.0), 1.0)
        usual = (
            constants.MIN_SCORE - discount + constants.UNKNOWN_NAMES_PENALTY * bool(unknown_names)
        )
        minimum = round(usual - _small_store_discount(pool.similarity_stats), 6)
        strict = cls(
            pool.similarity_stats,
            minimum,
            has_documents,
            unknown_names=unknown_names,
            is_doubtful=doubt_similarity and _are_all_similar(pool),
            strict_minimum=minimum,
        )
        if any(strict.admits(candidate) for candidate in pool.candidates):
            slack = round(usual - constants.SLACK, 6)
            return replace(strict, minimum=slack, is_doubtful=False)
        if weak_matches:
            discount = (
                constants.GLOSSED_WEAK_DISCOUNT if is_glossed(query) else constants.WEAK_DISCOUNT
            )
            weak = round(max(minimum - discount, constants.MIN_WEAK_SCORE), 6)
            loose = replace(strict, minimum=weak, is_weak=True)
            if any(loose.admits(candidate) for candidate in pool.candidates):
                slack = round(weak - constants.WEAK_SLACK, 6)
                return replace(loose, minimum=slack, is_doubtful=False)
            return loose
        return strict

    def for_bundle(self) -> "Threshold":
        """
        Return the threshold for hits that are added to a prompt unasked: a higher one.

        Nothing that is far from answering passes because something else does; and if none of the
        names in the request occurs in the store, nothing weak passes.
        """
        slack = 0.0 if self.unknown_names else constants.BUNDLE_SLACK
        return replace(self, minimum=max(self.minimum, round(self.strict_minimum - slack, 6)))

    def admits(self, candidate: SearchCandidate) -> bool:
        """Return whether *candidate* passes."""
        if candidate.vector_match is None or candidate.reached == "linked":
            return candidate.word_match is not None  # a link already says that it matters here
        if self.is_doubtful and not self._is_distinct(candidate):
            return False
        return self.score(candidate) >= self.minimum or _has_enough_words(candidate)

    def closest(self, candidates: Sequence[SearchCandidate]) -> ClosestMatch | None:
        """Return the candidate with the highest score, or None; for a search without results."""
        if not candidates:
            return None
        best = max(candidates, key=lambda c: (self.score(c), c.record.sequence))
        return ClosestMatch(best.record.id, round(self.score(best), 6), self.minimum, self.reason)

    @property
    def reason(self) -> str:
        """A sentence that says why nothing passes, or the threshold is higher than usual, or ''."""
        if self.missing:
            return f" The query asks for a {self.missing}, and no close match names one."
        names = ", ".join(f"“{name}”" for name in self.unknown_names)
        occurs = "occurs" if len(self.unknown_names) == 1 else "occur"
        return f" The threshold is higher because {names} {occurs} in no memory." if names else ""

    def could_answer(
        self, kind: str, texts: Mapping[str, str], best: Sequence[SearchCandidate]
    ) -> bool:
        """
        Return whether one of the *best* that is close to the query may hold an answer of a kind.

        Close is what passes by itself, or is nearly as good as the best. *texts* are by id. What
        has all words of the query, or was not compared by meaning, counts whatever its text.
        """
        if any(c.vector_match is None or _has_enough_words(c) for c in best):
            return True
        highest = max(map(self.score, best), default=0.0)
        least = min(highest - constants.ANSWER_SLACK, self.strict_minimum)
        return any(
            self.score(c) >= least and may_hold_answer(kind, texts[c.record.id]) for c in best
        )

    def score(self, candidate: SearchCandidate) -> float:
        """Return the score of *candidate* that is compared with the threshold."""
        if candidate.vector_match is None:
            return 0.0
        return self.score_match(candidate.vector_match, candidate.coverage)

    def score_match(self, match: VectorMatch, coverage: float) -> float:
        """Return the score for a similarity and a share of the query's words."""
        long = (
            constants.LONG_DOCUMENT_BONUS if self.has_documents and match.chunk_count > 1 else 0.0
        )
        return (
            match.similarity - self._usual_similarity + constants.COVERAGE_BONUS * coverage + long
        )

    @cached_property
    def _usual_similarity(self) -> float:
        """The similarity that says nothing: a share of the mean in this store."""
        stats = self.similarity_stats
        sample_weight = stats.sample_size / (stats.sample_size + constants.MEAN_SMOOTHING)
        return constants.MEAN_SHARE * sample_weight * max(stats.mean, 0.0)

    def _is_distinct(self, candidate: SearchCandidate) -> bool:
        """Return whether more than a usual similarity speaks for *candidate*."""
        if candidate.word_match and any(map(is_content_word, candidate.word_match.words)):
            return True
        assert candidate.vector_match is not None
        stats = self.similarity_stats
        chance = _chance_maximum(stats.sample_size) + constants.STAND_OUT_DEVIATIONS
        return candidate.vector_match.similarity >= stats.mean + chance * stats.stdev

    def describe(self, match: VectorMatch, coverage: float) -> str:
        """Return text that compares the score of a match with the threshold."""
        return (
            f"Relevance {self.score_match(match, coverage):.2f}, threshold {self.minimum:.2f} "
            f"(similarity {match.similarity:.2f}, mean similarity in this store "
            f"{self.similarity_stats.mean:.2f}).{self.reason}"
        )


def _small_store_discount(stats: SimilarityStats) -> float:
    """Return how much less similar the best unrelated record is than in a store of usual size."""
    usual = _expected_maximum(constants.REFERENCE_RECORDS)
    difference = (usual - _expected_maximum(stats.sample_size)) * stats.stdev
    return min(max(difference, 0.0), constants.SMALL_STORE_DISCOUNT) if stats.sample_size else 0.0


def _expected_maximum(count: int) -> float:
    """Return about how many standard deviations the largest of *count* values is above the mean."""
    return math.sqrt(2 * math.log(max(count, 1)))


def _are_all_similar(pool: SearchResult) -> bool:
    """Return whether the records are similar to the query on average, without the best of them."""
    stats = pool.similarity_stats
    similarities = [c.vector_match.similarity for c in pool.candidates if c.vector_match]
    if stats.sample_size < constants.MIN_SAMPLE or not similarities:
        return False
    rest = stats.mean * stats.sample_size - max(similarities)
    return rest / (stats.sample_size - 1) > constants.ALL_SIMILAR_MEAN


def _chance_maximum(count: int) -> float:
    """Return the standard deviations that the largest of *count* normal values has on average."""
    usual = _expected_maximum(max(count, 3))
    return usual - (math.log(usual * usual / 2) + math.log(4 * math.pi)) / (2 * usual)


def _has_enough_words(candidate: SearchCandidate) -> bool:
    match = candidate.vector_match
    is_similar = match is not None and match.similarity >= constants.HIGH_COVERAGE_SIMILARITY
    return candidate.coverage >= (
        constants.HIGH_COVERAGE if is_similar else constants.FULL_COVERAGE
    )
