"""Find what the author of a message wrote, without code, quotes, logs and injected memory."""

import re
from collections.abc import Iterator

from recollect.text.fence import fenced_spans, introduction_spans
from recollect.text.lazy_pattern import LazyPattern

# Each alternative matches to its own end or not at all, so matching is linear in the text.
_NOT_SPOKEN = LazyPattern(
    r"```.*?(?:```|\Z)"  # a code block, closed or not
    r"|~~~.*?(?:~~~|\Z)"
    r"|^[ \t]*>[^\n]*$"  # a quoted line
    r"|^(?: {4}|\t)(?!\s*(?:[-*•+]|\d+[.)])\s)[^\n]*$"  # an indented block that is not a list
    r"|^[ \t]*(?:at [\w.$<>]+ ?\(|File \"|Traceback |[A-Z]\w*(?:Error|Exception)\b|\$ |>>> "
    r"|\d{4}-\d\d-\d\dT)[^\n]*$|^[ \t]*(?:diff --git|index [0-9a-f]|@@ |[+-]{3} "
    r"|[+-](?![ \t-]))[^\n]*$|<(?P<tag>system-reminder|command-[a-z]+|local-command-[a-z]+"
    r"|environment_context|file|document)\b[^>]*>.*?(?:</(?P=tag)>|\Z)|█+",
    flags=re.DOTALL | re.MULTILINE,
)


def spoken_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part of *text* that its author wrote, in order."""
    not_spoken = [match.span() for match in _NOT_SPOKEN.finditer(text)]
    hidden = sorted(fenced_spans(text) + introduction_spans(text) + not_spoken)
    at = 0
    for start, end in hidden:
        if start > at:
            yield at, start
        at = max(at, end)
    if at < len(text):
        yield at, len(text)
