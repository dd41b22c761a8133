"""
What of a source may be read for facts: sentences in the voice of somebody who may state them.

Left out before any rule looks: tool output, system text, code blocks, quoted lines, logs, memory
that was injected into the prompt, and what a forgotten span left behind. What is left comes as
`Utterance`s in order, each with its place in the source.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.source import BLANK
from recollect.domain.transcript import Voice
from recollect.engine.material import Turn
from recollect.text.fence import fenced_spans
from recollect.text.patterns import Pattern
from recollect.text.sentences import sentences

LEAST_CHARS, MOST_CHARS = 2, 600  # shorter says nothing, longer is a paste
MOST_TURN_CHARS = 20_000  # a longer message is a pasted document, not something somebody said

# Each alternative reads to its own end or not at all, so reading stays linear.
_NOT_SAID = Pattern(
    r"```.*?(?:```|\Z)"  # a code block, closed or not
    r"|~~~.*?(?:~~~|\Z)"
    r"|^[ \t]*>[^\n]*$"  # a quoted line
    r"|^(?: {4}|\t)(?!\s*(?:[-*•+]|\d+[.)])\s)[^\n]*$"  # an indented block that is no list
    r"|^[ \t]*(?:at [\w.$<>]+ ?\(|File \"|Traceback |[A-Z]\w*(?:Error|Exception)\b|\$ |>>> "
    r"|\d{4}-\d\d-\d\dT)[^\n]*$"
    r"|^[ \t]*(?:diff --git|index [0-9a-f]|@@ |[+-]{3} |[+-](?![ \t-]))[^\n]*$"
    r"|<(?P<tag>system-reminder|command-[a-z]+|local-command-[a-z]+|environment_context|file"
    r"|document)\b"
    r"[^>]*>.*?(?:</(?P=tag)>|\Z)"
    r"|█+",
    flags=re.DOTALL | re.MULTILINE,
)


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
    for start, end in _said_spans(content[turn.start : turn.end]):
        for first, last in sentences(content, turn.start + start, turn.start + end):
            cut = BLANK in (content[first - 1 : first], content[last : last + 1])
            whole = not cut and content[last : last + 2] != f" {BLANK}"
            if LEAST_CHARS <= last - first <= MOST_CHARS and whole:
                found.append(Utterance(content[first:last], first, last, turn))
    return found


def _said_spans(text: str) -> Iterator[tuple[int, int]]:
    hidden = sorted(fenced_spans(text) + [m.span() for m in _NOT_SAID.finditer(text)])
    at = 0
    for start, end in _merged(hidden):
        if start > at:
            yield at, start
        at = max(at, end)
    if at < len(text):
        yield at, len(text)


def _merged(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at: tuple[int, int] | None = None
    for start, end in spans:
        if at is not None and start <= at[1]:
            at = (at[0], max(at[1], end))
            continue
        if at is not None:
            yield at
        at = (start, end)
    if at is not None:
        yield at
