"""The formulas, as tables of numbers: fusion, the bar, the order, and the reasons given."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from recollect import MemoryType, Scope, Status
from recollect.domain.scope import Owner
from recollect.retrieval.bar import LEAST, LENGTHY, LENIENCE, MUCH, SHORT, SLACK, USUAL, Bar
from recollect.retrieval.candidates import NOTHING_NEAR, Candidate, Gathered
from recollect.retrieval.explain import explain
from recollect.retrieval.fuse import (
    BEFORE,
    BESIDE,
    LEAST_TRUST,
    LENGTHENED,
    MEANING,
    PIECE_PENALTY,
    STEEPER,
    WORDS,
    fuse,
)
from recollect.retrieval.rank import rank
from recollect.store.values import Backdrop, Near, Standing, WordMatch
from support import START


def candidate(
    seq: int,
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
) -> Candidate[Standing]:
    return Candidate(
        standing=Standing(
            seq=seq,
            id=f"id{seq}",
            owner=Owner(scope, ""),
            type=MemoryType.PROJECT,
            status=Status.ACTIVE,
            confidence=confidence,
            observed_at=observed_at,
        ),
        words=None if score is None else WordMatch(seq, score, words, 1.0),
        near=None if cosine is None else Near(cosine, chunks),
        coverage=coverage,
        reached=reached,
    )


HERE = Backdrop(mean=0.2, spread=0.1, seen=48)


def everything(_: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("scores", "cosines", "expected"),
    [
        ([4.0, 2.0], [None, None], [1.0, 0.5**STEEPER]),
        ([None, None], [0.6, 0.4], [4 * MEANING, 2 * MEANING]),
        ([4.0, 2.0], [0.2, 0.5], [WORDS, WORDS * 0.5**STEEPER + 3 * MEANING]),
        ([4.0, None], [0.0, 0.5], [WORDS - 2 * MEANING, 3 * MEANING]),
        ([None, None], [-0.5, 5.0], [0.0, 1.0]),
        ([None, 2.0], [None, None], [0.0, 1.0]),
        ([], [], []),
    ],
    ids=str,
)
def test_relevance_is_words_as_a_share_of_the_best_and_nearness_in_spreads(
    scores: list[float | None], cosines: list[float | None], expected: list[float]
) -> None:
    candidates = [
        candidate(seq, score=score, cosine=cosine)
        for seq, (score, cosine) in enumerate(zip(scores, cosines, strict=True))
    ]

    assert [one.fused for one in fuse(candidates, HERE)] == pytest.approx(expected)


def test_words_count_for_less_where_many_items_match_about_as_well() -> None:
    alone = [candidate(1, score=4.0, cosine=0.2)]
    crowd = [candidate(seq, score=3.0, cosine=0.2) for seq in range(2, 12)]

    assert fuse([*alone, *crowd[:8]], HERE)[0].fused == pytest.approx(WORDS)
    assert fuse([*alone, *crowd], HERE)[0].fused == pytest.approx(0.4 * WORDS)
    assert fuse(crowd, HERE)[0].fused == pytest.approx(LEAST_TRUST * WORDS)


def test_what_was_said_just_before_an_item_speaks_for_it() -> None:
    question, answer = candidate(1, score=4.0, cosine=0.2), candidate(2, cosine=0.2)

    _, alone = fuse([question, answer], HERE)
    _, follows = fuse([question, replace(answer, before=4.0)], HERE)

    assert alone.fused == 0
    assert follows.fused == pytest.approx(BEFORE)


def test_an_item_of_many_pieces_leans_less_on_what_was_said_before() -> None:
    question, answer = candidate(1, score=4.0, cosine=0.2), candidate(2, cosine=0.9)
    assert answer.near is not None
    long = replace(answer, near=replace(answer.near, chunks=4))

    _, alone = fuse([question, long], HERE)
    _, follows = fuse([question, replace(long, before=4.0)], HERE)

    assert follows.fused - alone.fused == pytest.approx(BEFORE / 4)


def test_what_stands_beside_one_of_the_best_is_lifted() -> None:
    question = candidate(1, score=4.0, cosine=0.4)
    answer = replace(candidate(2, cosine=0.3), follows=1)
    other = candidate(3, cosine=0.3)

    _, beside, apart = fuse([question, answer, other], HERE)

    assert beside.fused - apart.fused == pytest.approx(BESIDE)


def test_a_lift_adds_to_the_relevance_of_its_candidate() -> None:
    [lifted, plain] = fuse([candidate(1, cosine=0.4)] * 2, HERE, lifts=[0.1, 0.0])

    assert lifted.fused - plain.fused == pytest.approx(0.1)


def test_an_item_not_embedded_yet_counts_as_average_in_meaning_and_shows_none() -> None:
    candidates = [
        candidate(1, score=4.0),
        candidate(2, score=4.0, cosine=0.8),
        candidate(3, score=4.0, cosine=0.0),
        candidate(4, cosine=0.9),
    ]

    waiting, near, far, _ = fuse(candidates, HERE)

    assert far.fused < waiting.fused < near.fused
    assert waiting.semantic == 0


def test_many_pieces_are_not_an_advantage() -> None:
    one, four = candidate(1, cosine=0.6), candidate(2, cosine=0.6, chunks=4)

    whole, pieces = fuse([one, four], HERE)

    assert whole.fused - pieces.fused == pytest.approx(2 * PIECE_PENALTY * MEANING)


def test_words_of_a_long_item_count_for_less_where_others_are_short() -> None:
    short = [candidate(seq, score=4.0, cosine=0.5) for seq in (1, 2)]
    long = candidate(3, score=4.0, cosine=0.5, chunks=4)
    only = fuse([replace(long, words=None), *short], HERE)[0].fused

    assert fuse([long, *short], HERE)[0].fused - only == pytest.approx(WORDS / 4**LENGTHENED)
    assert fuse([long, long], HERE)[0].fused - only == pytest.approx(WORDS)


def bar_over(
    *candidates: Candidate[Standing], backdrop: Backdrop = HERE, query: str = "a question"
) -> Bar:
    return Bar.over(Gathered(list(candidates), backdrop), query, documents=True)


USUALLY = USUAL * HERE.mean * HERE.seen / (HERE.seen + MUCH)


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        (candidate(1, score=1.0, coverage=0.05), True),
        (candidate(1, cosine=LEAST + USUALLY + 0.001, coverage=0.0), True),
        (candidate(1, cosine=LEAST + USUALLY - 0.01, coverage=0.0), False),
        (candidate(1, score=1.0, cosine=LEAST + USUALLY - 0.01, coverage=0.5), True),
        (candidate(1, cosine=LEAST + USUALLY - 0.01, coverage=0.0, chunks=2), True),
        (candidate(1, score=1.0, cosine=0.1, coverage=1.0), True),
        (candidate(1, score=1.0, cosine=0.1, coverage=0.9), False),
        (candidate(1, score=1.0, cosine=0.21, coverage=0.8), True),
        (candidate(1, score=1.0, cosine=0.21, coverage=0.7), False),
        (candidate(1, score=1.0, cosine=0.0, coverage=0.1, reached="linked"), True),
        (candidate(1, cosine=0.2, coverage=0.0, reached="linked"), False),
    ],
    ids=[
        "words, no meaning",
        "near",
        "nearly near",
        "nearly near, with words",
        "nearly near, of a long document",
        "far, with all words",
        "far, with nearly all words",
        "a little near, with nearly all words",
        "a little near, with most words",
        "linked with a word",
        "linked without",
    ],
)
def test_the_bar_asks_for_meaning_and_words_help(given: Candidate[Standing], passes: bool) -> None:
    assert bar_over(given).admits(given) is passes


def test_for_somebody_who_says_much_the_bar_is_lower() -> None:
    given = candidate(1, cosine=LEAST + USUALLY - LENIENCE + 0.01, coverage=0.0)

    assert not bar_over(given, query="word " * SHORT).admits(given)
    assert not bar_over(given, query="word " * (LENGTHY - 5)).admits(given)
    assert bar_over(given, query="word " * LENGTHY).admits(given)
    assert bar_over(given, query="word " * 10 * LENGTHY).admits(given)


def test_beside_something_near_what_is_a_little_further_may_come_too() -> None:
    near = candidate(1, cosine=LEAST + USUALLY + 0.001, coverage=0.0)
    second = candidate(2, cosine=LEAST + USUALLY - SLACK + 0.01, coverage=0.0)
    third = candidate(3, cosine=LEAST + USUALLY - SLACK - 0.01, coverage=0.0)

    alone, beside = bar_over(second, third), bar_over(near, second, third)

    assert not alone.admits(second)
    assert beside.admits(second)
    assert not beside.admits(third)


def test_what_came_nearest_is_named_with_what_it_lacks() -> None:
    far, further = candidate(1, cosine=0.3, coverage=0.0), candidate(2, cosine=0.2, coverage=0.0)
    bar = bar_over(far, further)

    refused = bar.refused([further, far])

    assert refused is not None
    assert (refused.id, refused.needed) == ("id1", LEAST)
    assert refused.reached == pytest.approx(0.3 - USUALLY)
    assert bar.refused([]) is None


def test_without_meaning_a_word_in_common_is_enough() -> None:
    matching = candidate(1, score=1.0, coverage=0.01)

    assert bar_over(matching, backdrop=NOTHING_NEAR).admits(matching)


def test_relevance_decides_and_scope_age_and_confidence_lift_only_among_equals() -> None:
    strong = candidate(1, score=4.0, observed_at=START - timedelta(days=900), confidence=0.1)
    weak = candidate(2, score=2.0)
    worldwide = candidate(3, score=2.0, scope=Scope.GLOBAL)
    unsure = candidate(4, score=2.0, confidence=0.5)
    old = candidate(5, score=2.0, observed_at=START - timedelta(days=90))
    elsewhere = candidate(6, score=2.0, reached="linked")
    candidates = [strong, weak, worldwide, unsure, old, elsewhere]

    ranked = rank(candidates, fuse(candidates, HERE), START, admits=everything)

    order = [one.candidate.standing.seq for one in ranked]
    assert order[:2] == [1, 2]
    assert order[-1] == 6
    assert ranked[0].score > ranked[1].score


def test_equal_scores_go_to_the_later_then_to_the_last_written() -> None:
    same = [candidate(1, score=1.0), candidate(2, score=1.0)]
    later = candidate(0, score=1.0, observed_at=START + timedelta(seconds=1))

    ranked = rank(
        [*same, later], fuse([*same, later], HERE), START + timedelta(days=1), admits=everything
    )

    assert [one.candidate.standing.seq for one in ranked] == [0, 2, 1]


@pytest.mark.parametrize(
    ("given", "expected"),
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
    ids=["words", "near", "close", "everything", "crossing"],
)
def test_the_reasons_are_a_sentence(given: Candidate[Standing], expected: str) -> None:
    [ranked] = rank([given], fuse([given], HERE), START, admits=everything)

    assert explain(ranked, asked_at=START, conflicts=0) == expected


def test_conflicts_are_part_of_the_sentence() -> None:
    given = candidate(1, score=1.0)
    [ranked] = rank([given], fuse([given], HERE), START, admits=everything)

    assert "in conflict with 1 other." in explain(ranked, asked_at=START, conflicts=1)
    assert "in conflict with 2 others." in explain(ranked, asked_at=START, conflicts=2)
