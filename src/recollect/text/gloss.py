"""
Word-by-word English glosses of texts in other languages, for an embedding model of English.

Such a model finds all Spanish or Chinese texts similar. Of "¿Qué no puedo comer?" it sees "what not
can eat" instead. A gloss is only embedded: it is never stored, shown or searched by words.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from recollect.lazy_dataclass import dataclass
from recollect.text.glossary import MAX_FORM_WORDS, Glossary, load_glossary
from recollect.text.language_data import (
    ENGLISH,
    Language,
    detect_language,
    likely_languages,
    load_language,
)
from recollect.text.lazy_pattern import LazyPattern

MIN_KNOWN_SHARE = 0.3  # of the words of a text; with fewer, its own words say more
MIN_KNOWN_SHARE_IF_NOT_ASCII = 0.5  # if one stop word and a character speak for another language
MIN_KNOWN_SHARE_IF_DOUBTFUL = 0.75  # if one stop word alone does
CACHED_TEXTS = 256  # a query is glossed to be embedded and to be judged

_AUXILIARIES = frozenset({"be", "become", "exist"})  # say nothing of what a text is about
_CODES_WITHOUT_SPACES = frozenset({"zh", "ja"})
_HIRAGANA = LazyPattern("[\u3040-\u309f]")  # writes the grammar
_TOKEN = re.compile(r"\w+(?:['’-]\w+)*")
_ELIDED = re.compile(r"^(?:[cdjlmnst]|qu|all|dall|dell|nell|sull|un)'(?=\w)")
_LATIN_OR_NUMBER = re.compile(r"[A-Za-z0-9][\w.+#/-]*", re.ASCII)


def is_glossed(text: str) -> bool:
    """Return whether *text* is in another language whose words are known."""
    return english_gloss(text) != text


@lru_cache(maxsize=CACHED_TEXTS)
def english_gloss(text: str) -> str:
    """Return *text* if it is English or mostly unknown, else its words in English."""
    codes = likely_languages(text)
    if codes == [ENGLISH]:
        return text
    glosses = [_gloss_in(code, text) for code in codes]
    best = max(glosses, key=lambda gloss: gloss.known_share)
    return best.text if best.known_share >= _least_known_share(text) else text


def _least_known_share(text: str) -> float:
    if detect_language(text).code != ENGLISH:
        return MIN_KNOWN_SHARE
    # "slow car" has a stop word of French, and none of English.
    return MIN_KNOWN_SHARE_IF_DOUBTFUL if text.isascii() else MIN_KNOWN_SHARE_IF_NOT_ASCII


@dataclass(frozen=True)
class _Gloss:
    """A text in English, and the share of its words that the glossary knows."""

    text: str
    known_share: float


def _gloss_in(code: str, text: str) -> _Gloss:
    language, glossary = load_language(code), load_glossary(code)
    if code in _CODES_WITHOUT_SPACES:
        glosses = list(_gloss_characters(text, language, glossary))
    else:
        glosses = list(_gloss_words(text, language, glossary))
    known_count = sum(is_known for _, is_known in glosses)
    english = " ".join(gloss for gloss, _ in glosses if gloss and gloss not in _AUXILIARIES)
    return _Gloss(english, known_count / len(glosses) if english else 0.0)


def _gloss_words(text: str, language: Language, glossary: Glossary) -> Iterator[tuple[str, bool]]:
    """Yield each word in English, or as it is if it is unknown; unknown stop words are left out."""
    words = list(_split_words(text.replace("’", "'"), glossary))
    position = 0
    while position < len(words):
        meaning, count = _longest_form(words, position, glossary)
        word = words[position]
        position += count
        if meaning:
            yield meaning, True
        elif word.lower() not in language.stop_words:
            yield word, False


def _split_words(text: str, glossary: Glossary) -> Iterator[str]:
    """Yield the words of *text*; what a hyphen joins is one word only if it is known."""
    for word in _TOKEN.findall(text):
        if "-" in word and word.lower() not in glossary.words:
            yield from filter(None, word.split("-"))
        else:
            yield word


def _longest_form(words: list[str], position: int, glossary: Glossary) -> tuple[str, int]:
    """Return the English of the words at *position*, or '', and how many words it stands for."""
    for count in range(MAX_FORM_WORDS, 1, -1):
        form = [word.lower() for word in words[position : position + count]]
        if len(form) == count and (meaning := glossary.meaning_of_words(form)):
            return meaning, count
    word = words[position].lower()
    return glossary.meaning_of(word) or glossary.meaning_of(_ELIDED.sub("", word)), 1


def _gloss_characters(
    text: str, language: Language, glossary: Glossary
) -> Iterator[tuple[str, bool]]:
    """Yield what is known of a text without spaces, Latin words, and '' for what is unknown."""
    position = 0
    while position < len(text):
        if latin := _LATIN_OR_NUMBER.match(text, position):
            yield latin.group(), True
            position = latin.end()
            continue
        meaning, length = "", 1
        for size in range(min(glossary.longest, len(text) - position), 0, -1):
            if form := glossary.words.get(text[position : position + size]):
                meaning, length = form, size
                break
        character = text[position]
        if meaning:
            yield meaning, True
        elif character.isalpha() and not (
            character in language.stop_words or _HIRAGANA.search(character)
        ):
            yield "", False
        position += length
