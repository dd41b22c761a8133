"""
Split texts into words and stem them, as the word index stores them.

FTS5's unicode61 and Porter tokenizers are called as functions, so that every database has the same
words: a store on a server is ranked like one in a file.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import apsw

from recollect.text.search_aliases import ALIASES
from recollect.text.search_words import STOP_WORDS, searchable_text

MAX_WORD_CHARS = 64
_DOCUMENT = apsw.FTS5_TOKENIZE_DOCUMENT


class WordTokenizer:
    """The tokenizer of one connection. Not thread-safe."""

    def __init__(self, db: apsw.Connection | None = None) -> None:
        """Use the tokenizer of *db*; without one, of an empty database in memory."""
        self._db = db or apsw.Connection(":memory:")  # a tokenizer does not keep its database open
        self._tokenizer = self._db.fts5_tokenizer("porter", ["unicode61"])

    def terms(self, text: str) -> list[str]:
        """Return the index terms of *text*; stop words only if there is nothing else."""
        tokens = [token[:MAX_WORD_CHARS] for token in self.tokens(searchable_text(text))]
        stop_terms = _stop_terms()
        return [token for token in tokens if token not in stop_terms] or tokens

    def aliases(self) -> Mapping[str, Sequence[str]]:
        """Return the other index terms of each term that is written in several ways."""
        return _alias_terms()

    def spellings(self, query: str) -> dict[str, str]:
        """Return, for each stem, how the query first spells it."""
        utf8 = searchable_text(query).encode()
        tokens: Any = self._tokenizer(
            utf8, _DOCUMENT, None, include_offsets=True, include_colocated=False
        )
        spellings: dict[str, str] = {}
        for start, end, stem in tokens:
            spellings.setdefault(stem[:MAX_WORD_CHARS], utf8[start:end].decode(errors="replace"))
        return spellings

    def tokens(self, text: str) -> list[str]:
        """Return the stems of all words of *text*."""
        return self._tokenizer(  # type: ignore[return-value]  # a flat list, without offsets
            text.encode(), _DOCUMENT, None, include_offsets=False, include_colocated=False
        )


# The tokenizers of all connections are alike, so these are made once in a process.
@cache
def _stop_terms() -> frozenset[str]:
    return frozenset(WordTokenizer().tokens(" ".join(STOP_WORDS)))


@cache
def _alias_terms() -> Mapping[str, Sequence[str]]:
    tokenizer = WordTokenizer()
    terms = {word: tokenizer.terms(word) for word in ALIASES}
    # A word that is split or is a stop word has no term of its own.
    return {
        terms[word][0]: [terms[other][0] for other in others if len(terms[other]) == 1]
        for word, others in ALIASES.items()
        if len(terms[word]) == 1
    }
