"""
Say what kind of answer a question asks for, and whether a text may hold one.

"How many tests do we have?" is not answered by a text without a number, and "who wrote it?" not by
one that names nobody. Only these two kinds are judged: a time, a place or a reason can be written
in too many ways, and "how long should answers be?" is answered by "short". A text is taken to hold
the answer unless it has no word for a number or an amount, or no capitalised word and no word for a
person. The words of each language are in `languages/*.toml`.
"""

import re
from functools import cache

from recollect.text.language_data import ENGLISH, detect_language, likely_languages, load_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.search_words import STOP_WORDS

PERSON, NUMBER = "person", "number"
MAX_CHARS = 400  # of a question that are read

_DIGIT = LazyPattern(r"[\d〇零一二三四五六七八九十百千万萬億亿半两兩毎每]")
_WORD = LazyPattern(r"[^\W\d_]+")


def expected_answer_kind(question: str) -> str:
    """Return `PERSON` or `NUMBER` if *question* asks for one, else ''."""
    text = question.strip()[:MAX_CHARS]
    language = detect_language(text)
    if language.has_cue("asks_number", text):
        return NUMBER
    return PERSON if language.has_cue("asks_person", text) else ""


def may_hold_answer(kind: str, text: str) -> bool:
    """Return whether *text* may hold an answer of that *kind*; any text does if it is ''."""
    if kind == NUMBER:
        return bool(_DIGIT.search(text)) or any(
            load_language(code).has_cue("number_words", text) or _small_numbers(code).search(text)
            for code in {detect_language(text).code, *likely_languages(text)}
        )
    return kind != PERSON or _may_name_somebody(text)


def _may_name_somebody(text: str) -> bool:
    """Return whether a word of *text* may be a name or stand for a person."""
    language = detect_language(text)
    if language.code != ENGLISH or language.has_cue("person_words", text):
        return True  # in other languages names cannot be told from other words
    words = _WORD.findall(text)
    if not any(word[0].isupper() for word in words):
        return True  # a text without capitals may have names in lower case
    return any(_is_capitalised(word) and word.lower() not in STOP_WORDS for word in words)


def _is_capitalised(word: str) -> bool:
    """Return whether *word* begins with a capital and is no abbreviation: "Ana", "McKenna"."""
    return word[0].isupper() and any(map(str.islower, word))


@cache
def _small_numbers(code: str) -> LazyPattern:
    """Return the words for one to ten of a language, which its dates use too."""
    words = load_language(code).dates.get("numbers", "").split()
    return LazyPattern(rf"(?<!\w)(?:{'|'.join(words) or '(?!)'})(?!\w)", flags=re.IGNORECASE)
