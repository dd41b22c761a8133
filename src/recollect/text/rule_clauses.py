"""
Read what a statement of the user demands of an action: what it forbids, and about which things.

"Use uv, never pip" forbids `pip`; "we switched from Chart.js to uPlot" and "no openssl" forbid too.
"Every migration needs a down script" is about migrations, "run the tests with `cargo nextest run`"
names a command, and "tests/data is generated" a path. Pure text processing, on words of English and
on "instead of" in a few other languages; a reason ("because …") is not part of what is demanded.
"""

import re
from collections.abc import Iterable

from recollect.text.lazy_pattern import LazyPattern
from recollect.text.search_words import STOP_WORDS

_END = r"(?=\s+(?:until|unless|but|any ?more|for now|and)\b|[,;:!?()\n]|\.(?:\s|$)|\s[-–—]\s|$)"
_CLAUSE = rf"(?P<clause>[^,;:!?()\n]{{2,80}}?){_END}"
_FORBIDDEN = tuple(
    LazyPattern(pattern, flags=re.IGNORECASE)
    for pattern in (
        r"\b(?:never|don['’]t|do not|must ?n[o'’]t|should ?n[o'’]t|avoid|stop|no longer)\s+"
        rf"{_CLAUSE}",
        rf"(?:^|[,;:.]\s*|\band\s+|\bbut\s+|[-–—]\s*)no[tn]?\s+(?:an?\s+|the\s+)?{_CLAUSE}",
        r"\b(?:instead of|rather than|in place of|an?statt|statt|anstelle von|en lugar de|en vez de"
        rf"|au lieu de|plutôt que|em vez de|ao invés de)\s+{_CLAUSE}",
        r"\b(?:switch|mov|migrat|chang|convert)(?:ed|ing|e)?\s+(?:away\s+)?from\s+"
        r"(?P<clause>[^,;!?\n]{2,60}?)\s+to\b",
        r"\breplac(?:e|ed|ing)\s+(?P<clause>[^,;!?\n]{2,60}?)\s+(?:by|with)\b",
        r"\b(?:prefer|chose|choose|went with|go with|going with|picked)\s[^,;.!?\n]{2,40}?\sover\s+"
        rf"(?:an?\s+)?{_CLAUSE}",
        r"(?P<clause>[^,;:.!?()\n]{2,40}?)\s+(?:is|are)\s+(?:gone|deprecated|forbidden|banned"
        r"|retired|obsolete|not allowed)\b",
    )
)
_REASON = LazyPattern(
    r"\s(?:because|since|so that|due to|weil|porque|parce que)\s", flags=re.IGNORECASE
)
_SUBJECT = LazyPattern(
    r"\b(?:every|each|all|any)\s+(?P<subject>(?:[\w-]+\s+){0,2}?[\w-]+)\s+"
    r"(?:needs?|must|should|ha(?:s|ve) to|requires?|goe?s?|gets?)\b",
    flags=re.IGNORECASE,
)
_PRESCRIBES = LazyPattern(
    r"\b(?:must|never|always|only|don['’]t|do not|frozen|generated|deprecated|needs?|every|each"
    r"|should|no longer|not)\b",
    flags=re.IGNORECASE,
)
_CODE_SPAN = LazyPattern(r"`([^`\n]{3,200})`")
_PATH = LazyPattern(r"(?<![\w/@:])(?:[\w.~-]+/)+[\w.-]*|(?<![\w/@.])[\w-]+\.[a-z][a-z0-9]{0,4}\b")
_WORD = re.compile(r"[^\W_][\w.+#-]*")
_GENERIC_TEXT = """
use using used run running write writing add adding put change changing edit editing touch modify
directly everywhere anywhere ever again whole hand manually here there branch file files folder
library package tool module version command project code new old just only even instead always
please want need needs thing things one ones them they it their ever now anymore
"""
_GENERIC = frozenset(_GENERIC_TEXT.split()) | STOP_WORDS
_KEPT_ENDINGS = ("ss", "us", "is", "js")


def forbidden_terms(statement: str) -> list[frozenset[str]]:
    """Return what *statement* forbids or replaced: the words of each such clause."""
    text = _without_reason(statement)
    clauses = [match["clause"] for pattern in _FORBIDDEN for match in pattern.finditer(text)]
    return [terms for clause in clauses if (terms := clause_terms(clause))]


def subject_terms(statement: str) -> list[frozenset[str]]:
    """Return the things of which *statement* demands something: "every migration needs …"."""
    subjects = [match["subject"] for match in _SUBJECT.finditer(_without_reason(statement))]
    return [terms for subject in subjects if (terms := clause_terms(subject))]


def named_commands(statement: str) -> list[str]:
    """Return the commands of more than one word that *statement* quotes between backticks."""
    spans = [" ".join(span.split()) for span in _CODE_SPAN.findall(statement)]
    return [span for span in spans if " " in span and span[0].isalnum()]


def named_paths(statement: str) -> list[str]:
    """Return the file names and paths in *statement*."""
    return [path.strip(".") for path in _PATH.findall(statement) if path.strip("./~")]


def prescribes(statement: str) -> bool:
    """Return whether *statement* says how something has to be, not only how it is."""
    return _PRESCRIBES.search(_without_reason(statement)) is not None


def clause_terms(clause: str) -> frozenset[str]:
    """Return the words of a clause that name something; few words say only that one acts."""
    words = (word.strip(".-+") for word in _WORD.findall(clause.lower()))
    return frozenset(word_root(word) for word in words if len(word) > 1 and word not in _GENERIC)


def word_roots(words: Iterable[str]) -> frozenset[str]:
    """Return the roots of *words*, by which they are compared."""
    return frozenset(map(word_root, words))


def word_root(word: str) -> str:
    """Return a word in lower case without the ending of a plural."""
    word = word.lower()
    if len(word) > 3 and word.endswith("s") and not word.endswith(_KEPT_ENDINGS):
        return word[:-1]
    return word


def _without_reason(statement: str) -> str:
    match = _REASON.search(statement)
    return statement[: match.start()] if match else statement
