"""
Weigh the words of a conversation: a word that few of its messages use weighs more.

Counts words of one conversation, in bounded memory. Works for any language.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from recollect.text.search_words import STOP_WORDS, searchable_text
from recollect.text.statement_parser import stem

MAX_WORDS = 50_000  # counted at a time; the rarest are dropped
MAX_CHARS = 8_000  # of a message
LONG_WORD = 10  # letters; a longer word (a path, a name) weighs as much as several words
SPECIFIC_WEIGHT = 1.5  # factor for a number, or a name inside a sentence

_WORD = re.compile(r"\w(?:[\w.+#/'’-]*\w)?")
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


def weighted_words(text: str) -> dict[str, float]:
    """Return the stems of the words of *text* that are not stop words, with their weights."""
    weights: dict[str, float] = {}
    for match in _WORD.finditer(text if text.isascii() else searchable_text(text)):
        key, weight = _word_weight(match.group(), match.start() == 0)
        if key:
            weights[key] = max(weights.get(key, 0.0), weight)
    return weights


@lru_cache(maxsize=MAX_WORDS)
def _word_weight(word: str, first: bool) -> tuple[str, float]:
    """Return the stem of *word* and its weight; the stem of a stop word is ''."""
    lower = word.lower()
    if lower in STOP_WORDS or (len(word) == 1 and word.isascii() and not word.isdigit()):
        return "", 0.0
    is_specific = any(map(str.isdigit, word)) or (not first and word[0].isupper())
    key = stem(lower.replace("’", "'"))
    return key, (SPECIFIC_WEIGHT if is_specific else 1.0) * max(1.0, len(key) / LONG_WORD)


class WordRarity:
    """How rare each word is in a collection of texts (inverse document frequency)."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = 0
        self._with: Counter[str] = Counter()
        for text in texts:
            self._texts += 1
            self._with.update(weighted_words(_CODE_BLOCK.sub(" ", text[:MAX_CHARS])).keys())
            if len(self._with) > MAX_WORDS:
                self._with = Counter({word: n for word, n in self._with.items() if n > 1})
                if len(self._with) > MAX_WORDS // 2:
                    self._with = Counter(dict(self._with.most_common(MAX_WORDS // 2)))

    def of(self, word: str) -> float:
        """Return the rarity of *word*: the more texts contain it, the lower."""
        return math.log(1 + (self._texts + 1) / (self._with.get(word, 0) + 1))
