"""
Split a sentence at its semicolons, if each part is a clause of its own, and behind a name.

"My daughter is Ada, she is nine; the shop opens at 7" has two. A part that begins with "she" or
"they" is about what stands before it and stays with it. Commas are no borders: facts that people
join by commas belong together more often than not (docs/log.md). Only a name is split off: "what is
my name?" is far from "I'm Dana and I live in Porto", and close to "I'm Dana".
"""

from collections.abc import Iterator
from dataclasses import replace

from recollect.engine.extract.utterances import Utterance
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.sentence_classifier import is_question, split_introduction
from recollect.text.statement_dates import has_finite_verb

MIN_WORDS = 3
_SEMICOLON = LazyPattern(r"\s*[;；]\s*(?:(?:and|but|also)\s+)?(?=\S)")
_VERB = LazyPattern(  # those of daily facts that tell no time
    r"(?i)\b(?:have|has|go|goes|use|uses|live|lives|work|works|like|likes|prefer|prefers|cost|costs"
    r"|keep|keeps|pay|pays|ship|ships|know|knows|speak|speaks|play|plays|sell|sells)\b"
)
_REFERS_BACK = LazyPattern(
    r"(?i)(?:it|she|he|they|that|those|these|this|its|her|his|their|both|neither|which|so|then"
    r"|not|or|because|if)\b"
)


def clauses_of(sentence: Utterance) -> list[Utterance]:
    """Return the clauses of *sentence* in order; the sentence alone if it has one."""
    return [
        replace(
            sentence,
            text=sentence.text[start:end],
            start=sentence.start + start,
            end=sentence.start + end,
            begins_line=sentence.begins_line and not start,
        )
        for start, end in _clause_spans(sentence.text)
    ]


def _clause_spans(text: str) -> Iterator[tuple[int, int]]:
    name_end, begin = split_introduction(text)
    if name_end:
        yield 0, name_end
    for match in _SEMICOLON.finditer(text, begin):
        rest = text[match.end() :]
        sides = (text[begin : match.start()], rest.partition(";")[0])
        if all(map(_is_clause, sides)) and not _REFERS_BACK.match(rest):
            yield begin, match.start()
            begin = match.end()
    yield begin, len(text)


def _is_clause(text: str) -> bool:
    has_verb = has_finite_verb(text) or _VERB.search(text) is not None
    return has_verb and len(text.split()) >= MIN_WORDS and not is_question(text)
