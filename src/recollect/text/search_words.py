"""
Prepare text for the word index: split identifiers, and pair characters of unspaced scripts.

The index's tokenizer only knows spaces, letters and digits. Identifiers are split into their words
(`writeBoolean`, `HTTPServer`), and scripts written without spaces become overlapping pairs of
characters, so that a part of a phrase can be found. The tokenizer itself does the stemming.

Stop words of other languages are removed from queries only: the terms of stored texts stay as they
are, so that no index has to be rebuilt.
"""

import re
from functools import cache

from recollect.text.language_data import ENGLISH, LANGUAGES, detect_language, load_language
from recollect.text.lazy_pattern import LazyPattern

STOP_WORDS = load_language(ENGLISH).stop_words

# Han, kana, Hangul, Thai, Lao, Khmer, Burmese: scripts without spaces between words (Korean has
# spaces, but particles are attached to the word; pairs match the stem).
_UNSPACED = LazyPattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)
_WORD = re.compile(r"[^\W\d_]+")
_HIRAGANA = LazyPattern("[\u3040-\u309f]")
_CAMEL = LazyPattern(
    r"(?<![A-Za-z0-9])[A-Za-z0-9]*?(?:[a-z][0-9]*[A-Z]|[A-Z][A-Z][a-z])[A-Za-z0-9]*"
)
_CAMEL_PARTS = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def searchable_text(text: str) -> str:
    """Return *text* as the tokenizer needs it: unspaced runs as pairs, identifiers split."""
    opened = _UNSPACED.sub(_character_pairs, text)
    inner = " ".join(_CAMEL_PARTS.sub(r" \g<0>", name) for name in _CAMEL.findall(opened))
    return f"{opened} {inner}" if inner else opened


def query_without_stop_words(query: str) -> str:
    """
    Return *query* without the stop words of its language.

    English ones stay, because the index knows them, and so do those of unspaced scripts, whose
    pairs of characters are weighed by how rare they are.
    """
    language = detect_language(query)
    if language.code == ENGLISH or not language.is_spaced:
        return query
    words = language.stop_words
    rest = _WORD.sub(lambda word: " " if word.group().lower() in words else word.group(), query)
    return rest if any(map(str.isalnum, rest)) else query


def is_content_word(word: str) -> bool:
    """
    Return whether *word* says what a text is about, in whatever language it is.

    Stop words of all languages do not. Of Japanese, nothing with a hiragana does: those write the
    grammar.
    """
    return word.lower() not in _stop_words_of_all_languages() and not _HIRAGANA.search(word)


@cache
def _stop_words_of_all_languages() -> frozenset[str]:
    return frozenset().union(*(load_language(code).stop_words for code in LANGUAGES))


def _character_pairs(match: re.Match[str]) -> str:
    run = match.group()
    if len(run) == 1:
        return f" {run} "
    return " " + " ".join(run[i : i + 2] for i in range(len(run) - 1)) + " "
