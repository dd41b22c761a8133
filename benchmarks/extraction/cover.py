"""
When does a candidate cover a record that somebody else made of the same session?

By words: at least half of the record's content words stand in the candidate (as stems; stop words,
"user", "assistant" and the heading in brackets do not count). Or by meaning: the cosine of the two
embeddings is at least 0.6. Pure but for the embedder it is given.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recollect.models.embedder import Embedder
from recollect.text.statement_parser import stem
from recollect.text.search_words import STOP_WORDS

ENOUGH_WORDS = 0.5
ENOUGH_MEANING = 0.6
RULE = (
    f"a candidate covers a record of its session when it has at least {100 * ENOUGH_WORDS:.0f} % "
    f"of the record's content words, or a cosine of at least {ENOUGH_MEANING} with it"
)
_HEADING = re.compile(r"^【[^】]*】\s*")
_WORD = re.compile(r"[^\W_]+")
_NOT_CONTENT = STOP_WORDS | {"user", "users", "assistant"}

Cover = NDArray[np.float32]  # a row for each record, a column for each candidate


def cover(records: Sequence[str], candidates: Sequence[str], embedder: Embedder) -> Cover:
    """Return how well each candidate covers each record; from 1 on it does."""
    if not records or not candidates:
        return np.zeros((len(records), len(candidates)), dtype=np.float32)
    told = [_HEADING.sub("", record) for record in records]
    wanted, there = [_words(one) for one in told], [_words(one) for one in candidates]
    shared = [[len(some & other) / max(len(some), 1) for other in there] for some in wanted]
    nearness = embedder.embed(told) @ embedder.embed(candidates).T
    better: Cover = np.maximum(np.array(shared) / ENOUGH_WORDS, nearness / ENOUGH_MEANING)
    return better


def _words(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset(stem(word) for word in words if word not in _NOT_CONTENT)
