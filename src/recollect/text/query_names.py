"""Find the names of people, things and places in a search query."""

from recollect.text.date_words import MONTHS, WEEKDAYS
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_splitter import sentence_spans
from recollect.text.statement_parser import names_in

_WORDS = LazyPattern(r"\w+")
_TIMES = frozenset(MONTHS) | frozenset(WEEKDAYS)


def names_in_query(query: str) -> frozenset[str]:
    """
    Return the words of *query* that belong to a name, as written.

    Skips the first word of a sentence (always capitalised), months, weekdays, and words in all
    capitals: those are abbreviations, which other texts may write in full.
    """
    names: set[str] = set()
    for begin, end in sentence_spans(query):
        first = _WORDS.search(query, begin, end)
        for name in names_in(query[begin:end]):
            names.update(
                word
                for word in _WORDS.findall(name)
                if word[0].isupper() and not word.isupper() and word.lower() not in _TIMES
            )
        if first is not None:
            names.discard(first.group())
    return frozenset(names)
