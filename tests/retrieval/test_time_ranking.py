"""Memories ranked by the time a query names, through the public API."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from recollect import LocalRecollect
from tables import each_row

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)  # a Wednesday


@pytest.fixture
def diary(words_only: LocalRecollect) -> LocalRecollect:
    for day, content in (
        ("2026-05-08T10:00", "Ana planted tomatoes in the garden."),
        ("2026-05-08T10:05", "The garden hose leaks."),
        ("2026-05-20T09:00", "Bruno repaired the boiler."),
        ("2026-06-05T18:00", "Ana painted the garden fence."),
        ("2026-06-09T20:00", "The concert was sold out."),
    ):
        words_only.ingest(content, type="episode", observed_at=day)
    return words_only


def search_contents(
    rec: LocalRecollect, query: str, asked_at: datetime = NOW, limit: int = 10
) -> list[str]:
    hits = rec.search(query, asked_at=asked_at, limit=limit)
    return [hit.memory.content for hit in hits]


@each_row(
    ("query", "contents"),
    [
        (
            "What did we talk about on May 8th?",
            ["Ana planted tomatoes in the garden.", "The garden hose leaks."],
        ),
        ("what happened last Friday?", ["Ana painted the garden fence."]),
        ("what did we discuss yesterday", ["The concert was sold out."]),
        ("What was our last conversation about?", ["The concert was sold out."]),
        ("what did we say three sessions ago?", ["Bruno repaired the boiler."]),
        ("Remind me of our second conversation.", ["Bruno repaired the boiler."]),
        (
            "What did we talk about the first time we talked in June?",
            ["Ana painted the garden fence."],
        ),
        (
            "what did we talk about in our last two sessions?",
            ["Ana painted the garden fence.", "The concert was sold out."],
        ),
        (
            "What was the session right after the one in which Bruno repaired the boiler about?",
            ["Ana painted the garden fence."],
        ),
    ],
)
def test_memories_observed_at_the_named_time_come_first_and_in_order(
    diary: LocalRecollect, query: str, contents: list[str]
) -> None:
    assert search_contents(diary, query)[: len(contents)] == contents


def test_with_a_topic_a_time_boosts_memories_observed_then(diary: LocalRecollect) -> None:
    fence, tomatoes = "Ana painted the garden fence.", "Ana planted tomatoes in the garden."

    assert search_contents(diary, "What did Ana do in the garden?")[0] == fence
    in_may = search_contents(diary, "What did Ana do in the garden in May?")

    assert in_may[0] == tomatoes
    assert fence in in_may


def test_a_time_without_memories_removes_no_hits(diary: LocalRecollect) -> None:
    assert search_contents(diary, "Who repaired the boiler in January?") == [
        "Bruno repaired the boiler."
    ]
    assert search_contents(diary, "Who repaired the boiler nine sessions ago?")[0] == (
        "Bruno repaired the boiler."
    )


def test_days_follow_the_time_zone_of_the_query(diary: LocalRecollect) -> None:
    there = timezone(timedelta(hours=10))
    asked_at = datetime(2026, 6, 10, 22, tzinfo=there)

    today = search_contents(diary, "what did we talk about today?", asked_at)[:1]

    assert today == ["The concert was sold out."]  # 20:00 UTC on the 9th is the 10th there


def test_more_memories_than_the_limit_are_sampled_evenly(words_only: LocalRecollect) -> None:
    for hour in range(20):
        words_only.ingest(f"note {hour}", observed_at=datetime(2026, 5, 8, hour, tzinfo=UTC))

    sample = search_contents(words_only, "what did we talk about on May 8th?", limit=4)

    assert sample == ["note 0", "note 5", "note 10", "note 15"]


def test_the_explanation_names_the_requested_time(diary: LocalRecollect) -> None:
    listed = diary.search("What did we talk about on May 20th?", asked_at=NOW)[0]
    boosted = diary.search("What did Bruno repair on May 20th?", asked_at=NOW)[0]

    assert listed.explanation.startswith("Is in the requested time range")
    assert "in the requested time range" in boosted.explanation


def test_why_not_uses_the_rank_after_time_ranking(diary: LocalRecollect) -> None:
    fence = next(hit.memory for hit in diary.search("fence"))

    verdict = diary.why_not(fence.id, "what happened last Friday?", asked_at=NOW)

    assert (verdict.rule, verdict.detail["rank"]) == ("returned", 1)
