"""
Drop the lines of a summary that are outdated: open items that were resolved, revised decisions.

Works on words alone. An open line is resolved by a later action or decision that shares half of its
words, a question by any reply. A decision is revised by a later one that is similar or names it as
a rejected alternative.
"""

from collections.abc import Sequence

from recollect.context.summary.summary_lines import ASSISTANT_ASKS, Heading, SummaryLine
from recollect.context.summary.word_rarity import weighted_words
from recollect.domain.conversation import Role
from recollect.text.decision_details import alternatives_in
from recollect.text.lazy_pattern import LazyPattern

SIMILAR_SHARE = 0.75  # of the shorter line's words: two lines are similar
RESOLVED_SHARE, MIN_SHARED_WORDS = 0.5, 2  # of an open line's words

_QUESTION = LazyPattern(r"[?？]…?(?: \([^()]* = [^()]*\))?$")  # a resolved date may follow

Words = frozenset[str]


def without_outdated(
    before: Sequence[SummaryLine], new: Sequence[SummaryLine], *, speakers: frozenset[Role]
) -> tuple[list[SummaryLine], list[SummaryLine]]:
    """Return both lists without outdated lines. *speakers*: the roles that spoke since *before*."""
    finished = [line for line in new if line.section in (Heading.DONE, Heading.DECIDED)]
    completed = [(line.position, _words(line.text)) for line in finished]
    unanswered = [line for line in before if not _is_answered(line, speakers)]
    previous = [line for line in unanswered if not _is_done(line, completed)]
    current = [line for line in new if not _is_done(line, completed)]
    revised = _revised_decisions([*previous, *current])
    return (
        [line for index, line in enumerate(previous) if index not in revised],
        [line for index, line in enumerate(current, start=len(previous)) if index not in revised],
    )


def _revised_decisions(lines: Sequence[SummaryLine]) -> set[int]:
    """Return the indexes of decisions that a later one replaces."""
    decisions = [n for n, line in enumerate(lines) if line.section is Heading.DECIDED]
    words = {n: _words(lines[n].text) for n in decisions}
    revised: set[int] = set()
    for number, index in enumerate(decisions):
        rejected = [_words(other) for other in alternatives_in(lines[index].text)]
        for older in decisions[:number]:
            is_rejected = any(other and other <= words[older] for other in rejected)
            if is_rejected or _are_similar(words[older], words[index]):
                revised.add(older)
    return revised


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


def _are_similar(left: Words, right: Words) -> bool:
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= SIMILAR_SHARE * shorter


def _words(text: str) -> Words:
    return frozenset(weighted_words(text))
