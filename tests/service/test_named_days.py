"""A relative date is stored as the day it meant, and shown beside the words, which stay."""

from datetime import date

from recollect import LocalRecollect, Memory
from recollect.domain.provenance import MentionedDate

PLUMBER = "The plumber comes on Wednesday."
MONDAY, NEXT_MONDAY = "2026-04-27", "2026-05-04"


def say(rec: LocalRecollect, text: str, day: str) -> None:
    contents = (("assistant", f"Good morning of {day}."), ("user", text))
    messages = [
        {"role": role, "content": content, "created_at": f"{day}T10:00:00Z"}
        for role, content in contents
    ]
    rec.capture_session(messages, project="flat", session=day)
    rec.drain()


def statements(rec: LocalRecollect) -> list[Memory]:
    statuses = ["inbox", "stated", "active"]
    memories = rec.memories.list(project="flat", statuses=statuses, limit=50)
    return sorted(
        (memory for memory in memories if memory.type != "episode"),
        key=lambda memory: memory.observed_at,
    )


def test_the_day_of_a_statement_is_stored_and_shown_and_the_quote_stays(
    rec: LocalRecollect,
) -> None:
    say(rec, PLUMBER, MONDAY)

    [plumber] = statements(rec)
    text = rec.context_for("what did I say about the plumber?", project="flat").text

    assert plumber.provenance.dates == (MentionedDate("on Wednesday", date(2026, 4, 29)),)
    assert (plumber.content, plumber.evidence[0].quote) == (PLUMBER, PLUMBER)
    assert "said on 2026-04-27, not reviewed; Wednesday 2026-04-29)" in text


def test_what_is_told_of_an_earlier_day_is_not_shown_as_said_on_that_day(
    rec: LocalRecollect,
) -> None:
    say(rec, "Last month I moved to Porto.", MONDAY)

    [moved] = statements(rec)
    [hit] = rec.search("Porto", project="flat", types=moved.type)
    text = rec.context_for("when did I move to Porto?", project="flat").text

    assert moved.observed_at.date() == date(2026, 3, 1)
    assert "said of 2026-03-01, not reviewed" in hit.explanation
    assert "said of 2026-03-01, not reviewed" in text


def test_the_same_words_in_another_week_mean_another_day(rec: LocalRecollect) -> None:
    for day in (MONDAY, MONDAY, NEXT_MONDAY):
        say(rec, PLUMBER, day)

    days = [memory.provenance.dates[0].day for memory in statements(rec)]

    assert days == [date(2026, 4, 29), date(2026, 5, 6)]


def test_a_rule_has_no_day_of_the_incident_it_came_from(rec: LocalRecollect) -> None:
    say(rec, "We lock the cellar since the flood last Tuesday.", MONDAY)
    say(rec, "Amounts are stored in cents because of an incident on Friday.", MONDAY)

    assert [memory.provenance.dates for memory in statements(rec)] == [(), ()]


def test_a_word_that_names_no_weekday_stands_before_its_day() -> None:
    assert MentionedDate("tomorrow", date(2026, 5, 6)).label == "tomorrow = 2026-05-06"
    assert MentionedDate("by Friday", date(2026, 5, 8)).label == "Friday 2026-05-08"
