"""
Count the tokens of a text for a model: exactly if its table is available, else by an estimate.

Counts are exact for OpenAI's models. For others they are an o200k count times weights: a fifth to a
third too high on the median text, too low on one in twelve (docs/log.md, 2026-11-15). Claude's
tables are not public; its weights come from a third party's reconstruction. If `bpe_openai` (the
extra `tokens`) is not installed, all counts come from `token_estimate.py`. A counter counts text
only, without the tokens that a server adds around each message.
"""

from collections.abc import Callable
from dataclasses import field
from functools import cache, lru_cache
from math import ceil
from threading import Lock

from recollect.lazy_dataclass import dataclass
from recollect.text import bpe_tokenizer
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.token_estimate import estimate_tokens
from recollect.text.token_families import TokenFamily, token_family

__all__ = ["TokenCounter", "cached_count", "counter_for", "estimate_tokens"]

ESTIMATED = (
    "estimated; for exact counts of OpenAI's models: pip install '.[tokens]' "
    "(in the checkout of Recollect)"
)

_NON_ASCII_LETTERS = LazyPattern("[\u0080-\u1fff]+")
_WIDE_CHARS = LazyPattern("[\u2000-\U0010ffff]+")
CACHED_TEXTS = 256  # of each counter: headings and blocks are the same in the next bundle
_lock = Lock()


@dataclass(frozen=True)
class TokenCounter:
    """Counts tokens for one family of models. Create one with `counter_for`."""

    name: str
    exact: bool
    _family: TokenFamily = field(repr=False)
    _table: bpe_tokenizer.BpeTable | None = field(repr=False)

    def count(self, text: str) -> int:
        """Return how many tokens *text* has. Never raises; special tokens are ordinary text."""
        if self._table is None:
            return self._estimate(estimate_tokens(text), text)
        tokens = bpe_tokenizer.count_tokens(self._table, text)
        return tokens if self.exact else self._estimate(tokens, text)

    def fits(self, text: str, limit: int) -> bool:
        """Return whether `count(text) <= limit`, without counting all of a huge text."""
        if self._table is None:
            return self.count(text) <= limit
        if self.exact:
            return bpe_tokenizer.fits_limit(self._table, text, limit)
        # no family counts fewer than o200k
        return len(text) <= bpe_tokenizer.MAX_TOKEN_BYTES * limit and self.count(text) <= limit

    def truncate(self, text: str, limit: int) -> str:
        """
        Return the longest beginning of *text* that fits in *limit* tokens.

        An estimate may leave it a word short of the longest.
        """
        if self.exact and self._table is not None:
            return bpe_tokenizer.truncate(self._table, text, limit)
        if self.fits(text, limit):
            return text
        low, high = 0, min(len(text), max(limit, 1))
        while high < len(text) and self.fits(text[:high], limit):
            low, high = high, min(2 * high, len(text))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(text[:middle], limit) else (low, middle)
        return text[:low]

    def _estimate(self, tokens: int, text: str) -> int:
        family = self._family
        total = family.per_token * tokens
        if family.per_digit:
            total += family.per_digit * sum(map(text.count, "0123456789"))
        if not text.isascii():
            letters = family.per_letter * _total_length(_NON_ASCII_LETTERS, text)
            total += letters + family.per_wide_char * _total_length(_WIDE_CHARS, text)
        return ceil(round(total, 6))


def counter_for(model: str = "") -> TokenCounter:
    """
    Return the counter for *model*, in any common spelling of its name.

    For an unknown model, the count is at least that of nearly every model; for '', it is o200k.
    """
    with _lock:  # concurrent callers share one counter for each family
        return _counter(token_family(model))


@cache
def _counter(family: TokenFamily) -> TokenCounter:
    table = bpe_tokenizer.load_table(family.encoding or "o200k_base")
    exact = table is not None and bool(family.encoding)
    name = family.name if exact else f"{family.name} (estimated)"
    return TokenCounter(name, exact, family, table)


@cache
def cached_count(counter: TokenCounter) -> Callable[[str], int]:
    """Return `counter.count` with a cache: a bundle counts most of its lines several times."""
    return lru_cache(CACHED_TEXTS)(counter.count)


def _total_length(runs: LazyPattern, text: str) -> int:
    return sum(map(len, runs.findall(text)))
