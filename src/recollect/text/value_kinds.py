"""
Find the values in a statement by kind: times of day, weekdays, months, money, shares, quantities.

Two statements with a value of the same kind are more likely about one thing ("deploys run on
Tuesday", "we deploy on Thursdays now"), and a different value is what changes. Weekdays and months
are those of the text's language.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from recollect.text.language_data import ENGLISH, detect_language, load_language

_NUMBER = r"\d+(?:[.,]\d+)*"
_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|sixty|ninety|hundred|a dozen)"
)
_TIME = re.compile(
    r"\b\d{1,2}[:h]\d{2}\b|\b\d{1,2} ?(?:am|pm|uhr|o'clock|heures?)\b|\d{1,2}[点點時시]",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"[$€£¥₩]\s?{_NUMBER}|{_NUMBER}\s?(?:[$€£¥₩元円원]|(?:euros?|dollars?|pounds?|usd|eur|gbp)\b)",
    re.IGNORECASE,
)
_SHARE = re.compile(rf"{_NUMBER} ?(?:%|percent\b|per cent\b|prozent\b|procent\b)", re.IGNORECASE)
_QUANTITY = re.compile(
    rf"(?<![\w.:])({_NUMBER}|\b{_NUMBER_WORD})[ -]?([^\W\d_]{{2,}})", re.IGNORECASE
)
_ENGLISH_WEEKDAYS = "mon|tues|wednes|thurs|fri|satur|sun"
_ENGLISH_MONTHS = (
    "january|february|march|april|june|july|august|september|october|november|december"
)
_UNSPACED_WEEKDAY = re.compile(
    r"(?:星期|周|週|礼拜)[一二三四五六日天]|[月火水木金土日]曜|[월화수목금토일]요일"
)
UNIT_CHARS = 4  # of a unit's name that are compared: "day" and "days" are one

ValuesByKind = Mapping[str, frozenset[str]]


@lru_cache(maxsize=256)  # a search compares each of its best hits with each
def values_by_kind(text: str) -> ValuesByKind:
    """Return the values of *text* by kind; a quantity's kind is its unit."""
    language = detect_language(text)
    values: dict[str, set[str]] = {}
    patterns = {"time": _TIME, "money": _MONEY, "share": _SHARE, "weekday": _UNSPACED_WEEKDAY}
    if language.is_spaced:
        patterns["weekday"] = _weekdays(language.code)
        patterns["month"] = _months(language.code)
    for kind, pattern in patterns.items():
        texts = {match.group().lower().replace(" ", "") for match in pattern.finditer(text)}
        if texts:
            values[kind] = texts
    for number, unit in _QUANTITY.findall(text):
        values.setdefault(f"unit {unit.lower()[:UNIT_CHARS]}", set()).add(number.lower())
    return {kind: frozenset(texts) for kind, texts in values.items()}


@cache
def _weekdays(code: str) -> re.Pattern[str]:
    if code == ENGLISH:
        return re.compile(rf"\b(?:{_ENGLISH_WEEKDAYS})(?=days?\b)", re.IGNORECASE)
    return _names(code, "weekdays")


@cache
def _months(code: str) -> re.Pattern[str]:
    if code == ENGLISH:
        return re.compile(rf"\b(?:{_ENGLISH_MONTHS})\b", re.IGNORECASE)
    return _names(code, "months")


def _names(code: str, name: str) -> re.Pattern[str]:
    names = [word for entry in load_language(code).dates.get(name, ()) for word in entry.split()]
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, names)) or '(?!)'})\b", re.IGNORECASE)
