"""
Which words of a conversation carry weight: those that few of its messages use.

Counts over one conversation only, in bounded memory. Knows nothing of headings or of rules, so it
works for any language.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from recollect.text.statements import stem
from recollect.text.words import STOP_WORDS, searchable

MOST_WORDS = 50_000  # counted at a time; past that the rarest are let go
MOST_CHARS = 8_000  # of a message
LONG = 10  # letters; a path or a long name costs as much as several words, and tells as much
PARTICULAR = 1.5  # how much more a number, or a name inside a sentence, is worth

_WORD = re.compile(r"\w(?:[\w.+#/'’-]*\w)?")
_DUMP = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


def words_of(text: str) -> dict[str, float]:
    """Return the stems of the words of *text* that carry meaning, with what each is worth."""
    found: dict[str, float] = {}
    written = text if text.isascii() else searchable(text)
    for match in _WORD.finditer(written):
        key, worth = _reading(match.group(), match.start() == 0)
        if key:
            found[key] = max(found.get(key, 0.0), worth)
    return found


@lru_cache(maxsize=MOST_WORDS)
def _reading(word: str, first: bool) -> tuple[str, float]:
    """Return the stem of *word* and its worth, '' where it carries no meaning."""
    lower = word.lower()
    if lower in STOP_WORDS or (len(word) == 1 and word.isascii() and not word.isdigit()):
        return "", 0.0
    named = any(map(str.isdigit, word)) or (not first and word[0].isupper())
    key = stem(lower.replace("’", "'"))
    return key, (PARTICULAR if named else 1.0) * max(1.0, len(key) / LONG)


class Rarity:
    """How rare each word is among the texts that were counted."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = 0
        self._with: Counter[str] = Counter()
        for text in texts:
            self._texts += 1
            self._with.update(words_of(_DUMP.sub(" ", text[:MOST_CHARS])).keys())
            if len(self._with) > MOST_WORDS:
                self._with = Counter({word: n for word, n in self._with.items() if n > 1})
                if len(self._with) > MOST_WORDS // 2:
                    self._with = Counter(dict(self._with.most_common(MOST_WORDS // 2)))

    def of(self, word: str) -> float:
        """Return how much *word* tells: the less, the more texts have it."""
        return math.log(1 + (self._texts + 1) / (self._with.get(word, 0) + 1))
