"""
Compare two error messages: the share of words they have in common.

Numbers, addresses and the folders of paths differ between two occurrences of one error, so they do
not count. Pure text processing.
"""

import re
from functools import lru_cache

from recollect.text.lazy_pattern import LazyPattern

MAX_LINES = 100  # of an output, its end

_NUMBER = LazyPattern(r"0x[0-9a-f]+|\d+")
_FOLDERS = LazyPattern(r"(?:[\w.~-]*/)+(?=[\w.-])")
_COMMON_WORDS = """
a an the is are was be been of in on at to for from with by and or not error err exception failed
failure fatal warning cannot could can did
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def error_similarity(output: str, error: str) -> float:
    """
    Return how alike an error and the most similar line of an output are, from 0 to 1.

    It is 1 if they differ only in numbers, folders and common words.
    """
    words = _distinctive_words(error)
    lines = [_distinctive_words(line) for line in output.splitlines()[-MAX_LINES:]]
    return max((_similarity(words, line) for line in lines), default=0.0)


def _similarity(words: frozenset[str], other_words: frozenset[str]) -> float:
    if not words or not other_words:
        return 0.0
    shared = len(words & other_words) / min(len(words), len(other_words))
    return shared * _length_ratio(len(words), len(other_words))


def _length_ratio(count: int, other_count: int) -> float:
    """Return less than 1 if one message has few words: they occur in many others."""
    return min(1.0, min(count, other_count) / 3 + 1 / 3)


@lru_cache(maxsize=1_000)
def _distinctive_words(error: str) -> frozenset[str]:
    text = _NUMBER.sub("", _FOLDERS.sub("", error.casefold()))
    words = re.findall(r"[a-z_][\w.-]*[a-z]|[^\W\d_]+", text)
    return frozenset(words) - _COMMON
