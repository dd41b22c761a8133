"""
What of a message is said, and what is only shown: code, quoted lines, logs, diffs, injected memory.

Knows the marks of what people and programs paste, and nothing of who speaks.
"""

import re
from collections.abc import Iterator, Sequence

from recollect.text.fence import fenced_spans
from recollect.text.patterns import Pattern

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


def said_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of *text* that somebody said, in order."""
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
