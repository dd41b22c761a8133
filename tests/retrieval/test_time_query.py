"""Parse the time that a query names and match it with sessions, without a store."""

from datetime import UTC, datetime, timedelta

from recollect.retrieval.ranking_constants import SESSION_GAP
from recollect.retrieval.time_query import (
    SessionSpan,
    TimeRange,
    adjacent_session,
    adjacent_session_step,
    parse_time_query,
    pick_sessions,
    resolve_time_range,
    sample_evenly,
    split_sessions,
)
from recollect.text.session_references import SessionCount
from tables import each_row

NOON = datetime(2026, 5, 8, 12, tzinfo=UTC)
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def days(*numbers: int) -> list[SessionSpan]:
    return [SessionSpan(NOON + timedelta(days=n), NOON + timedelta(days=n)) for n in numbers]


def test_a_gap_ends_a_session() -> None:
    moments = [NOON, NOON + SESSION_GAP, NOON + 2 * SESSION_GAP, NOON + 4 * SESSION_GAP]

    sessions = split_sessions(moments, asked_at=NOW)

    assert sessions == [
        SessionSpan(NOON, NOON + 2 * SESSION_GAP),
        SessionSpan(NOON + 4 * SESSION_GAP, NOON + 4 * SESSION_GAP),
    ]


def test_a_recent_observation_belongs_to_the_current_session() -> None:
    yesterday = NOW - timedelta(days=1)

    sessions = split_sessions([yesterday, NOW - SESSION_GAP / 2], asked_at=NOW)

    assert sessions == [SessionSpan(yesterday, yesterday)]


def test_an_observation_after_the_query_does_not_count() -> None:
    assert split_sessions([NOW + timedelta(days=1)], asked_at=NOW) == []


@each_row(
    ("count", "expected"),
    [
        (SessionCount(1), "d"),
        (SessionCount(3), "b"),
        (SessionCount(3, length=3), "bcd"),
        (SessionCount(1, from_first=True), "a"),
        (SessionCount(1, from_first=True, length=2), "ab"),
        (SessionCount(4), "a"),
        (SessionCount(5), ""),
        (SessionCount(5, from_first=True), ""),
    ],
)
def test_sessions_are_counted_from_either_end(count: SessionCount, expected: str) -> None:
    assert "".join(pick_sessions(count, list("abcd"))) == expected


@each_row(
    ("query", "day"),
    [
        ("what did we talk about in our last session before May 10th?", 1),
        ("what was our first conversation after May 9th about?", 2),
        ("the last chat of May", 4),
        ("our second conversation in May", 1),
        ("what did we discuss the next time we talked after May 8th?", 1),
    ],
)
def test_sessions_are_counted_within_the_named_time(query: str, day: int) -> None:
    parsed = parse_time_query(query, asked_at=NOW)

    assert parsed is not None
    assert parsed.time is not None
    assert parsed.topic == ""
    time_range = resolve_time_range(parsed.time, days(0, 1, 2, 3, 4, 24))
    assert time_range is not None
    assert time_range.start == NOON + timedelta(days=day)


def test_a_count_beyond_the_sessions_has_no_range() -> None:
    parsed = parse_time_query("what did we say five sessions ago?", asked_at=NOW)

    assert parsed is not None
    assert parsed.time is not None
    assert resolve_time_range(parsed.time, days(0, 1)) is None


@each_row(
    ("query", "step"),
    [
        ("the session right after the one in which we said “hello”", 1),
        ("what did we cover in the conversation before the one where Ann left?", -1),
        ("what happened after the one in which he sang?", 0),
        ("before the session started", 0),
        ("after May 8th", 0),
    ],
)
def test_a_session_before_or_after_another_is_recognised(query: str, step: int) -> None:
    assert adjacent_session_step(query) == step


def test_the_neighbour_of_a_session_is_the_next_existing_one() -> None:
    sessions = days(0, 3, 4)

    assert adjacent_session(NOON, sessions, 1) == TimeRange(
        start=sessions[1].start, end=sessions[1].end + timedelta(microseconds=1)
    )
    assert adjacent_session(NOON, sessions, -1) is None
    assert adjacent_session(NOW, sessions, 1) is None


def test_a_sample_is_evenly_spaced() -> None:
    assert sample_evenly(range(10), 5) == [0, 2, 4, 6, 8]
    assert sample_evenly(range(3), 5) == [0, 1, 2]
