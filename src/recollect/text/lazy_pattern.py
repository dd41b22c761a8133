"""
Regular expressions that are compiled on first use.

The extraction rules have hundreds of expressions. A program that only writes or searches should not
wait for them to be compiled.
"""

import re
from collections.abc import Iterator
from functools import cached_property


class LazyPattern:
    """A regular expression of one or more alternatives, compiled on first use."""

    def __init__(self, *alternatives: str, flags: int = 0) -> None:
        self._source = (
            alternatives[0]
            if len(alternatives) == 1
            else "|".join(f"(?:{alternative})" for alternative in alternatives)
        )
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first match between *start* and *end*."""
        return self._compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the match at *start*, if there is one."""
        return self._compiled.match(text, start, len(text) if end is None else end)

    def finditer(
        self, text: str, start: int = 0, end: int | None = None
    ) -> Iterator[re.Match[str]]:
        """Yield every match between *start* and *end*."""
        return self._compiled.finditer(text, start, len(text) if end is None else end)

    def findall(self, text: str) -> list[str]:
        """Return the text of every match."""
        return self._compiled.findall(text)

    def sub(self, replacement: str, text: str) -> str:
        """Return *text* with every match replaced."""
        return self._compiled.sub(replacement, text)
