"""
Bring the lines of a summary up to date: what is settled is not open, what was revised not decided.

Works on words alone: an open line is settled by a later deed or decision that shares half of its
words, a question by any reply; a decision goes when a later one says nearly the same or names it as
what was not chosen.
"""

from collections.abc import Sequence

from recollect.context.summary.lines import ASSISTANT_ASKS, Line, Section
from recollect.context.summary.salience import words_of
from recollect.domain.conversation import Role
from recollect.text.details import alternatives_in
from recollect.text.patterns import Pattern

SAME = 0.75  # of the words of the shorter: two lines say the same
RESOLVED, LEAST_SHARED = 0.5, 2  # of the words of an open line, and how many at least

_QUESTION = Pattern(r"[?？]…?(?: \([^()]* = [^()]*\))?$")  # the day it names may stand behind it

Words = frozenset[str]


def settled(
    before: Sequence[Line], new: Sequence[Line], *, spoke: frozenset[Role]
) -> tuple[list[Line], list[Line]]:
    """Return both without what is no longer so. *spoke*: who said something since *before*."""
    deeds = [
        (line.position, _words(line.text))
        for line in new
        if line.section in (Section.DONE, Section.DECIDED)
    ]
    old = [line for line in before if not (_replied(line, spoke) or _did(line, deeds))]
    fresh = [line for line in new if not _did(line, deeds)]
    gone = _revised([*old, *fresh])
    return (
        [line for place, line in enumerate(old) if place not in gone],
        [line for place, line in enumerate(fresh, start=len(old)) if place not in gone],
    )


def _revised(lines: Sequence[Line]) -> set[int]:
    """Return the places of decisions that a later one replaces."""
    decided = [n for n, line in enumerate(lines) if line.section is Section.DECIDED]
    words = {n: _words(lines[n].text) for n in decided}
    gone: set[int] = set()
    for number, place in enumerate(decided):
        against = [_words(other) for other in alternatives_in(lines[place].text)]
        for older in decided[:number]:
            named = any(other and other <= words[older] for other in against)
            if named or _alike(words[older], words[place]):
                gone.add(older)
    return gone


def _did(line: Line, deeds: Sequence[tuple[int, Words]]) -> bool:
    if line.section is not Section.OPEN:
        return False
    words = _words(line.text)
    return bool(words) and any(
        position > line.position and len(words & deed) >= max(RESOLVED * len(words), LEAST_SHARED)
        for position, deed in deeds
    )


def _replied(line: Line, spoke: frozenset[Role]) -> bool:
    if line.section is not Section.OPEN:
        return False
    if line.text.startswith(ASSISTANT_ASKS):
        return Role.USER in spoke
    return _QUESTION.search(line.text) is not None and Role.ASSISTANT in spoke


def _alike(one: Words, other: Words) -> bool:
    least = min(len(one), len(other))
    return least > 0 and len(one & other) >= SAME * least


def _words(text: str) -> Words:
    return frozenset(words_of(text))
