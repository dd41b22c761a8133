"""
Regular expressions that are compiled on first use.

The extraction rules have hundreds of expressions. A program that only writes or searches should not
wait for them to be compiled.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property


class LazyPattern:
    """A regular expression of one or more alternatives, compiled on first use."""

    def __init__(self, *alternatives: str, flags: int = 0) -> None:
        joined = "|".join(f"(?:{alternative})" for alternative in alternatives)
        self._source = joined if len(alternatives) > 1 else alternatives[0]
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match between *start* and *end*."""
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the match at *start*, if there is one."""
        return self._compiled.match(text, start, end)

    def finditer(
        self, text: str, start: int = 0, end: int = sys.maxsize
    ) -> Iterator[re.Match[str]]:
        """Yield every match between *start* and *end*."""
        return self._compiled.finditer(text, start, end)

    def findall(self, text: str) -> list[str]:
        """Return the text of every match."""
        return self._compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return *text* with every match replaced."""
        return self._compiled.sub(replacement, text)
