"""
A regular expression from a caller, run so that it can do no harm.

RE2 answers in time linear in the text, whatever the expression, and compiles within a memory
budget (ADR 0015). The price: no look-around, no back-references, and `\\w`, `\\d`, `\\b` are ASCII.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from recollect.errors import InvalidInput, TooLarge

MAX_PATTERN = 1_000  # characters
MEMORY_BYTES = 8 * 1024 * 1024  # for the compiled expression and what it remembers while running
BATCH_CHARS = 64 * 1024  # characters that are searched in one go

# Such an expression depends on the ends of a text, so each line is searched alone, not in a batch.
_TEXT_ENDS = re.compile(r"\\[Az]|\(\?[a-zA-Z]*-")


class SafeRegex:
    """A compiled expression. It is matched within lines, as grep does; `^` and `$` are a line's."""

    def __init__(self, pattern: str) -> None:
        _check(pattern)
        # Loaded with the first search; few programs search files.
        import re2

        options = re2.Options()
        options.max_mem = MEMORY_BYTES
        options.never_capture = True
        options.log_errors = False
        try:
            self._compiled: Any = re2.compile(f"(?m){pattern}", options)
        except re2.error as error:
            raise InvalidInput(_describe_error(pattern, error)) from None
        finally:
            re2.purge()  # it would keep the last 128 expressions with all their memory
        self._searches_batches = _TEXT_ENDS.search(pattern) is None

    def span(self, line: str) -> tuple[int, int] | None:
        """Return the start and end of the first match in *line*."""
        match = self._compiled.search(line)
        return None if match is None else match.span()

    def matching_lines(self, lines: Sequence[str]) -> Iterator[int | None]:
        """Return the indexes of the *lines* that match, and None after each batch of them."""
        start = 0
        for end in _batch_ends(lines):
            batch = islice(lines, start, end)
            if not self._searches_batches or self._compiled.search("\n".join(batch)):
                yield from (at for at in range(start, end) if self.span(lines[at]))
            yield None
            start = end


def _batch_ends(lines: Sequence[str]) -> Iterator[int]:
    """Return where each batch ends: whole lines, of about `BATCH_CHARS` characters."""
    length = 0
    for number, line in enumerate(lines, 1):
        length += len(line) + 1
        if length >= BATCH_CHARS:
            yield number
            length = 0
    if length:
        yield len(lines)


def _check(pattern: object) -> None:
    if not isinstance(pattern, str) or not pattern:
        raise InvalidInput("the pattern is empty; write a regular expression such as TODO|FIXME")
    if len(pattern) > MAX_PATTERN:
        raise TooLarge(
            f"the pattern has {len(pattern):,} characters; the limit is {MAX_PATTERN:,}. "
            "Search for its parts one after the other"
        )
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"the pattern has half a character at position {error.start}; write it as UTF-8"
        ) from None


def _describe_error(pattern: str, error: Exception) -> str:
    """Return what RE2 says (`problem: piece of the pattern`) with the place and the next step."""
    reason = error.args[0] if error.args else b""
    text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    problem, _, piece = text.partition(": ")
    piece = piece.removeprefix("(?m)")
    at = pattern.find(piece) if piece else -1
    where = f" at position {at} ({piece[:40]!r})" if at >= 0 else ""
    return (
        f"the pattern cannot be read: {problem}{where}. Escape what is meant literally with \\; "
        "look-around and back-references are not known here"
    )
