"""
Count tokens as a model does: exactly where its table is at hand, else by an estimate set high.

Exact for OpenAI's models. For the others it is an estimate, an o200k count times weights: a fifth
to a third too high on the median text, too low on one in twelve (docs/log.md, 2026-11-15). Claude's
tables are not public; its weights rest on an outsider's reconstruction. Where `bpe_openai` is not
installed all rests on the rules of `estimate.py`. A counter counts text, not the frame that a
server puts around messages, and knows nothing of budgets.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from threading import Lock

from recollect.text import bpe
from recollect.text.estimate import estimate_tokens
from recollect.text.token_families import Family, family_of

__all__ = ["TokenCounter", "counter_for", "estimate_tokens"]

_LETTERS = re.compile("[\u0080-\u1fff]+")
_WIDE = re.compile("[\u2000-\U0010ffff]+")
_building = Lock()


@dataclass(frozen=True)
class TokenCounter:
    """Counts the tokens of texts for one family of models. Get one from `counter_for`."""

    name: str
    exact: bool
    _family: Family = field(repr=False)
    _table: bpe.Table | None = field(repr=False)

    def count(self, text: str) -> int:
        """Return how many tokens *text* has. Never raises; special tokens are ordinary text."""
        if self._table is None:
            return self._weighed(estimate_tokens(text), text)
        tokens = bpe.count(self._table, text)
        return tokens if self.exact else self._weighed(tokens, text)

    def fits(self, text: str, limit: int) -> bool:
        """Return whether `count(text) <= limit`, without counting all of a huge text."""
        if self._table is None:
            return self.count(text) <= limit
        if self.exact:
            return bpe.fits(self._table, text, limit)
        # no family counts fewer than o200k
        return len(text) <= bpe.LONGEST * limit and self.count(text) <= limit

    def cut(self, text: str, limit: int) -> str:
        """
        Return the longest beginning of *text* that fits in *limit* tokens.

        An estimate may leave it a word short of the longest.
        """
        if self.exact and self._table is not None:
            return bpe.cut(self._table, text, limit)
        if self.fits(text, limit):
            return text
        low, high = 0, min(len(text), max(limit, 1))
        while high < len(text) and self.fits(text[:high], limit):
            low, high = high, min(2 * high, len(text))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(text[:middle], limit) else (low, middle)
        return text[:low]

    def _weighed(self, tokens: int, text: str) -> int:
        family = self._family
        total = family.token * tokens
        if family.digit:
            total += family.digit * sum(map(text.count, "0123456789"))
        if not text.isascii():
            total += family.letter * _length(_LETTERS, text) + family.wide * _length(_WIDE, text)
        return ceil(round(total, 6))


def counter_for(model: str = "") -> TokenCounter:
    """
    Return the counter for the model called *model*, however its name is written.

    For an unknown name it counts at least what nearly every model would; for none, o200k.
    """
    with _building:  # one counter for each family, whoever asks first
        return _counter(family_of(model))


@cache
def _counter(family: Family) -> TokenCounter:
    table = bpe.load(family.encoding or "o200k_base")
    exact = table is not None and bool(family.encoding)
    return TokenCounter(
        family.name if exact else f"{family.name} (estimated)", exact, family, table
    )


def _length(runs: re.Pattern[str], text: str) -> int:
    return sum(map(len, runs.findall(text)))
