"""When what was said holds: a table of sentences, all said on Monday 2026-10-05 at noon."""

from datetime import UTC, datetime

from recollect.text.statement_dates import (
    dates_in_statement,
    named_days,
    observed_at,
    upcoming_dates,
)
from tables import each_row

SAID_AT = datetime(2026, 10, 5, 12, 0, tzinfo=UTC)  # a Monday


@each_row(
    ("text", "day"),
    [
        ("the first pallet comes on Wednesday", "2026-10-07"),
        ("I've changed the mill, the first pallet comes on Wednesday", "2026-10-07"),
        ("Ana called, she arrives on Friday", "2026-10-09"),
        ("the shop is closed on Thursday", "2026-10-08"),
        ("we need the form by Friday", "2026-10-09"),
        ("the lease runs until the end of March", "2027-03-31"),
        ("you can reach me here until Friday", "2026-10-09"),
        ("it has to be signed before the 1st of December", "2026-12-01"),
        ("the draft is due by the end of January", "2027-01-31"),
        ("a man called Rab brings the piano on the 21st", "2026-10-21"),
        ("next week we need to rotate the key", "2026-10-12"),
        ("we leave in 3 days", "2026-10-08"),
        ("I begged until she agreed: I've got till the middle of March", "2027-03-20"),
    ],
)
def test_a_date_in_a_clause_of_the_present_or_future_is_the_next_one(text: str, day: str) -> None:
    [date] = upcoming_dates(text, said_at=SAID_AT)

    assert date.day.isoformat() == day


@each_row(
    "text",
    [
        "Ana arrived on Friday",
        "we were closed on Thursday",
        "he said it on Wednesday",
        "the lease ended at the end of March",
    ],
)
def test_a_date_in_a_clause_of_the_past_is_not_upcoming(text: str) -> None:
    assert upcoming_dates(text, said_at=SAID_AT) == ()


@each_row(
    ("text", "day"),
    [
        ("Yesterday we agreed to drop the beta", "2026-10-04"),
        ("we decided on Friday to keep the old mill", "2026-10-02"),
        ("last week we moved the archive", "2026-09-28"),
        ("I moved out on Saturday, the new flat is smaller", "2026-10-03"),
        ("we rented the hall until the end of March", "2026-03-31"),
        ("he stayed until Friday", "2026-10-02"),
        ("we moved after the fire in May", "2026-05-01"),
    ],
)
def test_a_past_event_was_when_its_own_clause_says(text: str, day: str) -> None:
    assert observed_at(text, said_at=SAID_AT).date().isoformat() == day


@each_row(
    "text",
    [
        "we use cents, never floats, because we had a rounding incident in March",
        "from now on we deploy on Mondays, the Friday deploy in August went wrong",
        "we decided: money is stored as integer cents, Lene had a rounding bug in March",
        "money is stored in cents because of a rounding incident in March",
        "after the outage in July we always deploy in pairs",
        "nobody deploys on Fridays since the site was down last week",
        "we switched to Zettle because SumUp failed on Saturday",
        "the lease runs until the end of March",
        "the first pallet comes on Wednesday",
        "we moved to Oslo",
        "my manager is Tomas since Friday, Priya moved to the data team",
        "In 2019 I moved to Oslo",
    ],
)
def test_a_rule_holds_from_when_it_was_said_not_from_its_cause(text: str) -> None:
    assert observed_at(text, said_at=SAID_AT) == SAID_AT


@each_row("text", ["until the end of March", "we rented it until May", "it was so before 2019"])
def test_no_date_of_a_statement_begins_in_1970(text: str) -> None:
    [date] = dates_in_statement(text, said_at=SAID_AT)

    assert date.start.year >= 2018
    assert date.start < date.end


@each_row(
    ("text", "day"),
    [
        ("the plumber comes on Wednesday", "2026-10-07"),
        ("Yesterday I moved to Kyoto", "2026-10-04"),
        ("the exam is on the 21st of October", "2026-10-21"),
        ("I am away until Friday", "2026-10-09"),
        ("the lease runs until the end of March", "2027-03-31"),
        ("we had an outage last Tuesday", "2026-09-29"),
        ("I called the mill yesterday, the pallet comes on Wednesday", "2026-10-04 2026-10-07"),
    ],
)
def test_a_day_that_a_statement_names_is_resolved(text: str, day: str) -> None:
    days = named_days(text, said_at=SAID_AT)

    assert " ".join(date.day.isoformat() for date in days) == day


@each_row(
    "text",
    [
        "they deliver on Mondays",
        "we never deploy on Friday",
        "every Wednesday the plumber comes",
        "my birthday is on 12 March",
        "the market is on Sunday now, not Saturday",
        "we meet on Monday and on Thursday",
        "our stall opens at eight on Saturday",
        "amounts are cents because of an incident in March",
        "we lock up after the fire on Tuesday",
        "no floats are used, Lene had a bug on Tuesday",
        "the release is on 2026-10-20",
        "I was born in 1987",
        "we start next month",
        "today I am ill",
    ],
)
def test_habits_reasons_periods_and_full_dates_name_no_day_to_resolve(text: str) -> None:
    assert named_days(text, said_at=SAID_AT) == ()
