"""
Regular expressions that are compiled when they are first used.

The extractor knows hundreds of ways to say things. A program that only writes or searches should
not wait for them to be compiled.
"""

import re
from collections.abc import Iterator
from functools import cached_property


class Pattern:
    """A regular expression, given as one or more alternatives."""

    def __init__(self, *ways: str, flags: int = 0) -> None:
        self._source = ways[0] if len(ways) == 1 else "|".join(f"(?:{way})" for way in ways)
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return the first place that fits."""
        return self._compiled.search(text, start, len(text) if end is None else end)

    def match(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Return how the beginning fits."""
        return self._compiled.match(text, start, len(text) if end is None else end)

    def finditer(
        self, text: str, start: int = 0, end: int | None = None
    ) -> Iterator[re.Match[str]]:
        """Yield every place that fits."""
        return self._compiled.finditer(text, start, len(text) if end is None else end)

    def findall(self, text: str) -> list[str]:
        """Return every piece that fits."""
        return self._compiled.findall(text)

    def sub(self, replacement: str, text: str) -> str:
        """Return *text* with every piece that fits replaced."""
        return self._compiled.sub(replacement, text)
