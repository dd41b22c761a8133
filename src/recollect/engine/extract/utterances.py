"""
What of a source may be read for facts: sentences in the voice of somebody who may state them.

Left out before any rule looks: tool output, system text, code blocks, quoted lines, logs, memory
that was injected into the prompt, and what a forgotten span left behind. What is left comes as
`Utterance`s in order, each with its place in the source.
"""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.source import BLANKS
from recollect.domain.transcript import Voice
from recollect.engine.material import Turn
from recollect.text.said import said_spans
from recollect.text.sentences import sentences

LEAST_CHARS, MOST_CHARS = 2, 600  # shorter says nothing, longer is a paste
MOST_TURN_CHARS = 20_000  # a longer message is a pasted document, not something somebody said


@dataclass(frozen=True, slots=True)
class Utterance:
    """One sentence, its place in the source, and its turn."""

    text: str
    start: int
    end: int
    turn: Turn

    @property
    def at(self) -> datetime:
        """When it was said."""
        return self.turn.at


def utterances(content: str, turn: Turn, *, all_of_it: bool = False) -> list[Utterance]:
    """Return the sentences of one turn that somebody said; *all_of_it*: however long it is."""
    if turn.voice in (Voice.TOOL, Voice.SYSTEM):
        return []
    if turn.end - turn.start > MOST_TURN_CHARS and not all_of_it:
        return []
    found = []
    for start, end in said_spans(content[turn.start : turn.end]):
        for first, last in sentences(content, turn.start + start, turn.start + end):
            after = content[last : last + 2].removeprefix(" ")
            whole = not any(mark in BLANKS for mark in (content[first - 1 : first], after[:1]))
            if LEAST_CHARS <= last - first <= MOST_CHARS and whole:
                found.append(Utterance(content[first:last], first, last, turn))
    return found
