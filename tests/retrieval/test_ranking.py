"""Score fusion, the threshold, ranking and explanations, as tables of numbers."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect import MemoryType, Scope
from recollect.domain.conversation import Role
from recollect.domain.scope import Owner
from recollect.retrieval.pipeline import RankedCandidate, fuse, rank
from recollect.retrieval.ranking_constants import (
    ADJACENT_BONUS,
    CHUNK_PENALTY,
    LENGTH_POWER,
    LONG_QUERY_DISCOUNT,
    LONG_QUERY_WORDS,
    MEAN_SHARE,
    MEAN_SMOOTHING,
    MIN_SCORE,
    MIN_WORD_TRUST,
    PRECEDING_WEIGHT,
    SHORT_QUERY_WORDS,
    SLACK,
    SMALL_STORE_DISCOUNT,
    SMALL_STORE_RECORDS,
    SMALL_STORE_VECTOR_BONUS,
    SPEAKER_BONUS,
    VECTOR_WEIGHT,
    WEAK_DISCOUNT,
    WEAK_SLACK,
    WORD_SHARE_POWER,
    WORD_WEIGHT,
)
from recollect.retrieval.relevance_threshold import Threshold
from recollect.retrieval.retrieve import RankedMemories
from recollect.retrieval.retrieve import _explain as explain
from recollect.retrieval.signals import index_signals, secondary_signals, speaker_signal
from recollect.store.search_index import (
    NO_STATS,
    IndexedRecord,
    SearchCandidate,
    SearchResult,
    SimilarityStats,
    VectorMatch,
    WordMatch,
)
from support import START
from tables import each_row


def candidate(
    item_id: int,
    *,
    score: float | None = None,
    cosine: float | None = None,
    chunks: int = 1,
    coverage: float = 1.0,
    reached: str = "visible",
    observed_at: datetime = START,
    scope: Scope = Scope.PROJECT,
    confidence: float = 1.0,
    words: tuple[str, ...] = ("word",),
) -> SearchCandidate:
    return SearchCandidate(
        record=IndexedRecord(
            id=f"id{item_id}",
            sequence=item_id,
            owner=Owner(scope, ""),
            type=MemoryType.PROJECT,
            confidence=confidence,
            at=observed_at,
        ),
        word_match=None if score is None else WordMatch(score, words, 1.0),
        vector_match=None if cosine is None else VectorMatch(cosine, chunks),
        coverage=coverage,
        reached=reached,
    )


STATS = SimilarityStats(mean=0.2, stdev=0.1, sample_size=48)


def admit_all(_: object) -> bool:
    return True


def relevances(*candidates: SearchCandidate) -> list[float]:
    return fuse(candidates, index_signals(candidates, STATS))


def rank_all(
    candidates: list[SearchCandidate], asked_at: datetime = START
) -> list[RankedCandidate]:
    signals = index_signals(candidates, STATS)
    return rank(
        candidates,
        signals,
        admits=admit_all,
        relevances=fuse(candidates, signals),
        secondary=secondary_signals(asked_at),
    )


@each_row(
    ("scores", "cosines", "expected"),
    [
        ([4.0, 2.0], [None, None], [1.0, 0.5**WORD_SHARE_POWER]),
        ([None, None], [0.6, 0.4], [4 * VECTOR_WEIGHT, 2 * VECTOR_WEIGHT]),
        (
            [4.0, 2.0],
            [0.2, 0.5],
            [WORD_WEIGHT, WORD_WEIGHT * 0.5**WORD_SHARE_POWER + 3 * VECTOR_WEIGHT],
        ),
        ([4.0, None], [0.0, 0.5], [WORD_WEIGHT - 2 * VECTOR_WEIGHT, 3 * VECTOR_WEIGHT]),
        ([None, None], [-0.5, 5.0], [0.0, 1.0]),
        ([None, 2.0], [None, None], [0.0, 1.0]),
        ([], [], []),
    ],
    ids=str,
)
def test_relevance_is_the_share_of_the_best_bm25_plus_similarity_in_standard_deviations(
    scores: list[float | None], cosines: list[float | None], expected: list[float]
) -> None:
    candidates = [
        candidate(item_id, score=score, cosine=cosine)
        for item_id, (score, cosine) in enumerate(zip(scores, cosines, strict=True))
    ]

    assert relevances(*candidates) == pytest.approx(expected)


def test_similarity_counts_for_more_among_few_records() -> None:
    near = candidate(1, cosine=0.3, coverage=0.0)

    def relevance(visible_count: int) -> float:
        return fuse([near], index_signals([near], STATS, visible_count=visible_count))[0]

    assert relevance(10**9) == pytest.approx(VECTOR_WEIGHT)
    half = 1 + 0.5 * SMALL_STORE_VECTOR_BONUS
    assert relevance(SMALL_STORE_RECORDS) == pytest.approx(VECTOR_WEIGHT * half)


def test_words_count_for_less_if_many_items_match_about_as_well() -> None:
    alone = [candidate(1, score=4.0, cosine=0.2)]
    crowd = [candidate(item_id, score=3.0, cosine=0.2) for item_id in range(2, 12)]

    assert relevances(*alone, *crowd[:8])[0] == pytest.approx(WORD_WEIGHT)
    assert relevances(*alone, *crowd)[0] == pytest.approx(0.4 * WORD_WEIGHT)
    assert relevances(*crowd)[0] == pytest.approx(MIN_WORD_TRUST * WORD_WEIGHT)


def test_a_match_of_the_preceding_item_raises_the_relevance() -> None:
    question, answer = candidate(1, score=4.0, cosine=0.2), candidate(2, cosine=0.2)

    _, alone = relevances(question, answer)
    _, following = relevances(question, replace(answer, preceding_score=4.0))

    assert alone == 0
    assert following == pytest.approx(PRECEDING_WEIGHT)


def test_the_preceding_item_counts_for_less_if_an_item_has_many_chunks() -> None:
    question, answer = candidate(1, score=4.0, cosine=0.2), candidate(2, cosine=0.9)
    assert answer.vector_match is not None
    long = replace(answer, vector_match=replace(answer.vector_match, chunk_count=4))

    _, alone = relevances(question, long)
    _, following = relevances(question, replace(long, preceding_score=4.0))

    assert following - alone == pytest.approx(PRECEDING_WEIGHT / 4)


def test_an_item_next_to_one_of_the_best_gets_a_bonus() -> None:
    question = candidate(1, score=4.0, cosine=0.4)
    answer = replace(candidate(2, cosine=0.3), preceding_id="id1")
    other = candidate(3, cosine=0.3)

    _, neighbour, other_relevance = relevances(question, answer, other)

    assert neighbour - other_relevance == pytest.approx(ADJACENT_BONUS)


def test_a_message_of_the_speaker_in_the_query_has_a_bonus() -> None:
    plain = candidate(1, cosine=0.4)
    raised = replace(plain, record=replace(plain.record, role=Role.USER))
    signals = [*index_signals([plain, raised], STATS), speaker_signal("user")]

    without, with_bonus = fuse([plain, raised], signals)

    assert with_bonus - without == pytest.approx(SPEAKER_BONUS)


def test_an_item_not_embedded_yet_counts_as_average_and_has_no_semantic_score() -> None:
    candidates = [
        candidate(1, score=4.0),
        candidate(2, score=4.0, cosine=0.8),
        candidate(3, score=4.0, cosine=0.0),
        candidate(4, cosine=0.9),
    ]

    pending, near, far, _ = relevances(*candidates)

    assert far < pending < near
    assert [memory.parts["semantic"] for memory in rank_all(candidates[:1])] == [0]


def test_many_chunks_are_not_an_advantage() -> None:
    short, long = candidate(1, cosine=0.6), candidate(2, cosine=0.6, chunks=4)

    one_chunk, four_chunks = relevances(short, long)

    assert one_chunk - four_chunks == pytest.approx(2 * CHUNK_PENALTY * VECTOR_WEIGHT)


def test_words_of_a_long_item_count_for_less_if_others_are_short() -> None:
    short = [candidate(item_id, score=4.0, cosine=0.5) for item_id in (1, 2)]
    long = candidate(3, score=4.0, cosine=0.5, chunks=4)
    without_words = relevances(replace(long, word_match=None), *short)[0]

    assert relevances(long, *short)[0] - without_words == pytest.approx(
        WORD_WEIGHT / 4**LENGTH_POWER
    )
    assert relevances(long, long)[0] - without_words == pytest.approx(WORD_WEIGHT)


# Without a spread nothing is known of chance, so the threshold is that of a large store.
NO_SPREAD = SimilarityStats(mean=0.2, stdev=0.0, sample_size=48)


def threshold_for(
    *candidates: SearchCandidate,
    similarity_stats: SimilarityStats = NO_SPREAD,
    query: str = "a question",
) -> Threshold:
    return Threshold.for_candidates(
        SearchResult(list(candidates), similarity_stats),
        query,
        has_documents=True,
        doubt_similarity=True,
    )


SUBTRACTED = MEAN_SHARE * STATS.mean * STATS.sample_size / (STATS.sample_size + MEAN_SMOOTHING)


@each_row(
    ("item", "passes"),
    [
        (candidate(1, score=1.0, coverage=0.05), True),
        (candidate(1, cosine=MIN_SCORE + SUBTRACTED + 0.001, coverage=0.0), True),
        (candidate(1, cosine=MIN_SCORE + SUBTRACTED - 0.01, coverage=0.0), False),
        (candidate(1, score=1.0, cosine=MIN_SCORE + SUBTRACTED - 0.01, coverage=0.5), True),
        (candidate(1, cosine=MIN_SCORE + SUBTRACTED - 0.01, coverage=0.0, chunks=2), True),
        (candidate(1, score=1.0, cosine=0.1, coverage=1.0), True),
        (candidate(1, score=1.0, cosine=0.1, coverage=0.9), False),
        (candidate(1, score=1.0, cosine=0.21, coverage=0.8), True),
        (candidate(1, score=1.0, cosine=0.21, coverage=0.7), False),
        (candidate(1, score=1.0, cosine=0.0, coverage=0.1, reached="linked"), True),
        (candidate(1, cosine=0.2, coverage=0.0, reached="linked"), False),
    ],
    ids=[
        "words, no vector",
        "above",
        "just below",
        "just below, with words",
        "just below, of a long document",
        "not similar, with all words",
        "not similar, with nearly all words",
        "slightly similar, with nearly all words",
        "slightly similar, with most words",
        "linked with a word",
        "linked without",
    ],
)
def test_the_threshold_requires_similarity_and_words_raise_the_score(
    item: SearchCandidate, passes: bool
) -> None:
    assert threshold_for(item).admits(item) is passes


def test_the_threshold_is_lower_for_a_long_query() -> None:
    item = candidate(1, cosine=MIN_SCORE + SUBTRACTED - LONG_QUERY_DISCOUNT + 0.01, coverage=0.0)

    assert not threshold_for(item, query="word " * SHORT_QUERY_WORDS).admits(item)
    assert not threshold_for(item, query="word " * (LONG_QUERY_WORDS - 5)).admits(item)
    assert threshold_for(item, query="word " * LONG_QUERY_WORDS).admits(item)
    assert threshold_for(item, query="word " * 10 * LONG_QUERY_WORDS).admits(item)


def test_the_threshold_is_lower_once_one_candidate_passes() -> None:
    near = candidate(1, cosine=MIN_SCORE + SUBTRACTED + 0.001, coverage=0.0)
    second = candidate(2, cosine=MIN_SCORE + SUBTRACTED - SLACK + 0.01, coverage=0.0)
    third = candidate(3, cosine=MIN_SCORE + SUBTRACTED - SLACK - 0.01, coverage=0.0)

    strict, lowered = threshold_for(second, third), threshold_for(near, second, third)

    assert not strict.admits(second)
    assert lowered.admits(second)
    assert not lowered.admits(third)


def test_weak_matches_come_together_once_one_passes() -> None:
    weak = MIN_SCORE + SUBTRACTED - WEAK_DISCOUNT
    best = candidate(1, cosine=weak + 0.01, coverage=0.0)
    second = candidate(2, cosine=weak - WEAK_SLACK + 0.01, coverage=0.0)
    third = candidate(3, cosine=weak - WEAK_SLACK - 0.01, coverage=0.0)

    def threshold(*candidates: SearchCandidate) -> Threshold:
        pool = SearchResult(list(candidates), NO_SPREAD)
        return Threshold.for_candidates(pool, "a q", has_documents=True, weak_matches=True)

    together = threshold(best, second, third)
    assert together.is_weak
    assert [together.admits(item) for item in (best, second, third)] == [True, True, False]
    assert not threshold(second, third).admits(second)


ALIKE = SimilarityStats(mean=0.4, stdev=0.1, sample_size=8)


@each_row(
    ("item", "passes"),
    [
        (candidate(1, cosine=0.5, coverage=0.0), False),
        (candidate(1, cosine=0.6, coverage=0.0), True),
        (candidate(1, score=1.0, cosine=0.5, coverage=0.2, words=("Keycloak",)), True),
        (candidate(1, score=1.0, cosine=0.5, coverage=0.2, words=("de", "qué")), False),
        (candidate(1, score=1.0, cosine=0.5, coverage=0.2, words=("日の", "ます")), False),
        (candidate(1, score=1.0, cosine=0.5, coverage=0.2, words=("請求",)), True),
    ],
    ids=[
        "similar as all are",
        "far more similar than chance",
        "with a content word",
        "with stop words",
        "with hiragana",
        "with a Japanese word",
    ],
)
def test_where_the_model_cannot_tell_texts_apart_similarity_alone_is_not_enough(
    item: SearchCandidate, passes: bool
) -> None:
    assert threshold_for(item, similarity_stats=ALIKE).admits(item) is passes
    with_one_more = threshold_for(item, candidate(2, cosine=0.9), similarity_stats=ALIKE)
    assert with_one_more.admits(item)


def test_what_is_returned_below_the_threshold_is_weak() -> None:
    near, far = candidate(1, cosine=0.9), candidate(2, cosine=0.1, coverage=0.0)
    ranked = RankedMemories([], threshold_for(near, far))
    nearest, farthest = RankedCandidate(near, 0.9), RankedCandidate(far, 0.1)

    assert not ranked.is_weak(nearest)
    assert ranked.is_weak(farthest)
    assert not ranked.is_weak(replace(farthest, in_time=True))


@each_row(
    ("records", "stdev", "discount"),
    [
        (10_000, 0.1, 0.0),
        (500, 0.1, 0.0),
        (100, 0.1, 0.0491),
        (30, 0.1, 0.0917),
        (30, 0.05, 0.0459),
        (24, 0.2, SMALL_STORE_DISCOUNT),
        (2, 0.3, SMALL_STORE_DISCOUNT),
        (0, 0.3, 0.0),
    ],
)
def test_the_threshold_is_lower_in_a_small_store(
    records: int, stdev: float, discount: float
) -> None:
    stats = SimilarityStats(mean=0.0, stdev=stdev, sample_size=records)
    far = candidate(1, cosine=0.1, coverage=0.0)

    threshold = threshold_for(far, similarity_stats=stats)

    assert threshold.minimum == pytest.approx(MIN_SCORE - discount, abs=1e-4)


def test_a_second_candidate_needs_as_much_in_a_small_store_as_in_a_large_one() -> None:
    near = candidate(1, cosine=0.9)

    small, large = (
        threshold_for(near, similarity_stats=SimilarityStats(0.0, 0.1, sample_size=count))
        for count in (20, 5_000)
    )

    assert small.minimum == large.minimum == pytest.approx(MIN_SCORE - SLACK)


def test_the_closest_match_has_its_score_and_the_threshold() -> None:
    far, further = candidate(1, cosine=0.3, coverage=0.0), candidate(2, cosine=0.2, coverage=0.0)
    threshold = threshold_for(far, further)

    closest = threshold.closest([further, far])

    assert closest is not None
    assert (closest.id, closest.threshold) == ("id1", MIN_SCORE)
    assert closest.score == pytest.approx(0.3 - SUBTRACTED)
    assert threshold.closest([]) is None


def test_without_vectors_a_word_in_common_is_enough() -> None:
    matching = candidate(1, score=1.0, coverage=0.01)

    assert threshold_for(matching, similarity_stats=NO_STATS).admits(matching)


def test_relevance_decides_and_scope_age_and_confidence_only_break_ties() -> None:
    strong = candidate(1, score=4.0, observed_at=START - timedelta(days=900), confidence=0.1)
    weak = candidate(2, score=2.0)
    worldwide = candidate(3, score=2.0, scope=Scope.GLOBAL)
    unsure = candidate(4, score=2.0, confidence=0.5)
    old = candidate(5, score=2.0, observed_at=START - timedelta(days=90))
    elsewhere = candidate(6, score=2.0, reached="linked")
    candidates = [strong, weak, worldwide, unsure, old, elsewhere]

    ranked = rank_all(candidates)

    order = [memory.candidate.record.sequence for memory in ranked]
    assert order[:2] == [1, 2]
    assert order[-1] == 6
    assert ranked[0].score > ranked[1].score


def test_equal_scores_go_to_the_later_then_to_the_last_written() -> None:
    same = [candidate(1, score=1.0), candidate(2, score=1.0)]
    later = candidate(0, score=1.0, observed_at=START + timedelta(seconds=1))

    ranked = rank_all([*same, later], START + timedelta(days=1))

    assert [memory.candidate.record.sequence for memory in ranked] == [0, 2, 1]


@each_row(
    ("item", "expected"),
    [
        (
            candidate(1, score=1.0, words=("red", "fox")),
            "Matches “red”, “fox”; project memory; observed today.",
        ),
        (
            candidate(1, cosine=0.7, observed_at=START - timedelta(days=1)),
            "Its meaning is very close (similarity 0.70); project memory; observed 1 day ago.",
        ),
        (
            candidate(1, cosine=0.45, observed_at=START - timedelta(days=100)),
            "Its meaning is close (similarity 0.45); project memory; observed 3 months ago.",
        ),
        (
            candidate(
                1,
                score=1.0,
                cosine=0.3,
                words=tuple("abcdefgh"),
                observed_at=START - timedelta(days=800),
                confidence=0.5,
            ),
            "Matches “a”, “b”, “c”, “d”, “e”, “f” and 2 more words and its meaning is somewhat "
            "related (similarity 0.30); project memory; observed 2 years ago; confidence 0.50.",
        ),
        (
            candidate(1, score=1.0, reached="relevant", observed_at=START - timedelta(days=20)),
            "Matches “word”; of another project, shown because it clearly answers the question; "
            "observed 20 days ago.",
        ),
    ],
    ids=["words", "near", "close", "everything", "another project"],
)
def test_an_explanation_is_one_sentence(item: SearchCandidate, expected: str) -> None:
    [ranked] = rank_all([item])

    assert explain(ranked, conflicts=0) == expected


def test_an_explanation_names_conflicts() -> None:
    item = candidate(1, score=1.0)
    [ranked] = rank_all([item])

    assert "in conflict with 1 other." in explain(ranked, conflicts=1)
    assert "in conflict with 2 others." in explain(ranked, conflicts=2)
