"""
English words for dates and times, and the tokenizer of the date parser.

A token is a word, a number with everything attached to it (`8th`, `1/2`, `192.168.0.1`,
`2026-05-08T10:00Z`), a run of punctuation, or an empty line. Code and addresses are one token each,
in which no date is searched.
"""

import re
from typing import NamedTuple

_MONTHS = """
january jan, february feb, march mar, april apr, may, june jun, july jul, august aug,
september sept sep, october oct, november nov, december dec
"""
MONTHS = {
    name: number
    for number, names in enumerate(_MONTHS.split(","), start=1)
    for name in names.split()
}
# These can only be months. The others are verbs, given names or short forms as well, and count as
# months only if a word beside them confirms it.
_UNAMBIGUOUS_MONTHS = "january february july september october november december"
UNAMBIGUOUS_MONTHS = frozenset(_UNAMBIGUOUS_MONTHS.split())

_WEEKDAYS = """
monday mon, tuesday tues tue, wednesday weds wed, thursday thurs thur thu, friday fri, saturday sat,
sunday sun
"""
WEEKDAYS = {
    name: number for number, names in enumerate(_WEEKDAYS.split(",")) for name in names.split()
}
UNAMBIGUOUS_WEEKDAYS = frozenset(name for name in WEEKDAYS if name.endswith("day"))

# In lower case and before another word, these are verbs ("it may break", "where we last sat").
AMBIGUOUS_WORDS = frozenset(["may", "march", "mar", "sat", "sun", "wed"])

UNITS = {
    name: unit
    for unit, names in {
        "second": "second seconds sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "quarter": "quarter quarters",
        "year": "year years yr yrs",
    }.items()
    for name in names.split()
}
_NUMBERS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty
"""
NUMBERS = {word: number for number, word in enumerate(_NUMBERS.split(), start=1)}
NUMBERS |= {"a": 1, "an": 1}
VAGUE_COUNTS = {"couple": (2, 2), "few": (2, 5), "several": (2, 5)}  # at least, at most

ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}
RELATIVE_OFFSETS = {"last": -1, "previous": -1, "this": 0, "current": 0}
RELATIVE_OFFSETS |= dict.fromkeys(("next", "coming", "upcoming"), 1)
DAY_WORDS = {"yesterday": -1, "today": 0, "tomorrow": 1}
DAY_PARTS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 28)}
# The first month, in the northern hemisphere.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
QUARTERS = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}
_DECADES = "thirties forties fifties sixties seventies eighties nineties"
DECADES = {word: 10 * tens for tens, word in enumerate(_DECADES.split(), start=3)}
PERIOD_PARTS = {"early": 0, "mid": 1, "late": 2, "beginning": 0, "start": 0, "middle": 1, "end": 2}

# "Good Friday" is a holiday, "Black Friday" a sale: not ordinary Fridays.
_WEEKDAY_PREFIXES = "good black casual cyber easter ash palm fat shrove super bloody"
WEEKDAY_PREFIXES = frozenset(_WEEKDAY_PREFIXES.split())

# Nouns after a count: "in 2000 lines" is not a year, "May 20 users" not a day.
_COUNTED_NOUNS = """
ms milliseconds seconds minutes hours days weeks months years times
bytes kb mb gb tb px pixels percent degrees miles meters metres kilometers kilometres km
tokens words characters chars lines rows columns files tests items users people persons
customers requests calls messages documents chunks records entries samples examples steps
iterations epochs points commits issues tickets pages units dollars euros pounds usd eur gbp
"""
COUNTED_NOUNS = frozenset(_COUNTED_NOUNS.split())

_TOKEN = re.compile(
    r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`|https?://\S+"
    r"|[0-9]\w*+(?:[./:+–-]++\w++|,[0-9]++)*+"
    r"|\w++|[^\w\s`]++|`|\n[^\S\n]*+\n"  # no expression continues after an empty line
)


class Token(NamedTuple):
    """A piece of a text in lower case, and its position."""

    word: str
    start: int
    end: int


END_TOKEN = Token("", 0, 0)
_LOOKAHEAD = 3  # tokens that a reader may look ahead without checking for the end


def tokenize(text: str) -> list[Token]:
    """Return the tokens of *text*, then empty ones; so [-1], before the first, is empty too."""
    tokens = [Token(m.group().lower(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    return tokens + [END_TOKEN] * _LOOKAHEAD
