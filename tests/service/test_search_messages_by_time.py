"""Questions that name a time or a session get what was said then, and that first."""

from datetime import datetime, timedelta, timezone

import pytest

from recollect import LocalRecollect, MessageHit
from support import START, FakeClock
from tables import each_row

# START is Friday, 8 May 2026, noon.
DAYS = ("2026-03-20", "2026-04-14", "2026-05-01", "2026-05-04", "2026-05-07")


def contents(hits: list[MessageHit]) -> list[str]:
    return [hit.message.content for hit in hits]


@pytest.fixture
def talks(rec: LocalRecollect) -> list[str]:
    """One talk about deploys on each of DAYS, in order."""
    ids = []
    for day in DAYS:
        talk = rec.conversations.start(agent="anna", started_at=f"{day}T09:00")
        rec.conversations.append_many(
            talk,
            [
                {"role": role, "content": f"{text} on {day}", "created_at": f"{day}T{at}"}
                for role, text, at in (
                    ("user", "how do we deploy", "09:00"),
                    ("assistant", "we deploy with care", "09:01"),
                    ("user", "thanks", "09:02"),
                )
            ],
        )
        rec.conversations.end(talk, ended_at=f"{day}T10:00")
        ids.append(talk.id)
    return ids


TIMES = [
    ("last Friday", "2026-05-01"),
    ("yesterday", "2026-05-07"),
    ("on May 4th", "2026-05-04"),
    ("on 2026-04-14", "2026-04-14"),
    ("in March", "2026-03-20"),
    ("in April", "2026-04-14"),
    ("in the last session", "2026-05-07"),
    ("two sessions ago", "2026-05-04"),
    ("three sessions ago", "2026-05-01"),
]


@each_row(
    ("mode", "when", "day"),
    [(mode, *time) for mode in ("hybrid", "fts", "vector") for time in TIMES],
)
def test_a_question_with_a_time_gets_what_was_said_then_first(
    rec: LocalRecollect, talks: list[str], mode: str, when: str, day: str
) -> None:
    rec.drain()
    hits = rec.conversations.search(f"how do we deploy {when}?", agent="anna", mode=mode)

    assert hits[0].parts.in_time
    assert hits[0].message.conversation_id == talks[DAYS.index(day)]
    then = [hit.parts.in_time for hit in hits]
    assert then == sorted(then, reverse=True)  # what was said then stands before all else
    assert all(day in hit.message.content for hit in hits if hit.parts.in_time)
    assert "in the requested time range" in hits[0].explanation


def test_what_was_said_then_and_shares_the_word_is_not_hidden_behind_other_times(
    rec: LocalRecollect, talks: list[str]
) -> None:
    question = "what did we say about the deploy yesterday?"
    by_words = rec.conversations.search(question, agent="anna", mode="fts")
    hybrid = rec.conversations.search(question, agent="anna")

    assert by_words[0].parts.in_time
    assert hybrid[0].parts.in_time


@each_row(
    ("question", "day"),
    [
        ("what did we talk about last Friday?", "2026-05-01"),
        ("what did we discuss yesterday?", "2026-05-07"),
        ("what did we talk about in the last session?", "2026-05-07"),
        ("what did we talk about five sessions ago?", "2026-03-20"),
        ("what did we discuss in April?", "2026-04-14"),
    ],
)
def test_a_question_of_nothing_but_a_time_lists_that_time_in_order(
    rec: LocalRecollect, talks: list[str], question: str, day: str
) -> None:
    hits = rec.conversations.search(question, agent="anna")

    assert contents(hits) == [
        f"how do we deploy on {day}",
        f"we deploy with care on {day}",
        f"thanks on {day}",
    ]
    assert {hit.parts.search_mode for hit in hits} == {"time"}


def test_a_range_without_a_question_lists_that_range_in_order(
    rec: LocalRecollect, talks: list[str]
) -> None:
    hits = rec.conversations.search("", agent="anna", since="2026-05-01", until="2026-05-04")
    shaped = rec.conversations.letta_search(
        "anna", start_date="2026-05-01", end_date="2026-05-04", limit=50
    )

    assert [content[-10:] for content in contents(hits)] == ["2026-05-01"] * 3 + ["2026-05-04"] * 3
    assert [result["content"] for result in shaped["results"]] == contents(hits)
    assert rec.conversations.search("", agent="anna") == []


def test_of_a_long_time_the_users_words_are_shown_evenly_spread(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna", started_at="2026-04-01")
    rec.conversations.append_many(
        talk,
        [
            {
                "role": "assistant" if number % 2 else "user",
                "content": f"m{number}",
                "created_at": f"2026-04-{1 + number // 10:02d}T{number % 10:02d}:00",
            }
            for number in range(200)
        ],
    )
    hits = rec.conversations.search("what did we say in April?", agent="anna", limit=5)

    assert contents(hits) == ["m0", "m40", "m80", "m120", "m160"]


def test_the_beginning_of_a_very_long_time_is_not_forgotten(words_only: LocalRecollect) -> None:
    talk = words_only.conversations.start(agent="anna", started_at="2026-04-01")
    words_only.conversations.append_many(
        talk,
        [
            {
                "role": "user",
                "content": f"m{number}",
                "created_at": f"2026-04-{1 + number // 20:02d}T{number % 20:02d}:00",
            }
            for number in range(500)
        ],
    )
    hits = words_only.conversations.search("what did we say in April?", agent="anna", limit=5)

    assert contents(hits)[0] == "m0"


def test_the_session_that_still_goes_on_is_not_the_last_one(
    rec: LocalRecollect, talks: list[str]
) -> None:
    present = rec.conversations.start(agent="anna", started_at="2026-05-08T11:00")
    question = "how do we deploy in the last session?"
    rec.conversations.append(present, "user", question)

    for asked_in in (None, present):
        hits = rec.conversations.search(question, agent="anna", asked_in=asked_in)
        assert hits[0].message.conversation_id == talks[-1]
        assert hits[0].parts.in_time


def test_sessions_are_counted_back_from_the_one_the_question_is_asked_in(
    rec: LocalRecollect, talks: list[str]
) -> None:
    hits = rec.conversations.search(
        "what did we talk about in the last session?", agent="anna", asked_in=talks[2]
    )

    assert {hit.message.conversation_id for hit in hits} == {talks[1]}


def test_more_sessions_back_than_there_were_leaves_the_words(
    rec: LocalRecollect, talks: list[str]
) -> None:
    hits = rec.conversations.search("how did we deploy 40 sessions ago?", agent="anna")

    assert hits
    assert not any(hit.parts.in_time for hit in hits)


def test_another_session_is_not_claimed_to_be_the_one_that_is_searched(
    rec: LocalRecollect, talks: list[str]
) -> None:
    hits = rec.conversations.search("deploy in the last session", conversation=talks[0])

    assert not any(hit.parts.in_time for hit in hits)


def test_a_session_in_which_nothing_was_said_is_no_session(
    rec: LocalRecollect, talks: list[str]
) -> None:
    empty = rec.conversations.start(agent="anna", started_at="2026-05-08T08:00")
    rec.conversations.end(empty)

    assert contents(
        rec.conversations.search("what did we discuss in the last session?", agent="anna")
    )


def test_days_are_those_of_whoever_asks(rec: LocalRecollect) -> None:
    talk = rec.conversations.start(agent="anna", started_at="2026-05-07")
    for at in ("2026-05-07T14:30", "2026-05-07T15:30"):
        rec.conversations.append(talk, "user", f"said {at}", created_at=at)
    tokyo = timezone(timedelta(hours=9))
    asked_at = datetime(2026, 5, 9, 10, 0, tzinfo=tokyo)

    hits = rec.conversations.search("what did we say yesterday?", agent="anna", asked_at=asked_at)

    assert contents(hits) == ["said 2026-05-07T15:30"]  # half past midnight of the 8th in Tokyo


def test_times_are_told_from_the_moment_of_asking_and_not_from_now(
    rec: LocalRecollect, talks: list[str], clock: FakeClock
) -> None:
    clock.advance(days=400)

    hits = rec.conversations.search(
        "what did we say yesterday?", agent="anna", asked_at=START.isoformat()
    )

    assert {hit.message.conversation_id for hit in hits} == {talks[-1]}


def test_a_time_and_a_filter_hold_together(rec: LocalRecollect, talks: list[str]) -> None:
    hits = rec.conversations.search(
        "how do we deploy in May?", agent="anna", roles="user", since="2026-05-02", mode="fts"
    )

    assert contents(hits) == ["how do we deploy on 2026-05-07", "how do we deploy on 2026-05-04"]
