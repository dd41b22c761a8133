"""
Say what kind of answer a question asks for, and whether a text may hold one.

"How many tests do we have?" is not answered by a text without a number, and "who wrote it?" not by
one that names nobody. Only these two kinds are judged: a time, a place or a reason can be written
in too many ways, and "how long should answers be?" is answered by "short". A text is taken to hold
the answer unless it surely does not. The cues of each language are in `languages/*.toml`.
"""

import re
from functools import cache

from recollect.text.language_data import ENGLISH, detect_language, load_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.search_words import STOP_WORDS

PERSON, NUMBER = "person", "number"
MAX_CHARS = 400  # of a question that are read

_NUMBER = LazyPattern(
    r"\d",
    r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty"
    r"|thirty|fou?rty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|millions?|dozens?"
    r"|half|halves|quarters?|pairs?|twins?|once|twice|both|single|double|triple|each|every|few"
    r"|several|lots?|all|any|only|another|more|most|less|first|second|third|last|no|not|none|nothing"
    r"|never|always|free|until|till|since|born|birthday|\w+n['’]t"
    r"|(?:dai|hour|night|week|month|quarter|year)ly|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|(?:second|minute|hour|day|night|week|month|year)s?)\b",
    r"[〇零一二三四五六七八九十百千万萬億亿半两兩毎每]",
    flags=re.IGNORECASE,
)
_PERSON = LazyPattern(
    r"\b(?:i|me|my|mine|we|us|our|ours|you|your|he|him|his|she|her|hers|they|them|their|\w*(?:one|body)"
    r"|people|team|wife|husband|partner|mum|mom|mother|dad|father|parents?|sister|brother|aunt|uncle"
    r"|cousin|daughter|son|kids?|child|children|boss|friends?|clients?|neighbou?rs?|[a-z]{2,}(?:er|or)s?)\b",
    flags=re.IGNORECASE,
)
_WORD = LazyPattern(r"[^\W\d_]+")


def expected_answer(question: str) -> str:
    """Return `PERSON` or `NUMBER` if *question* asks for one, else ''."""
    text = question.strip()[:MAX_CHARS]
    language = detect_language(text)
    if language.has_cue("asks_number", text):
        return NUMBER
    return PERSON if language.has_cue("asks_person", text) else ""


def may_hold_answer(kind: str, text: str) -> bool:
    """Return whether *text* may hold an answer of that *kind*; any text does if it is ''."""
    if kind == NUMBER:
        code = detect_language(text).code
        return bool(_NUMBER.search(text) or _number_words(code).search(text))
    return kind != PERSON or _may_name_somebody(text)


def _may_name_somebody(text: str) -> bool:
    """Return whether a word of *text* may be a name or stand for a person."""
    if detect_language(text).code != ENGLISH or _PERSON.search(text):
        return True  # in other languages names cannot be told from other words
    words = _WORD.findall(text)
    if not any(word[0].isupper() for word in words):
        return True  # who writes everything small writes names so
    return any(word.istitle() and word.lower() not in STOP_WORDS for word in words)


@cache
def _number_words(code: str) -> LazyPattern:
    """Return the number words of a language; digits are read in every language."""
    words = load_language(code).dates.get("numbers", "").split()
    return LazyPattern(rf"(?<!\w)(?:{'|'.join(words) or '(?!)'})(?!\w)", flags=re.IGNORECASE)
