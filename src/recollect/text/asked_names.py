"""The names in a question: of whom, of what or of which place it asks."""

from recollect.text.date_words import MONTHS, WEEKDAYS
from recollect.text.patterns import Pattern
from recollect.text.sentences import sentences
from recollect.text.statements import names_in

_WORDS = Pattern(r"\w+")
_TIMES = frozenset(MONTHS) | frozenset(WEEKDAYS)


def asked_names(query: str) -> frozenset[str]:
    """
    Return the words of *query* that belong to a name, as they are written.

    The first word of a sentence is written large anyhow, a month or a day is no one, and what is
    nothing but capitals is short for something that may be written out elsewhere.
    """
    found: set[str] = set()
    for begin, end in sentences(query):
        first = _WORDS.search(query, begin, end)
        for name in names_in(query[begin:end]):
            found.update(
                word
                for word in _WORDS.findall(name)
                if word[0].isupper() and not word.isupper() and word.lower() not in _TIMES
            )
        if first is not None:
            found.discard(first.group())
    return frozenset(found)
