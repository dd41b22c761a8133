"""
Count tokens exactly with the tables OpenAI's models use, o200k_base and cl100k_base.

The tables come with `bpe_openai`, which is loaded at the first use and may be missing. This file
knows nothing of models and their names.

How a text is cut: a fixed pattern splits it into pieces from the left, and each piece is counted by
itself. To settle where a piece ends the pattern reads at most three characters past that end (the
"'ll" of "we'll"; a run of blanks is read to its end, but one cut off keeps the break after its last
newline). So pieces that end three characters before a cut are the same with and without it, and
only the last few need counting again. They do need it: "indivisibl" takes more tokens than
"indivisible".
"""

import re
from bisect import bisect_right
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Protocol, cast

LONGEST = 128  # bytes of the longest token in either table
_READ_PAST = 3  # characters past its end that decide a piece
_LONG_PIECE = 512  # characters; past them only whole tokens are tried

_LONE = re.compile("[\ud800-\udfff]")


class Table(Protocol):
    """What is used of `bpe_openai._bindings.PyTokenizer`."""

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        ...

    def count_till_limit(self, text: str, token_limit: int) -> int | None:
        """Return the number of tokens, or None past the limit."""
        ...

    def encode(self, text: str) -> list[int]:
        """Return the tokens."""
        ...

    def decode(self, tokens: list[int]) -> str:
        """Return the text of the tokens."""
        ...

    def pretokenize(self, text: str) -> list[str]:
        """Return the pieces that are counted one by one."""
        ...


def load(encoding: str) -> Table | None:
    """Return the table of *encoding*, or None where `bpe_openai` is not installed."""
    # The extension without its package: importing the package builds a second, unused copy of
    # every table in Python, half a second and 70 MB (docs/adr/0013).
    package = find_spec("bpe_openai")
    if package is None:
        return None
    found = PathFinder.find_spec("bpe_openai._bindings", package.submodule_search_locations)
    if found is None or found.loader is None:
        return None
    try:
        bindings = module_from_spec(found)
        found.loader.exec_module(bindings)
    except ImportError:  # built for another machine
        return None
    return cast(Table, bindings.tokenizer_for_encoding(encoding))


def count(table: Table, text: str) -> int:
    """Return how many tokens *text* has. A lone surrogate counts as U+FFFD."""
    return table.count(_sendable(text))


def fits(table: Table, text: str, limit: int) -> bool:
    """Return whether *text* has at most *limit* tokens, reading no more of it than needed."""
    if limit < 0 or len(text) > LONGEST * limit:
        return False
    if len(text) * 4 <= limit:  # a token has at least one byte
        return True
    return table.count_till_limit(_sendable(text), limit) is not None


def cut(table: Table, text: str, limit: int) -> str:
    """
    Return the longest beginning of *text* with at most *limit* tokens.

    Within a piece of more than 512 characters it may be a few letters short of the longest.
    """
    if fits(table, text, limit):
        return text
    if limit <= 0:
        return ""
    whole, text = text, _sendable(text[: LONGEST * limit + _READ_PAST])
    ends, sums = _pieces(table, text, limit)
    low, top = ends[-2], min(ends[-1] + _READ_PAST, len(text))
    if top - low > _LONG_PIECE:
        end = low + _whole_tokens(table, text[low : ends[-1]], limit - sums[-2])
    else:
        steady = bisect_right(ends, max(low - _READ_PAST, 0)) - 1
        start, left = ends[steady], limit - sums[steady]
        longer = range(top, low, -1)
        end = next((end for end in longer if table.count(text[start:end]) <= left), low)
    while not fits(table, text[:end], limit):
        end -= 1
    return whole[:end]


def _pieces(table: Table, text: str, limit: int) -> tuple[list[int], list[int]]:
    """Return where the pieces end and how many tokens end there, to the first past *limit*."""
    reach = 8 * limit
    while True:
        ends, sums = [0], [0]
        for piece in table.pretokenize(text[:reach]):
            ends.append(ends[-1] + len(piece))
            sums.append(sums[-1] + table.count(piece))
            if sums[-1] > limit:
                break
        if reach >= len(text) or (sums[-1] > limit and ends[-1] + _READ_PAST <= reach):
            return ends, sums
        reach *= 4


def _whole_tokens(table: Table, piece: str, limit: int) -> int:
    """Return how many characters the first *limit* tokens of one long piece make up."""
    tokens = table.encode(piece)[:limit]
    while tokens:
        try:
            return len(table.decode(tokens))
        except ValueError:  # the last one ends within a character
            tokens.pop()
    return 0


def _sendable(text: str) -> str:
    """Return *text* as UTF-8 can carry it, as many characters long."""
    return text if text.isascii() else _LONE.sub("\ufffd", text)
