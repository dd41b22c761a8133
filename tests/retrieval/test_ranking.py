"""Score fusion, the threshold, ranking and explanations, as tables of numbers."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect import MemoryType, Scope, Status
from recollect.domain.scope import Owner
from recollect.retrieval.explain import explain
from recollect.retrieval.rank import rank
from recollect.retrieval.relevance_threshold import (
    LONG_QUERY_DISCOUNT,
    LONG_QUERY_WORDS,
    MEAN_SHARE,
    MEAN_SMOOTHING,
    MIN_SCORE,
    SHORT_QUERY_WORDS,
    SLACK,
    Threshold,
)
from recollect.retrieval.score_fusion import (
    CHUNK_PENALTY,
    LENGTH_POWER,
    MIN_WORD_TRUST,
    NEIGHBOUR_BONUS,
    PRECEDING_WEIGHT,
    VECTOR_WEIGHT,
    WORD_SHARE_POWER,
    WORD_WEIGHT,
    fuse_scores,
)
from recollect.retrieval.search_candidates import NO_STATS, Candidate, CandidatePool
from recollect.store.values import CandidateRow, SimilarityStats, VectorMatch, WordMatch
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
) -> Candidate[CandidateRow]:
    return Candidate(
        item=CandidateRow(
            item_id=item_id,
            id=f"id{item_id}",
            owner=Owner(scope, ""),
            type=MemoryType.PROJECT,
            status=Status.ACTIVE,
            confidence=confidence,
            observed_at=observed_at,
        ),
        word_match=None if score is None else WordMatch(item_id, score, words, 1.0),
        vector_match=None if cosine is None else VectorMatch(cosine, chunks),
        coverage=coverage,
        reached=reached,
    )


STATS = SimilarityStats(mean=0.2, stdev=0.1, sample_size=48)


def admit_all(_: object) -> bool:
    return True


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

    assert [relevance.fused for relevance in fuse_scores(candidates, STATS)] == pytest.approx(
        expected
    )


def test_words_count_for_less_if_many_items_match_about_as_well() -> None:
    alone = [candidate(1, score=4.0, cosine=0.2)]
    crowd = [candidate(item_id, score=3.0, cosine=0.2) for item_id in range(2, 12)]

    assert fuse_scores([*alone, *crowd[:8]], STATS)[0].fused == pytest.approx(WORD_WEIGHT)
    assert fuse_scores([*alone, *crowd], STATS)[0].fused == pytest.approx(0.4 * WORD_WEIGHT)
    assert fuse_scores(crowd, STATS)[0].fused == pytest.approx(MIN_WORD_TRUST * WORD_WEIGHT)


def test_a_match_of_the_preceding_item_raises_the_relevance() -> None:
    question, answer = candidate(1, score=4.0, cosine=0.2), candidate(2, cosine=0.2)

    _, alone = fuse_scores([question, answer], STATS)
    _, following = fuse_scores([question, replace(answer, preceding_score=4.0)], STATS)

    assert alone.fused == 0
    assert following.fused == pytest.approx(PRECEDING_WEIGHT)


def test_the_preceding_item_counts_for_less_if_an_item_has_many_chunks() -> None:
    question, answer = candidate(1, score=4.0, cosine=0.2), candidate(2, cosine=0.9)
    assert answer.vector_match is not None
    long = replace(answer, vector_match=replace(answer.vector_match, chunk_count=4))

    _, alone = fuse_scores([question, long], STATS)
    _, following = fuse_scores([question, replace(long, preceding_score=4.0)], STATS)

    assert following.fused - alone.fused == pytest.approx(PRECEDING_WEIGHT / 4)


def test_an_item_next_to_one_of_the_best_gets_a_bonus() -> None:
    question = candidate(1, score=4.0, cosine=0.4)
    answer = replace(candidate(2, cosine=0.3), preceding_item=1)
    other = candidate(3, cosine=0.3)

    _, neighbour, other_relevance = fuse_scores([question, answer, other], STATS)

    assert neighbour.fused - other_relevance.fused == pytest.approx(NEIGHBOUR_BONUS)


def test_a_bonus_adds_to_the_relevance_of_its_candidate() -> None:
    [raised, plain] = fuse_scores([candidate(1, cosine=0.4)] * 2, STATS, bonuses=[0.1, 0.0])

    assert raised.fused - plain.fused == pytest.approx(0.1)


def test_an_item_not_embedded_yet_counts_as_average_and_has_no_semantic_score() -> None:
    candidates = [
        candidate(1, score=4.0),
        candidate(2, score=4.0, cosine=0.8),
        candidate(3, score=4.0, cosine=0.0),
        candidate(4, cosine=0.9),
    ]

    pending, near, far, _ = fuse_scores(candidates, STATS)

    assert far.fused < pending.fused < near.fused
    assert pending.semantic == 0


def test_many_chunks_are_not_an_advantage() -> None:
    short, long = candidate(1, cosine=0.6), candidate(2, cosine=0.6, chunks=4)

    one_chunk, four_chunks = fuse_scores([short, long], STATS)

    assert one_chunk.fused - four_chunks.fused == pytest.approx(2 * CHUNK_PENALTY * VECTOR_WEIGHT)


def test_words_of_a_long_item_count_for_less_if_others_are_short() -> None:
    short = [candidate(item_id, score=4.0, cosine=0.5) for item_id in (1, 2)]
    long = candidate(3, score=4.0, cosine=0.5, chunks=4)
    without_words = fuse_scores([replace(long, word_match=None), *short], STATS)[0].fused

    assert fuse_scores([long, *short], STATS)[0].fused - without_words == pytest.approx(
        WORD_WEIGHT / 4**LENGTH_POWER
    )
    assert fuse_scores([long, long], STATS)[0].fused - without_words == pytest.approx(WORD_WEIGHT)


def threshold_for(
    *candidates: Candidate[CandidateRow],
    similarity_stats: SimilarityStats = STATS,
    query: str = "a question",
) -> Threshold:
    return Threshold.for_candidates(
        CandidatePool(list(candidates), similarity_stats), query, has_documents=True
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
    item: Candidate[CandidateRow], passes: bool
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

    ranked = rank(candidates, fuse_scores(candidates, STATS), START, admits=admit_all)

    order = [memory.candidate.item.item_id for memory in ranked]
    assert order[:2] == [1, 2]
    assert order[-1] == 6
    assert ranked[0].score > ranked[1].score


def test_equal_scores_go_to_the_later_then_to_the_last_written() -> None:
    same = [candidate(1, score=1.0), candidate(2, score=1.0)]
    later = candidate(0, score=1.0, observed_at=START + timedelta(seconds=1))

    ranked = rank(
        [*same, later],
        fuse_scores([*same, later], STATS),
        START + timedelta(days=1),
        admits=admit_all,
    )

    assert [memory.candidate.item.item_id for memory in ranked] == [0, 2, 1]


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
def test_an_explanation_is_one_sentence(item: Candidate[CandidateRow], expected: str) -> None:
    [ranked] = rank([item], fuse_scores([item], STATS), START, admits=admit_all)

    assert explain(ranked, asked_at=START, conflicts=0) == expected


def test_an_explanation_names_conflicts() -> None:
    item = candidate(1, score=1.0)
    [ranked] = rank([item], fuse_scores([item], STATS), START, admits=admit_all)

    assert "in conflict with 1 other." in explain(ranked, asked_at=START, conflicts=1)
    assert "in conflict with 2 others." in explain(ranked, asked_at=START, conflicts=2)
