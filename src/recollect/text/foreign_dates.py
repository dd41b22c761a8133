"""
Translate the date expressions of other languages to English, for the one date parser.

Each expression ("am Mittwoch", "il y a 3 jours", "3月5日") becomes English tokens that stand at its
place in the text. The words come from the file of the language (language_data.py); this module
knows how they combine: day and month, "next" and "last" before or after a name, "ago" and "in",
"until" and "since" before any of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from recollect.text.date_words import Token, tokenize
from recollect.text.language_data import ENGLISH, Language, detect_language, load_language

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_YEAR = r"(?:,? (?:de |del )?(?P<year>(?:19|20)\d\d))?"
_SLOT = re.compile(r"\{(month|weekday):(\w+)\}")
_NUMERIC_DATE = re.compile(r"(?<![\d.])(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d)(?![\d.]\d)")

Translate = Callable[[re.Match[str]], str]
Rule = tuple[re.Pattern[str], Translate]


def date_tokens(text: str) -> list[Token]:
    """Return the tokens of *text*, with its date expressions in English."""
    language = detect_language(text)
    if language.code == ENGLISH:
        return tokenize(text)
    tokens: list[Token] = []
    position = 0
    for start, end, english in _expressions(text, language.code):
        tokens += _tokens_at(text, position, start)
        # The full stop separates it from the next word: "3 may vamos" would be a verb.
        tokens += [Token(token.word, start, end) for token in _words(f"{english} .")]
        position = end
    tokens += _tokens_at(text, position, len(text))
    return [*tokens, *tokenize("")]


def _words(text: str) -> list[Token]:
    return [token for token in tokenize(text) if token.word]


def _tokens_at(text: str, start: int, end: int) -> list[Token]:
    tokens = _words(text[start:end])
    return [Token(token.word, token.start + start, token.end + start) for token in tokens]


def _expressions(text: str, code: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and English of each expression, the longest where two overlap."""
    matches = [
        (match.start(), match.end(), translate(match))
        for pattern, translate in _rules(code)
        for match in pattern.finditer(text)
    ]
    position = 0
    for start, end, english in sorted(matches, key=lambda item: (item[0], -item[1])):
        if start >= position:
            yield _with_bound(text, position, (start, end, english), load_language(code))
            position = end


def _with_bound(
    text: str, position: int, expression: tuple[int, int, str], language: Language
) -> tuple[int, int, str]:
    """Add the "until" or "since" before an expression."""
    start, end, english = expression
    for bound in ("until", "since"):
        if words := language.dates.get(bound):
            pattern = rf"(?i)(?<!\w)(?:{words})\s+(?:\w{{1,3}}\s+)?$"
            if before := re.search(pattern, text[position:start]):
                return position + before.start(), end, f"{bound} {english.removeprefix('on ')}"
    return expression


@cache
def _rules(code: str) -> tuple[Rule, ...]:
    dates = load_language(code).dates
    spaced = _spaced_rules(dates) if "months" in dates else []
    before, after = (r"(?<!\w)", r"(?!\w)") if spaced else ("", "")
    names = dates.get("weekday_names", "").split()
    words = [
        (re.compile(f"{before}(?:{pattern}){after}", re.IGNORECASE), _template(english, names))
        for pattern, english in dates["words"].items()
    ]
    return (*spaced, *words)


def _template(english: str, weekday_names: list[str]) -> Translate:
    def name(slot: re.Match[str]) -> str:
        if slot[1] == "month":
            return _MONTHS[int(slot[2]) - 1] if 1 <= int(slot[2]) <= 12 else ""
        index = weekday_names.index(slot[2]) if slot[2] in weekday_names else 6  # 天 is Sunday too
        return _WEEKDAYS[index]

    return lambda match: _SLOT.sub(name, match.expand(english))


def _spaced_rules(dates: Mapping[str, Any]) -> list[Rule]:
    """Return the rules of a language that separates its words by spaces."""
    grammar = _DateGrammar(dates)
    month, weekday, unit, number = grammar.month, grammar.weekday, grammar.unit, grammar.number
    day = dates["day_of_month"].replace("{day}", r"(?P<day>\d{1,2})").replace("{month}", month)
    rules: list[tuple[str, Translate]] = [
        (day + _YEAR, lambda match: f"{grammar.month_in(match)} {match['day']}{_year(match)}"),
        (
            rf"{dates['end_of']} {month}{_YEAR}",
            lambda match: f"end of {grammar.month_in(match)}{_year(match)}",
        ),
        (
            rf"(?:{dates['in']}) {month}{_YEAR}",
            lambda match: f"in {grammar.month_in(match)}{_year(match)}",
        ),
        (rf"(?:(?:{dates['on']}) )?{weekday}", lambda match: f"on {grammar.name_in(match)}"),
    ]
    for step in ("last", "this", "next"):
        words = "|".join(dates[step].split(", "))
        rules.append((rf"(?:{words}) (?:{weekday}|{unit})", grammar.adjacent(step)))
        if step != "this":
            rules.append((rf"(?:{weekday}|{unit}) (?:{words})", grammar.adjacent(step)))
    for form, english in (("ago", "{} {}s ago"), ("ahead", "in {} {}s")):
        for shape in dates[form]:
            pattern = shape.replace("{number}", number).replace("{unit}", unit)
            rules.append((pattern, grammar.counted(english)))
    compiled = [(re.compile(rf"(?<!\w)(?:{p})(?!\w)", re.IGNORECASE), t) for p, t in rules]
    return [*compiled, (_NUMERIC_DATE, lambda match: f"{match[3]}-{match[2]}-{match[1]}")]


def _year(match: re.Match[str]) -> str:
    return f", {match['year']}" if match["year"] else ""


class _DateGrammar:
    """The names of one language as parts of a pattern, and their English."""

    def __init__(self, dates: Mapping[str, Any]) -> None:
        self._months = _numbered(dates["months"])
        self._weekdays = _numbered(dates["weekdays"])
        self._units: Mapping[str, str] = dates["units"]
        self._numbers: list[str] = dates["numbers"].split()
        self.month = rf"(?P<month>{_alternatives(self._months)})\.?"
        self.weekday = rf"(?P<weekday>{_alternatives(self._weekdays)})"
        units = "|".join(f"(?P<{name}>{words})" for name, words in self._units.items())
        self.unit = f"(?:{units})"
        self.number = rf"(?P<number>\d{{1,3}}|{'|'.join(self._numbers)})"

    def month_in(self, match: re.Match[str]) -> str:
        return _MONTHS[self._months[match["month"].lower()]]

    def name_in(self, match: re.Match[str]) -> str:
        """Return the weekday or the unit in *match*."""
        groups = match.groupdict()
        if groups.get("weekday"):
            return _WEEKDAYS[self._weekdays[groups["weekday"].lower()]]
        return next(name for name in self._units if groups.get(name))

    def adjacent(self, step: str) -> Translate:
        return lambda match: f"{step} {self.name_in(match)}"

    def counted(self, english: str) -> Translate:
        return lambda match: english.format(self._count_in(match), self.name_in(match))

    def _count_in(self, match: re.Match[str]) -> str:
        number = match["number"].lower()
        if number.isdigit():
            return number
        words = enumerate(self._numbers, start=1)
        return next((str(count) for count, word in words if re.fullmatch(word, number)), "1")


def _numbered(lines: Sequence[str]) -> dict[str, int]:
    """Return the index of each name; a line lists the spellings of one."""
    return {name: index for index, line in enumerate(lines) for name in line.split()}


def _alternatives(names: Mapping[str, int]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))
