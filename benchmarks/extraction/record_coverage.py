"""
Decide whether a candidate covers an annotated record of the same session.

By words: it has at least half of the record's content words (stems; without stop words, "user",
"assistant" and the heading in brackets). Or by embedding: the cosine similarity is at least 0.6.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.models.embedder import Embedder
from recollect.text.search_words import STOP_WORDS
from recollect.text.statement_parser import stem

MIN_WORD_SHARE = 0.5
MIN_SIMILARITY = 0.6
RULE = (
    f"a candidate covers a record of its session when it has at least {100 * MIN_WORD_SHARE:.0f} % "
    f"of the record's content words, or a cosine of at least {MIN_SIMILARITY} with it"
)
_HEADING = re.compile(r"^【[^】]*】\s*")
_WORD = re.compile(r"[^\W_]+")
_NOT_CONTENT = STOP_WORDS | {"user", "users", "assistant"}

Coverage = NDArray[np.float32]  # a row for each record, a column for each candidate


def record_coverage(
    records: Sequence[str], candidates: Sequence[str], embedder: Embedder
) -> Coverage:
    """Return how well each candidate covers each record; from 1 on it does."""
    if not records or not candidates:
        return np.zeros((len(records), len(candidates)), dtype=np.float32)
    texts = [_HEADING.sub("", record) for record in records]
    record_words, there = (
        [_words(text) for text in texts],
        [_words(candidate) for candidate in candidates],
    )
    shared = [[len(some & other) / max(len(some), 1) for other in there] for some in record_words]
    nearness = embedder.embed(texts) @ embedder.embed(candidates).T
    better: Coverage = np.maximum(np.array(shared) / MIN_WORD_SHARE, nearness / MIN_SIMILARITY)
    return better


def _words(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset(stem(word) for word in words if word not in _NOT_CONTENT)
