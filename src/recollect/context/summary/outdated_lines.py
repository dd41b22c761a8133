"""
Drop the open items of a summary that were resolved since.

Works on words alone. An open line is resolved by a later action or decision that shares half of its
words, a question by any reply. Statements that were superseded are found in superseded_lines.py.
"""

from collections.abc import Sequence

from recollect.context.summary.summary_lines import ASSISTANT_ASKS, Heading, SummaryLine
from recollect.context.summary.word_rarity import weighted_words
from recollect.domain.conversation import Role
from recollect.text.lazy_pattern import LazyPattern

RESOLVED_SHARE, MIN_SHARED_WORDS = 0.5, 2  # of an open line's words

_QUESTION = LazyPattern(r"[?？]…?(?: \([^()]* = [^()]*\))?$")  # a resolved date may follow
_FINISHED = LazyPattern(
    r"(?i)\b(?:done|finished|sorted|sent|paid|booked|submitted|shipped|merged|fixed|handed in"
    r"|signed|ordered|picked up)\b"
)

Words = frozenset[str]


def without_resolved(
    before: Sequence[SummaryLine], new: Sequence[SummaryLine], *, speakers: frozenset[Role]
) -> tuple[list[SummaryLine], list[SummaryLine]]:
    """Return both lists without resolved lines. *speakers*: the roles that spoke since *before*."""
    finished = [line for line in new if _is_finished(line)]
    completed = [(line.position, _words(line.text)) for line in finished]
    unanswered = [line for line in before if not _is_answered(line, speakers)]
    return (
        [line for line in unanswered if not _is_done(line, completed)],
        [line for line in new if not _is_done(line, completed)],
    )


def _is_finished(line: SummaryLine) -> bool:
    """Return whether *line* tells of something done or decided."""
    is_told = line.section is Heading.STATED and (line.decision or _FINISHED.search(line.text))
    return line.section is Heading.DONE or bool(is_told)


def _is_done(line: SummaryLine, completed: Sequence[tuple[int, Words]]) -> bool:
    if line.section is not Heading.OPEN:
        return False
    words = _words(line.text)
    enough = max(RESOLVED_SHARE * len(words), MIN_SHARED_WORDS)
    later = (done_words for position, done_words in completed if position > line.position)
    return any(len(words & done_words) >= enough for done_words in later)


def _is_answered(line: SummaryLine, speakers: frozenset[Role]) -> bool:
    if line.section is not Heading.OPEN:
        return False
    if line.text.startswith(ASSISTANT_ASKS):
        return Role.USER in speakers
    return _QUESTION.search(line.text) is not None and Role.ASSISTANT in speakers


def _words(text: str) -> Words:
    return frozenset(weighted_words(text))
