"""What a time in a question means to searching, without any store."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.retrieval.temporal import (
    PAUSE,
    Stretch,
    Then,
    beside_which,
    counted,
    neighbour,
    sessions_among,
    spread,
    stretch_meant,
    timed,
)
from recollect.text.session_words import Count

NOON = datetime(2026, 5, 8, 12, tzinfo=UTC)
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def days(*numbers: int) -> list[Stretch]:
    return [Stretch(NOON + timedelta(days=n), NOON + timedelta(days=n)) for n in numbers]


def test_a_pause_ends_a_session() -> None:
    moments = [NOON, NOON + PAUSE, NOON + 2 * PAUSE, NOON + 4 * PAUSE]

    found = sessions_among(moments, asked_at=NOW)

    assert found == [Stretch(NOON, NOON + 2 * PAUSE), Stretch(NOON + 4 * PAUSE, NOON + 4 * PAUSE)]


def test_what_was_just_observed_belongs_to_the_present_session() -> None:
    yesterday = NOW - timedelta(days=1)

    found = sessions_among([yesterday, NOW - PAUSE / 2], asked_at=NOW)

    assert found == [Stretch(yesterday, yesterday)]


def test_what_was_observed_after_the_question_does_not_count() -> None:
    assert sessions_among([NOW + timedelta(days=1)], asked_at=NOW) == []


@pytest.mark.parametrize(
    ("count", "meant"),
    [
        (Count(1), "d"),
        (Count(3), "b"),
        (Count(3, many=3), "bcd"),
        (Count(1, from_first=True), "a"),
        (Count(1, from_first=True, many=2), "ab"),
        (Count(4), "a"),
        (Count(5), ""),
        (Count(5, from_first=True), ""),
    ],
)
def test_sessions_are_counted_from_either_end(count: Count, meant: str) -> None:
    assert "".join(counted(count, list("abcd"))) == meant


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("what did we talk about in our last session before May 10th?", 1),
        ("what was our first conversation after May 9th about?", 2),
        ("the last chat of May", 4),
        ("our second conversation in May", 1),
        ("what did we discuss the next time we talked after May 8th?", 1),
    ],
)
def test_sessions_are_counted_within_the_time_right_behind(query: str, day: int) -> None:
    found = timed(query, asked_at=NOW)

    assert found is not None
    assert found.when is not None
    assert found.query == ""
    then = stretch_meant(found.when, days(0, 1, 2, 3, 4, 24))
    assert then is not None
    assert then.start == NOON + timedelta(days=day)


def test_too_few_sessions_are_no_time() -> None:
    found = timed("what did we say five sessions ago?", asked_at=NOW)

    assert found is not None
    assert found.when is not None
    assert stretch_meant(found.when, days(0, 1)) is None


@pytest.mark.parametrize(
    ("query", "step"),
    [
        ("the session right after the one in which we said “hello”", 1),
        ("what did we cover in the conversation before the one where Ann left?", -1),
        ("what happened after the one in which he sang?", 0),
        ("before the session started", 0),
        ("after May 8th", 0),
    ],
)
def test_a_session_beside_another_is_recognised(query: str, step: int) -> None:
    assert beside_which(query) == step


def test_the_neighbour_of_a_session_is_the_next_one_there_is() -> None:
    sessions = days(0, 3, 4)

    assert neighbour(NOON, sessions, 1) == Then(
        start=sessions[1].start, end=sessions[1].end + timedelta(microseconds=1)
    )
    assert neighbour(NOON, sessions, -1) is None
    assert neighbour(NOW, sessions, 1) is None


def test_of_many_an_even_choice_is_taken() -> None:
    assert spread(range(10), 5) == [0, 2, 4, 6, 8]
    assert spread(range(3), 5) == [0, 1, 2]
