"""
Queries about the past: the time range each asks for, and the rest to search for.

The labelled questions are in `time_questions.json`, whose head says how they were written. Half of
them are held out: no rule was made for them.
"""

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from time import process_time
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.query_time_range import (
    QueryTimeRange,
    find_query_time_range,
    is_only_about_time,
)
from recollect.text.session_references import SessionCount, find_session_references
from tables import each_row

NOW = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)  # a Wednesday
MIN_ACCURACY = 0.95


class LabelledQuery(NamedTuple):
    query: str
    asked_at: datetime
    start: datetime | None
    end: datetime | None
    sessions_ago: int | None
    is_none: bool
    slack: timedelta
    is_held_out: bool


def labelled_queries() -> list[LabelledQuery]:
    written = json.loads((Path(__file__).parent / "time_questions.json").read_text("utf-8"))
    return [
        LabelledQuery(
            query=row["query"],
            asked_at=datetime.fromisoformat(row["asked_at"]),
            start=datetime.fromisoformat(row["start"]) if row.get("start") else None,
            end=datetime.fromisoformat(row["end"]) if row.get("end") else None,
            sessions_ago=row.get("sessions_ago"),
            is_none=row.get("none", False),
            slack=timedelta(hours=row.get("slack_h", 0)),
            is_held_out=row.get("held", False),
        )
        for row in written["questions"]
    ]


QUERIES = labelled_queries()


def is_right(expected: LabelledQuery, time_range: QueryTimeRange | None) -> bool:
    if expected.is_none or time_range is None:
        return expected.is_none and time_range is None
    if expected.sessions_ago is not None or time_range.sessions_ago is not None:
        is_span = time_range.start is not None or time_range.end is not None
        return expected.sessions_ago == time_range.sessions_ago and not is_span
    if expected.start is None or time_range.start is None:
        is_started = expected.start is None and time_range.start is None
    else:
        is_started = abs(expected.start - time_range.start) <= expected.slack
    now = expected.asked_at  # nothing was said later
    end, range_end = min(expected.end or now, now), min(time_range.end or now, now)
    return is_started and abs(end - range_end) <= expected.slack


@each_row("is_held_out", [False, True], ids=["tuned on", "held out"])
def test_the_labelled_queries_are_resolved(is_held_out: bool) -> None:
    questions = [question for question in QUERIES if question.is_held_out is is_held_out]

    answers = [(q, find_query_time_range(q.query, asked_at=q.asked_at)) for q in questions]

    wrong = [
        f"{q.query!r} at {q.asked_at}: {asked}" for q, asked in answers if not is_right(q, asked)
    ]
    assert 1 - len(wrong) / len(questions) >= MIN_ACCURACY, "\n".join(wrong)


def test_every_second_query_is_held_out_and_enough_are_traps() -> None:
    assert [question.is_held_out for question in QUERIES] == [False, True] * (len(QUERIES) // 2)
    assert len(QUERIES) >= 160
    assert sum(question.is_none for question in QUERIES) >= 40


@each_row(
    ("query", "text", "rest"),
    [
        ("what did we decide last Friday?", "last Friday", "what did we decide?"),
        ("yesterday's notes on the parser", "yesterday", "notes on the parser"),
        ("yesterday’s notes", "yesterday", "notes"),
        ("the todo list from last Sunday", "last Sunday", "the todo list"),
        ("what did we talk about on Friday?", "on Friday", "what did we talk about?"),
        ("what did we talk about last week", "last week", "what did we talk about"),
        ("back in March we compared two", "in March", "we compared two"),
        ("this Monday, what broke?", "this Monday", "what broke?"),
        ("earlier today you named an index", "earlier today", "you named an index"),
        ("summary of this week please", "this week", "summary please"),
        ("what did I say in May about pricing?", "in May", "what did I say about pricing?"),
        ("the bug from three sessions ago", "three sessions ago", "the bug"),
        ("the end of our previous conversation", "our previous conversation", "the end"),
        ("in my last chat with you I pasted it", "my last chat with you", "I pasted it"),
        ("what changed since the last session?", "the last session", "what changed?"),
        ("said on Monday and on Tuesday, no?", "on Monday … on Tuesday", "said, no?"),
        ("10 sessions ago", "10 sessions ago", ""),
    ],
)
def test_the_rest_is_the_question_without_the_expression(query: str, text: str, rest: str) -> None:
    time_range = find_query_time_range(query, asked_at=NOW)

    assert time_range is not None
    assert (time_range.text, time_range.rest) == (text, rest)


def day(number: int) -> datetime:
    return datetime(2026, 6, number, tzinfo=UTC)


@each_row(
    ("query", "start", "end"),
    [
        ("since Monday", day(15), None),
        ("over the past ten days", day(7), None),
        ("before last week", None, day(8)),
        ("until Monday", None, day(16)),
        ("in June, on the 8th", day(8), day(9)),
        ("after June 3 but before June 9", day(4), day(9)),
        ("on Monday and on Friday", day(12), day(16)),
        ("what did I say yesterday about the trip in May?", day(16), day(17)),
        ("what did I say about the trip yesterday", day(16), day(17)),
        ("in the 1970s", datetime(1970, 1, 1, tzinfo=UTC), datetime(1980, 1, 1, tzinfo=UTC)),
        ("30 minutes ago", NOW - timedelta(minutes=40), NOW - timedelta(minutes=19)),
        ("2026-06-08T10:00Z", day(8) + timedelta(hours=10), day(8) + timedelta(minutes=601)),
    ],
)
def test_several_dates_and_open_ones_mean_one_span(
    query: str, start: datetime | None, end: datetime | None
) -> None:
    time_range = find_query_time_range(query, asked_at=NOW)

    assert time_range is not None
    assert (time_range.start, time_range.end, time_range.sessions_ago) == (start, end, None)


def test_a_reference_to_sessions_has_priority_over_a_date() -> None:
    time_range = find_query_time_range(
        "what did I say last session about the trip in May?", asked_at=NOW
    )

    assert time_range == QueryTimeRange(
        "last session", "what did I say about the trip in May?", None, None, SessionCount(1)
    )


@each_row(
    ("text", "sessions"),
    [
        ("our last talk, our previous discussion", [1, 1]),
        ("the most recent chat; the very last conversation", [1, 1]),
        ("the time before last, the session before the last one", [2, 2]),
        ("next to last session, penultimate chat, second-to-last conversation", [2, 2, 2]),
        ("a session ago, a couple of chats ago, 12 conversations ago", [1, 2, 12]),
        ("when we last talked; the last time we spoke you were kind", [1, 1]),
        ("last session's plan", [1]),
    ],
)
def test_sessions_are_counted_back(text: str, sessions: list[int]) -> None:
    assert [reference.sessions for reference in find_session_references(text)] == [
        SessionCount(number) for number in sessions
    ]


@each_row(
    ("text", "count"),
    [
        ("our first conversation", SessionCount(1, from_first=True)),
        ("the very first session", SessionCount(1, from_first=True)),
        ("our earliest chat", SessionCount(1, from_first=True)),
        ("my third session", SessionCount(3, from_first=True)),
        ("the first time we talked", SessionCount(1, from_first=True)),
        ("the second time we spoke", SessionCount(2, from_first=True)),
        ("when we first talked", SessionCount(1, from_first=True)),
        ("our first two chats", SessionCount(1, from_first=True, length=2)),
        ("the last three sessions", SessionCount(3, length=3)),
        ("the past 12 conversations", SessionCount(12, length=12)),
        ("the next session", SessionCount(1, from_first=True, needs_time=True)),
    ],
)
def test_sessions_are_counted_from_the_first_or_several_at_once(
    text: str, count: SessionCount
) -> None:
    assert [reference.sessions for reference in find_session_references(text)] == [count]


def test_a_next_session_without_a_time_is_not_in_the_past() -> None:
    assert find_query_time_range("what do we plan for the next session?", asked_at=NOW) is None


@each_row(
    "text",
    [
        "when was the last time we talked?",
        "our previous conversation about data privacy, the last chat regarding Ann",
        "a second conversation, first sessions, the first session of the course",
        "last time we talked about the garden, what did I say",
        "for the last time, the last time we deployed, it will last time and again",
        "my last chat with Ann, the last session of the course, the last talk at the fair",
        "last_session, last-session, docs/last session, last session(), the last session id",
        "before the last session, until our previous chat",
        "0 sessions ago, 5000 sessions ago, the last thousand sessions, three sessions a day",
        "",
    ],
)
def test_other_sessions_and_last_times_are_not_matched(text: str) -> None:
    assert find_session_references(text) == ()


@each_row(
    "query",
    [
        "what did we plan for next Friday?",
        "what is due in 2030",
        "what is in the May release?",
        "what did we plan for the Christmas party",
        "recently, the other day, a while ago",
        "",
    ],
)
def test_a_query_without_a_past_time_has_no_time_range(query: str) -> None:
    assert find_query_time_range(query, asked_at=NOW) is None


@each_row(
    "rest",
    [
        "",
        "what did we talk about?",
        "what happened",
        "show me what we discussed",
        "Remind me what I said.",
        "What's been said so far?",
        "what did we decide?",
        "give me a summary, please",
    ],
)
def test_question_words_and_verbs_of_talking_leave_only_the_time(rest: str) -> None:
    assert is_only_about_time(rest)


@each_row("rest", ["what did I say about pricing?", "the bug", "which colour", "was it 42", "价格"])
def test_anything_else_can_be_searched_for(rest: str) -> None:
    assert not is_only_about_time(rest)


WORDS = """
last previous the our a couple of session sessions chat conversation before after since until ago
when we spoke talked time second to - penultimate very most recent with you and or about in on
from last this earlier today yesterday week of may friday christmas eve new year 's day day 90s '
the nineties 1990s 3 10 two minutes 2026-05-08 ? , . _ (
"""
phrases = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)
zones = st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-11))])
moments = st.datetimes(timezones=st.none() | zones)


@given(phrases | st.text(), moments)
def test_any_query_is_handled_and_its_range_is_not_empty(query: str, asked_at: datetime) -> None:
    time_range = find_query_time_range(query, asked_at=asked_at)

    if time_range is None:
        return
    assert time_range.text
    assert len(time_range.rest) <= len(query)
    assert time_range.start is None or time_range.end is None or time_range.start < time_range.end
    is_only_about_time(time_range.rest)


@pytest.mark.fuzz
@pytest.mark.parametrize("asked_at", [datetime.min, datetime.max])
@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-9))]
)
@given(phrases)
def test_the_first_and_last_day_of_the_calendar_raise_no_error(
    asked_at: datetime, zone: timezone, query: str
) -> None:
    find_query_time_range(query, asked_at=asked_at.replace(tzinfo=zone))


@pytest.mark.fuzz
@pytest.mark.parametrize(
    "piece",
    [
        "last ",
        "the ",
        "the last ",
        "second-to-",
        "session before ",
        "most recent ",
        "a couple of ",
        "yesterday ",
        "yesterday's ",
        "in in in yesterday ",
        "last session ",
        "about ",
        " ,",
        "christmas ",
        "christmas ' ",
        "new year's ",
        "the week of ",
        "earlier ",
        "in the '",
        "\n",
        "two fridays ",
    ],
)
def test_a_hostile_question_takes_time_in_proportion_to_its_length(piece: str) -> None:
    query = (piece * 100_000)[:100_000]
    start = process_time()

    time_range = find_query_time_range(query, asked_at=NOW)
    is_only_about_time(time_range.rest if time_range else query)

    assert process_time() - start < 5  # tenths of a second; worse than linear takes minutes
