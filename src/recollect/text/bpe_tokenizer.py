"""
Count tokens exactly with the byte-pair tables of OpenAI's models, o200k_base and cl100k_base.

The tables come with `bpe_openai`, which is optional and loaded at first use. Which model uses which
table is in `token_families.py`.

How a text is truncated: a fixed pattern splits it into pieces from the left, and each piece is
counted by itself. To decide where a piece ends, the pattern reads at most three characters past
that end (the "'ll" of "we'll"; a run of blanks is read to its end, but a truncated run keeps the
break after its last newline). So pieces that end three characters before a cut are the same with
and without it, and only the last few must be counted again. That is necessary: "indivisibl" takes
more tokens than "indivisible".
"""

import re
from bisect import bisect_right
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Protocol, cast

MAX_TOKEN_BYTES = 128  # bytes of the longest token in either table
_LOOKAHEAD_CHARS = 3  # characters past its end that decide where a piece ends
_LONG_PIECE = 512  # characters; past them only whole tokens are tried

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class BpeTable(Protocol):
    """The methods of `bpe_openai._bindings.PyTokenizer` that are used here."""

    def count(self, text: str) -> int:
        """Return the number of tokens."""

    def count_till_limit(self, text: str, token_limit: int) -> int | None:
        """Return the number of tokens, or None past the limit."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens."""

    def decode(self, tokens: list[int]) -> str:
        """Return the text of the tokens."""

    def pretokenize(self, text: str) -> list[str]:
        """Return the pieces that are counted one by one."""


def load_table(encoding: str) -> BpeTable | None:
    """Return the table of *encoding*, or None if `bpe_openai` is not installed."""
    # Load the extension without its package: importing the package builds a second, unused copy of
    # every table in Python, which takes half a second and 70 MB (docs/adr/0013).
    package = find_spec("bpe_openai")
    if package is None:
        return None
    spec = PathFinder.find_spec("bpe_openai._bindings", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    try:
        bindings = module_from_spec(spec)
        spec.loader.exec_module(bindings)
    except ImportError:  # built for another machine
        return None
    return cast(BpeTable, bindings.tokenizer_for_encoding(encoding))


def has_tables() -> bool:
    """Return whether `bpe_openai` is installed, without loading it."""
    return find_spec("bpe_openai") is not None


def count_tokens(table: BpeTable, text: str) -> int:
    """Return how many tokens *text* has. A lone surrogate counts as U+FFFD."""
    return table.count(_without_surrogates(text))


def fits_limit(table: BpeTable, text: str, limit: int) -> bool:
    """Return whether *text* has at most *limit* tokens, without reading more than needed."""
    if limit < 0 or len(text) > MAX_TOKEN_BYTES * limit:
        return False
    if len(text) * 4 <= limit:  # a token has at least one byte
        return True
    return table.count_till_limit(_without_surrogates(text), limit) is not None


def truncate(table: BpeTable, text: str, limit: int) -> str:
    """
    Return the longest beginning of *text* with at most *limit* tokens.

    Within a piece of more than 512 characters it may be a few letters short of the longest.
    """
    if fits_limit(table, text, limit):
        return text
    if limit <= 0:
        return ""
    whole, text = text, _without_surrogates(text[: MAX_TOKEN_BYTES * limit + _LOOKAHEAD_CHARS])
    ends, sums = _pieces(table, text, limit)
    low, top = ends[-2], min(ends[-1] + _LOOKAHEAD_CHARS, len(text))
    if top - low > _LONG_PIECE:
        end = low + _chars_of_first_tokens(table, text[low : ends[-1]], limit - sums[-2])
    else:
        steady = bisect_right(ends, max(low - _LOOKAHEAD_CHARS, 0)) - 1
        start, left = ends[steady], limit - sums[steady]
        longer = range(top, low, -1)
        end = next((end for end in longer if table.count(text[start:end]) <= left), low)
    while not fits_limit(table, text[:end], limit):
        end -= 1
    return whole[:end]


def _pieces(table: BpeTable, text: str, limit: int) -> tuple[list[int], list[int]]:
    """Return the end of each piece and the tokens up to it, until the total exceeds *limit*."""
    reach = 8 * limit
    while True:
        ends, sums = [0], [0]
        for piece in table.pretokenize(text[:reach]):
            ends.append(ends[-1] + len(piece))
            sums.append(sums[-1] + table.count(piece))
            if sums[-1] > limit:
                break
        if reach >= len(text) or (sums[-1] > limit and ends[-1] + _LOOKAHEAD_CHARS <= reach):
            return ends, sums
        reach *= 4


def _chars_of_first_tokens(table: BpeTable, piece: str, limit: int) -> int:
    """Return how many characters the first *limit* tokens of one long piece cover."""
    tokens = table.encode(piece)[:limit]
    while tokens:
        try:
            return len(table.decode(tokens))
        except ValueError:  # the last one ends within a character
            tokens.pop()
    return 0


def _without_surrogates(text: str) -> str:
    """Return *text* with lone surrogates replaced, so that it can be encoded as UTF-8."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)
