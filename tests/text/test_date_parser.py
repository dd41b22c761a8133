"""
Date expressions: the time span each one means, and text that only looks like one.

In the table, «…» stands around each expression that must be found, and nothing else may be. What it
means is written as a day, or as two moments with a slash between, the second not included.
"""

import string
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from itertools import pairwise
from time import process_time
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.date_calendar import Direction
from recollect.text.date_parser import DEFAULT_START, MAX_TIME, MIN_TIME, find_dates
from tables import each_row

WEDNESDAY = datetime(2026, 6, 17, 15, 30, tzinfo=UTC)
SUNDAY = datetime(2026, 6, 21, 9, 0, tzinfo=UTC)
FRIDAY = datetime(2026, 6, 19, 9, 0, tzinfo=UTC)
JANUARY = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
APRIL = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
NEW_YORK = timezone(timedelta(hours=-4))
LATE_IN_NEW_YORK = datetime(2026, 6, 17, 22, 0, tzinfo=NEW_YORK)  # the 18th in UTC


class DateCase(NamedTuple):
    text: str
    spans: tuple[str, ...] = ()
    asked_at: datetime = WEDNESDAY
    direction: Direction = "past"


def past(text: str, *spans: str, asked_at: datetime = WEDNESDAY) -> DateCase:
    return DateCase(text, spans, asked_at, "past")


def future(text: str, *spans: str, asked_at: datetime = WEDNESDAY) -> DateCase:
    return DateCase(text, spans, asked_at, "future")


def parse_moment(written: str, asked_at: datetime) -> datetime:
    names = {
        "now": asked_at.astimezone(UTC),
        "dawn": DEFAULT_START,
        "far": MAX_TIME,
        "first": MIN_TIME,
    }
    return names.get(written) or datetime.fromisoformat(written).replace(tzinfo=UTC)


def time_span(written: str, asked_at: datetime) -> tuple[datetime, datetime]:
    start, slash, end = written.partition("/")
    if slash:
        return parse_moment(start, asked_at), parse_moment(end, asked_at)
    return parse_moment(start, asked_at), parse_moment(start, asked_at) + timedelta(days=1)


DAYS = [
    past("what did we decide «today»?", "2026-06-17"),
    past("«Yesterday» we decided to use Redis", "2026-06-16"),
    past("see you «tomorrow»", "2026-06-18"),
    past("«the day before yesterday»", "2026-06-15"),
    past("«day before yesterday»", "2026-06-15"),
    past("«the day after tomorrow»", "2026-06-19"),
    past("«today»'s plan and «yesterday»’s", "2026-06-17", "2026-06-16"),
    past("«tonight»", "2026-06-17T18:00/2026-06-18T04:00"),
    past("«last night»", "2026-06-16T18:00/2026-06-17T04:00"),
    past("what did I say «this morning»?", "2026-06-17T04:00/2026-06-17T12:00"),
    past("«this afternoon»", "2026-06-17T12:00/2026-06-17T18:00"),
    past("«this evening»", "2026-06-17T17:00/2026-06-18"),
    past("«yesterday evening»", "2026-06-16T17:00/2026-06-17"),
    past("«tomorrow morning»", "2026-06-18T04:00/2026-06-18T12:00"),
    past("«late last night»", "2026-06-17T00:40/2026-06-17T04:00"),
    past("«YESTERDAY»", "2026-06-16"),
    past("«today» at 3pm", "2026-06-17"),
]
COUNTED = [
    past("«3 days ago»", "2026-06-14"),
    past("«a day ago»", "2026-06-16"),
    past("«twenty days ago»", "2026-05-28"),
    past("«two weeks ago»", "2026-06-01/2026-06-08"),
    past("about «three weeks ago»", "2026-05-25/2026-06-01"),
    past("~«2 weeks ago»", "2026-06-01/2026-06-08"),
    past("«3 months ago»", "2026-03-01/2026-04-01"),
    past("«seven months ago»", "2025-11-01/2025-12-01"),
    past("«2 years ago»", "2024-01-01/2025-01-01"),
    past("«an hour ago»", "2026-06-17T14:00/2026-06-17T15:00"),
    past("«10 minutes ago»", "2026-06-17T15:20/2026-06-17T15:21"),
    past("«a second ago»", "2026-06-17T15:29:59/2026-06-17T15:30"),
    past("«a couple of days ago»", "2026-06-15"),
    past("«a couple weeks ago»", "2026-06-01/2026-06-08"),
    past("«a few days ago»", "2026-06-12/2026-06-16"),
    past("«several months ago»", "2026-01-01/2026-05-01"),
    past("«2-3 weeks ago»", "2026-05-25/2026-06-08"),
    past("«in 3 days»", "2026-06-20"),
    past("«in two weeks»", "2026-06-29/2026-07-06"),
    future("remind me «in two hours»", "2026-06-17T17:00/2026-06-17T18:00"),
    past("the build runs in two hours, loads in 5 seconds"),
    past("«3 days from now»", "2026-06-20"),
    past("«two days after May 8, 2026»", "2026-05-10"),
    past("«the week before 16 November 2023»", "2023-11-09/2023-11-16"),
    past("«the week before last»", "2026-06-01/2026-06-08"),
    past("«the month after next»", "2026-08-01/2026-09-01"),
    past("«a year ago today», «two months ago today»", "2025-06-17", "2026-04-17"),
    past("«two Fridays ago», «one Wednesday ago»", "2026-06-05", "2026-06-10"),
    past("half a year ago, 10,000 years ago, 1.5 years ago, 0.5 days ago"),
]
ROLLING = [
    past("«within the last 10 days»", "2026-06-07/now"),
    past("«the past two weeks»", "2026-06-03/now"),
    past("«the last few days»", "2026-06-12/now"),
    past("«over the past month»", "2026-05-17/now"),
    past("«in the last year»", "2025-06-17/now"),
    past("«the last 24 hours»", "2026-06-16T15:30/now"),
    past("«the past hour»", "2026-06-17T14:30/now"),
    past("«the past 3 months»", "2026-02-28/now", asked_at=datetime(2026, 5, 31, 1, tzinfo=UTC)),
    future("«the next 3 days»", "now/2026-06-21"),
    future("«over the next few hours»", "now/2026-06-17T20:30"),
    past("the trial will last two weeks"),
    past("at the last minute, a last-minute change, the last day, the last 5 items"),
]
BESIDE_NOW = [
    past("«last week»", "2026-06-08/2026-06-15"),
    past("«this week»", "2026-06-15/2026-06-22"),
    past("«next week»", "2026-06-22/2026-06-29"),
    past("«this week»", "2026-06-15/2026-06-22", asked_at=SUNDAY),
    past("«last month»", "2026-05-01/2026-06-01"),
    past("«last month»", "2025-12-01/2026-01-01", asked_at=JANUARY),
    past("«next month»", "2026-07-01/2026-08-01"),
    past("«last year»", "2025-01-01/2026-01-01"),
    past("«this year»", "2026-01-01/2027-01-01"),
    past("«last weekend»", "2026-06-13/2026-06-15"),
    past("«last weekend»", "2026-06-13/2026-06-15", asked_at=SUNDAY),
    past("«this weekend»", "2026-06-20/2026-06-22"),
    past("«next weekend»", "2026-06-27/2026-06-29"),
    past("«over the weekend»", "2026-06-13/2026-06-15"),
    future("«over the weekend»", "2026-06-20/2026-06-22"),
    future("«over the weekend»", "2026-06-20/2026-06-22", asked_at=SUNDAY),
    past("«the weekend before last»", "2026-06-06/2026-06-08"),
    past("«last quarter»", "2026-01-01/2026-04-01"),
    past("«this quarter»", "2026-04-01/2026-07-01"),
    past("«next quarter»", "2026-07-01/2026-10-01"),
    past("I moved to Porto «last spring»", "2026-03-01/2026-06-01"),
    past("I moved to Porto «last spring»", "2025-03-01/2025-06-01", asked_at=APRIL),
    past("«this summer»", "2026-06-01/2026-09-01", asked_at=APRIL),
    past("«next autumn»", "2026-09-01/2026-12-01"),
    past("«last fall»", "2025-09-01/2025-12-01"),
    past("«last winter»", "2025-12-01/2026-03-01"),
    past("«last winter»", "2024-12-01/2025-03-01", asked_at=JANUARY),
    past("«this winter»", "2025-12-01/2026-03-01", asked_at=JANUARY),
    future("«this winter»", "2026-12-01/2027-03-01"),
    past("«last May»", "2026-05-01/2026-06-01"),
    past("«next May»", "2027-05-01/2027-06-01"),
    past("«this May»", "2026-05-01/2026-06-01"),
    past("the last year of school, the last week of the sprint"),
]
FRIDAY_NIGHT = "2026-06-12T18:00/2026-06-13T04:00"
MAY_WEEKEND = "2026-05-09/2026-05-11"
WEEKDAYS = [
    past("what did we talk about «last Friday»?", "2026-06-12"),
    past("«last Friday»", "2026-06-12", asked_at=FRIDAY),
    past("«this Friday»", "2026-06-19"),
    past("«this Friday»", "2026-06-19", asked_at=SUNDAY),
    past("«next Friday»", "2026-06-19"),
    past("«next Friday»", "2026-06-26", asked_at=FRIDAY),
    past("«this past Friday», «this coming Friday»", "2026-06-12", "2026-06-19"),
    past("we met «on Friday»", "2026-06-12"),
    past("we met «on Friday»", "2026-06-19", asked_at=FRIDAY),
    future("we meet «on Friday»", "2026-06-19"),
    future("we meet «on Friday»", "2026-06-19", asked_at=FRIDAY),
    past("«Monday» was fine", "2026-06-15"),
    past("«Friday night»", "2026-06-12T18:00/2026-06-13T04:00"),
    past("«Monday of last week»", "2026-06-08"),
    future("«Friday next week»", "2026-06-26"),
    past("«on Sat», «on mon»", "2026-06-13", "2026-06-15"),
    past("«Friday the 13th»", "2026-03-13"),
    future("«Friday the 13th»", "2026-11-13"),
    past("«on Tuesday, June 5th, 2018»", "2018-06-05"),
    past("«Sun, 8 May 2022»", "2022-05-08"),
    past("«the last Friday of May», «the first Monday in June»", "2026-05-29", "2026-06-01"),
    past("«last week on Thursday», «last week Friday night»", "2026-06-11", FRIDAY_NIGHT),
    past("«the week of May 6», «the weekend of May 6»", "2026-05-04/2026-05-11", MAY_WEEKEND),
    past("«earlier this week», «earlier today»", "2026-06-15/now", "2026-06-17/now"),
    past("a week of work, the week of the move, earlier than that"),
    past("every Friday, every Monday and Friday, each Sunday, every other Tuesday, on Fridays"),
    past("the last Friday of «today», the second Friday", "2026-06-17"),
    past("Good Friday, Black Friday, Easter Monday"),
]
MONTHS = [
    past("«in May»", "2026-05-01/2026-06-01"),
    future("«in May»", "2027-05-01/2027-06-01"),
    past("«in June»", "2026-06-01/2026-07-01"),
    future("«in June»", "2026-06-01/2026-07-01"),
    past("«in august»", "2025-08-01/2025-09-01"),
    past("«January» was cold", "2026-01-01/2026-02-01"),
    past("«in May 2025», «March, 2024»", "2025-05-01/2025-06-01", "2024-03-01/2024-04-01"),
    past(
        "«May of last year», «in Dec last year»", "2025-05-01/2025-06-01", "2025-12-01/2026-01-01"
    ),
    past("«the May» release", "2026-05-01/2026-06-01"),
    past("«early May»", "2026-05-01/2026-05-11"),
    past("«mid-May»", "2026-05-11/2026-05-21"),
    past("«late May»", "2026-05-21/2026-06-01"),
    past("«at the beginning of May»", "2026-05-01/2026-05-11"),
    past("«the end of may»", "2026-05-21/2026-06-01"),
    past("«the end of last year», «mid 2025»", "2025-09-01/2026-01-01", "2025-05-01/2025-09-01"),
    past("«the month of May»", "2026-05-01/2026-06-01"),
    past("«the end of the month»", "2026-06-21/2026-07-01"),
    past("«the first week of May»", "2026-05-01/2026-05-08"),
    past("«the last day of February»", "2026-02-28"),
    past("«the second half of 2025»", "2025-07-01/2026-01-01"),
    past("«the first half of May»", "2026-05-01/2026-05-16"),
    past("at the end of the day, the third half of 2025, the last Friday of the sprint"),
]
DATES = [
    past("deploy is due «12 May»", "2026-05-12"),
    future("deploy is due «12 May»", "2027-05-12"),
    past("«on May 8th»", "2026-05-08"),
    past("«the 8th of May»", "2026-05-08"),
    past("«the first of May»", "2026-05-01"),
    past("«May the 4th»", "2026-05-04"),
    past("«May 8th, 2026», «May 8 2026», «May 8,2026»", *["2026-05-08"] * 3),
    past("«8 May 2026», «8th of May, 2026», «8-May-2026»", *["2026-05-08"] * 3),
    past("«Sept. 8»", "2025-09-08"),
    past("born «on 8 may 1990»", "1990-05-08"),
    past("«June 17»", "2026-06-17"),
    future("«June 17»", "2026-06-17"),
    past("«June 18»", "2025-06-18"),
    past("«Feb 29»", "2024-02-29"),
    future("«Feb 29»", "2028-02-29"),
    past("«2026-05-08» and «2026/05/08»", "2026-05-08", "2026-05-08"),
    past("«2026-05-08T10:00Z»", "2026-05-08T10:00/2026-05-08T10:01"),
    past("«2026-05-08T10:00:05.25+02:00»", "2026-05-08T08:00:05/2026-05-08T08:00:06"),
    past("«12/05/2026»", "2026-12-05"),
    past("«25/12/2025», «12/25/2025»", "2025-12-25", "2025-12-25"),
    past("«1.2.2026»", "2026-02-01"),
    past("«May 8-12», «8–12 May», «May 8 – 12»", *["2026-05-08/2026-05-13"] * 3),
    past("what did we decide «on the 8th»?", "2026-06-08"),
    future("due «on the 8th».", "2026-07-08"),
    past("«the 8th of last month»", "2026-05-08"),
    past("on the 8th floor, on the 45th, Friday the 32nd"),
    past("the 31st of «this month»", "2026-06-01/2026-07-01"),
    past("February 30, June 31, Feb 29, 2025, 31/31/2026, 2026-13-01, 2026-02-30T10:00"),
]
YEARS = [
    past("«in 2024»", "2024-01-01/2025-01-01"),
    past("done by «2030»", "2030-01-01/2031-01-01"),
    past("«in 2019-2021»", "2019-01-01/2022-01-01"),
    past("«in 2024-05»", "2024-05-01/2024-06-01"),
    past("2024 was good, port 2024, room 1999, 05-08"),
    past("in 2000 lines, after 2000 iterations, from 1990 to 2048 tokens, in 8080"),
    past("«Q3 2025», «2025 Q3», «Q3 of 2025»", *["2025-07-01/2025-10-01"] * 3),
    past("«in Q2»", "2026-04-01/2026-07-01"),
    past("«in Q3»", "2025-07-01/2025-10-01"),
    future("«in Q1»", "2027-01-01/2027-04-01"),
    past("Q2: what is a token?"),
    past(
        "«spring 2025», «in the winter of 2023»", "2025-03-01/2025-06-01", "2023-12-01/2024-03-01"
    ),
    past("«in the summer», «in autumn»", "2026-06-01/2026-09-01", "2025-09-01/2025-12-01"),
    past("in Spring, beans are singletons; prices fall"),
]
NINETIES = "1990-01-01/2000-01-01"
DECADES = [
    past("«in the 1990s», «in the 90s», «in the '90s», «in the nineties»", *[NINETIES] * 4),
    past("«the 2010s», «since the eighties»", "2010-01-01/2020-01-01", "1980-01-01/now"),
    past("it takes 90s, the 90s timeout, 1990s music, in her nineties, in the 1995s"),
]
HOLIDAYS = [
    past("«on Christmas», «Christmas Day»: snow", "2025-12-25", "2025-12-25"),
    past("«Christmas Eve 2024», «on Xmas of last year»", "2024-12-24", "2025-12-25"),
    past("«on New Year's Eve» I slept, «New Years Day»", "2025-12-31", "2026-01-01"),
    past("«on Valentine’s Day», «on St. Patrick's Day»", "2026-02-14", "2026-03-17"),
    past("«on April Fools' Day», «April Fools’ Day 2024»", "2026-04-01", "2024-04-01"),
    future("done by «Halloween»", "2026-10-31"),
    past("«last Christmas», «next Christmas»", "2025-12-25", "2026-12-25"),
    past("«the day before Christmas»", "2025-12-24"),
    past("«two weeks before Christmas», «since last Halloween»", "2025-12-11", "2025-10-31/now"),
    past("«between Christmas and New Year»", "2025-12-25/2026-01-02"),
    past(
        "the Christmas party, a poem for Valentine's Day, on Christmas cookies, last Christmas tree"
    ),
    past("in the new year, a new year, every Christmas, Christmas is near, halloween.py"),
]
BACKWARD = ("2026-05-08", "2026-05-12", "2026-06-16")
RANGES = [
    past("«between March and May»", "2026-03-01/2026-06-01"),
    past("«between March and May»", "2025-03-01/2025-06-01", asked_at=APRIL),
    future("«between March and May»", "2026-03-01/2026-06-01", asked_at=APRIL),
    past("«November to February»", "2025-11-01/2026-03-01"),
    future("«November to February»", "2026-11-01/2027-03-01"),
    past("«from March to May 2025»", "2025-03-01/2025-06-01"),
    past("«March – May», «Mar-May»", *["2026-03-01/2026-06-01"] * 2),
    past("«from Monday to Friday», «Mon–Fri»", *["2026-06-08/2026-06-13"] * 2),
    past("«from last Monday to Friday»", "2026-06-15/2026-06-20"),
    past("«from May 8, 2025 to May 12»", "2025-05-08/2025-05-13"),
    past("«May 8 – June 2»", "2026-05-08/2026-06-03"),
    past("«2026-05-08 to 2026-05-10»", "2026-05-08/2026-05-11"),
    past("«from the 5th to the 8th of May»", "2026-05-05/2026-05-09"),
    past("«between 5 and 8 May», «8 to 12 May»", "2026-05-05/2026-05-09", "2026-05-08/2026-05-13"),
    past("«between 2019 and 2021»", "2019-01-01/2022-01-01"),
    past("«from 2019 to now»", "2019-01-01/now"),
    past("«Q4 2025 – Q1 2026»", "2025-10-01/2026-04-01"),
    past("- «Monday»\n- «Tuesday»", "2026-06-15", "2026-06-16"),
    past("«Friday» - 2024 budget", "2026-06-12"),
    past("from «tomorrow» to «yesterday»", "2026-06-18", "2026-06-16"),
    past("12 to «8 May», «May 12» – 8, between 5 and «yesterday»", *BACKWARD),
    past("from 10:00 to 11:00, 2019 to 2021, between you and me"),
]
BOUNDS = [
    past("«since Monday»", "2026-06-15/now"),
    future("«since Monday»", "2026-06-15/now"),
    past("«since 2019»", "2019-01-01/now"),
    past("«since the beginning of the year»", "2026-01-01/now"),
    past("«since tomorrow»", "2026-06-18/far"),
    past("«before May»", "dawn/2026-05-01"),
    past("«before 1960»", "first/1960-01-01"),
    past("«before 2026-01-01»", "dawn/2026-01-01"),
    past("«after May»", "2026-06-01/now"),
    past("«after today»", "2026-06-18/far"),
    future("«after May»", "2027-06-01/far"),
    past("«until Friday»", "dawn/2026-06-13"),
    future("«till Friday»", "dawn/2026-06-20"),
    past("before lunch, after 5 days, since we spoke, until then"),
]
NO_DATES = [
    past("we may use Redis. May I ask? This may, but need not, break; version 8 may too"),
    past("march on, the sun, we sat down, where we last sat, a second opinion, in a second step"),
    past("June said that April and August may come"),
    past("v1.2.3, 1.2, 192.168.1.1, localhost:2024, 1/2, 3/4/5, 12/5/26, 05-08, 1.2.3.2026"),
    past("call +49 170 2026 123 or 555-2024 or 030/12/2020"),
    past("at 3pm, at 10:00, 15:30, noon"),
    past('`2026-05-08` {"at": "2026-05-08T10:00:00Z"} `since yesterday`'),
    past("```\ndate = today - 2026-05-08\n``` and ```\nyesterday, never closed"),
    past("https://example.com/2026-05-08/may friday.py docs/2026-05-08.md today() x.today"),
    past("gpt-4o-2024-08-06 log-2026-05-08 --since=yesterday @may #friday black-friday today_utc"),
    past("Section 8\n\nMay I ask"),
    past("99999 years ago, in 9000 years, 9999 years ago, since 9999"),
    past(""),
]
ELSEWHERE = [
    past("«today»", "2026-06-17T04:00/2026-06-18T04:00", asked_at=LATE_IN_NEW_YORK),
    past("«last week»", "2026-06-08T04:00/2026-06-15T04:00", asked_at=LATE_IN_NEW_YORK),
    past("«tonight»", "2026-06-17T22:00/2026-06-18T08:00", asked_at=LATE_IN_NEW_YORK),
    past("«2026-05-08»", "2026-05-08T04:00/2026-05-09T04:00", asked_at=LATE_IN_NEW_YORK),
    past("«2026-05-08T10:00»", "2026-05-08T14:00/2026-05-08T14:01", asked_at=LATE_IN_NEW_YORK),
    past("«2026-05-08T10:00Z»", "2026-05-08T10:00/2026-05-08T10:01", asked_at=LATE_IN_NEW_YORK),
    past("«since Monday»", "2026-06-15T04:00/now", asked_at=LATE_IN_NEW_YORK),
]
TABLE = [
    *DAYS,
    *COUNTED,
    *ROLLING,
    *BESIDE_NOW,
    *WEEKDAYS,
    *MONTHS,
    *DATES,
    *YEARS,
    *DECADES,
    *HOLIDAYS,
    *RANGES,
    *BOUNDS,
    *NO_DATES,
    *ELSEWHERE,
]


def name_of(row: DateCase) -> str:
    return f"{row.text[:60]!r} {row.direction} of {row.asked_at:%Y-%m-%d %H:%M%z}"


@each_row("row", TABLE, ids=name_of)
def test_a_date_expression_is_found_and_resolved_to_its_time_span(row: DateCase) -> None:
    marked = [part.partition("»")[0] for part in row.text.split("«")[1:]]
    text = row.text.replace("«", "").replace("»", "")

    dates = find_dates(text, asked_at=row.asked_at, direction=row.direction)

    assert [date.text for date in dates] == marked
    assert [(date.start, date.end) for date in dates] == [
        time_span(span, row.asked_at) for span in row.spans
    ]


@each_row(
    "text",
    [
        "2026-05-08",
        "May 8, 2026",
        "8.5.2026",
        "in 2024",
        "Q3 2025",
        "late 2024",
        "March to May 2025",
        "from May 8, 2025 to May 12",
        "since 2019",
    ],
)
def test_a_date_with_a_year_is_absolute(text: str) -> None:
    assert [when.is_absolute for when in find_dates(text, asked_at=WEDNESDAY)] == [True]


@each_row(
    "text",
    [
        "yesterday",
        "May 8",
        "in May",
        "May last year",
        "Friday",
        "two weeks ago",
        "from 2019 to now",
    ],
)
def test_a_date_relative_to_the_moment_of_asking_is_not_absolute(text: str) -> None:
    assert [date.is_absolute for date in find_dates(text, asked_at=WEDNESDAY)] == [False]


def test_a_moment_without_a_zone_is_utc() -> None:
    naive = WEDNESDAY.replace(tzinfo=None)

    assert find_dates("today", asked_at=naive) == find_dates("today", asked_at=WEDNESDAY)


class Summertime(tzinfo):
    """One hour ahead of UTC, and two from 30 March 2026 on."""

    def utcoffset(self, parse_moment: datetime | None) -> timedelta:
        return timedelta(hours=2 if parse_moment and parse_moment.date() > date(2026, 3, 29) else 1)

    def dst(self, parse_moment: datetime | None) -> timedelta:
        return self.utcoffset(parse_moment) - timedelta(hours=1)

    def tzname(self, parse_moment: datetime | None) -> str:
        return "summertime"


@each_row(
    ("text", "span"),
    [
        ("on Sunday", "2026-03-28T23:00/2026-03-29T22:00"),
        ("in March", "2026-02-28T23:00/2026-03-31T22:00"),
        ("36 hours ago", "2026-03-29T00:00/2026-03-29T01:00"),
    ],
)
def test_a_day_on_which_the_clocks_change_has_its_own_length(text: str, span: str) -> None:
    monday = datetime(2026, 3, 30, 14, 15, tzinfo=Summertime())

    (found_date,) = find_dates(text, asked_at=monday)

    assert (found_date.start, found_date.end) == time_span(span, monday)


WORDS = """
last this next past every the a an few couple of in on at since before after until between from to
and ago now day days week weeks month months year years quarter weekend morning night spring winter
monday friday sat sun Sun may May march jan february q1 first second early mid end today yesterday
tomorrow two 3 8 8th 13th 31st 29 0 2024 9999 2026-05-08 2999-12-31T23:59:59-12:00 31.2.2026
99/99/2026 8-12 2019-2021 earlier 90s nineties christmas eve new year's fridays , . - – ` ( _ / half
"""
phrases = st.lists(st.sampled_from([*WORDS.split(), "\n", "\n\n"]), max_size=12).map(" ".join)
any_text = phrases | st.text() | st.text(string.digits + "-/.:T ,", max_size=40)
zones = st.sampled_from([UTC, NEW_YORK, timezone(timedelta(hours=14)), Summertime()])
moments = st.datetimes(timezones=st.none()).flatmap(
    lambda parse_moment: zones.map(lambda zone: parse_moment.replace(tzinfo=zone))
)
directions: st.SearchStrategy[Direction] = st.sampled_from(["past", "future"])


@given(any_text, moments, directions)
def test_found_dates_are_in_order_inside_the_text_and_not_empty(
    text: str, asked_at: datetime, direction: Direction
) -> None:
    dates = find_dates(text, asked_at=asked_at, direction=direction)

    assert all(date.text == text[date.text_start : date.text_end] != "" for date in dates)
    assert all(first.text_end <= second.text_start for first, second in pairwise(dates))
    assert all(date.start < date.end for date in dates)
    assert all(date.start.tzinfo is UTC and date.end.tzinfo is UTC for date in dates)


@pytest.mark.fuzz
@pytest.mark.parametrize("asked_at", [datetime.min, datetime.max])
@pytest.mark.parametrize("zone", [UTC, NEW_YORK, timezone(timedelta(hours=14))])
@given(phrases, directions)
def test_the_first_and_last_day_of_the_calendar_raise_no_error(
    asked_at: datetime, zone: tzinfo, text: str, direction: Direction
) -> None:
    find_dates(text, asked_at=asked_at.replace(tzinfo=zone), direction=direction)


@given(st.integers(0, 400), moments.filter(lambda parse_moment: 2 < parse_moment.year < 9999))
def test_days_ago_count_the_days_of_the_askers_calendar(count: int, asked_at: datetime) -> None:
    (when,) = find_dates(f"{count} days ago", asked_at=asked_at)

    then = when.start.astimezone(asked_at.tzinfo)
    assert then.date() == asked_at.date() - timedelta(days=count)


@pytest.mark.fuzz
@each_row(
    "piece",
    [
        "last ",
        "1/1/",
        "1 ",
        "1,",
        "1//",
        "the ",
        "in ",
        "may ",
        "march to ",
        "early ",
        "the day before ",
        "Friday the 31st ",
        "February 30 ",
        "every ",
        "mid-",
        "Mon-",
        "8 – ",
        "`",
        "```",
        "`a\n",
        "\n ",
        "https://",
        "from May to ",
        "two weeks ago ",
        "christmas ' ",
        "new year's ",
        "last new year ",
        "the week of ",
        "last week on ",
        "in the '",
        "two fridays ",
    ],
)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    start = process_time()

    find_dates(text, asked_at=WEDNESDAY)

    # A twentieth of a second of CPU; anything worse than linear takes 20 times as long.
    assert process_time() - start < 1
