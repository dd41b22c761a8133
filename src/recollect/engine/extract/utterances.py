"""
Split a source into the sentences that may state facts.

Left out: tool output, system text, code blocks, quoted lines, logs, memory that was injected into
the prompt, and sentences next to a forgotten span. The others are returned as `Utterance`s in
order, each with its offsets in the source.
"""

from datetime import datetime

from recollect.domain.source import BLANKS
from recollect.domain.transcript import Voice
from recollect.engine.source_text import SourceTurn
from recollect.lazy_dataclass import dataclass
from recollect.text.sentence_splitter import sentence_spans
from recollect.text.spoken_parts import spoken_spans

MIN_CHARS, MAX_CHARS = 2, 600  # a longer sentence is pasted text
MAX_TURN_CHARS = 20_000  # a longer message is a pasted document


@dataclass(frozen=True, slots=True)
class Utterance:
    """One sentence, its offsets in the source, and its turn."""

    text: str
    start: int
    end: int
    turn: SourceTurn
    begins_line: bool = True

    @property
    def at(self) -> datetime:
        """When it was said."""
        return self.turn.at


def utterances(content: str, turn: SourceTurn, *, all_of_it: bool = False) -> list[Utterance]:
    """Return the spoken sentences of one turn; a long turn is skipped unless *all_of_it*."""
    if turn.voice in (Voice.TOOL, Voice.SYSTEM):
        return []
    if turn.end - turn.start > MAX_TURN_CHARS and not all_of_it:
        return []
    utterances = []
    for start, end in spoken_spans(content[turn.start : turn.end]):
        for first, last in sentence_spans(content, turn.start + start, turn.start + end):
            after = content[last : last + 2].removeprefix(" ")
            is_whole = not any(mark in BLANKS for mark in (content[first - 1 : first], after[:1]))
            if MIN_CHARS <= last - first <= MAX_CHARS and is_whole:
                begins_line = first == turn.start or content[first - 1] != " "
                utterances.append(Utterance(content[first:last], first, last, turn, begins_line))
    return utterances
