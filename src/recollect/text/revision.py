"""
Recognise a sentence that only makes sense as a revision of what was said before it.

"Make it Friday instead", "no, red", "too big, cut it to 200": the thing is named in the sentence
before, and this one has a word of objection or change and the new value. The words are in
`languages/*.toml`: `revision` may stand anywhere, `objection` at the beginning.
"""

import re

from recollect.text.change_cues import announces_change
from recollect.text.language_data import detect_language
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import content_words, names_in
from recollect.text.value_kinds import values_by_kind

MAX_WORDS = 9
MAX_CHARS_UNSPACED = 16  # of a sentence in a script without spaces
MAX_SHARED_WORDS = 1
MAX_REPLY_CHARS = 120  # a longer reply is an answer of its own, which an objection may be about
MAX_NEW_WORDS = 5  # after the objection, if there is no value to compare
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
# A whole clause with a subject of its own is no revision of another one, unless that is "it".
_OWN_CLAUSE = LazyPattern(
    r"\b(?!it\b|that\b|this\b)\w+ (?:is|are|was|were|has|have|costs?|needs?)\b|\?\s*$"
)
# Such words are about how the assistant's answer looks, or about its work, not about a value.
_OF_THE_ANSWER = LazyPattern(
    r"\b(?:\w{3,}er|more|less|bold|italics?|again|try|wrong|works?|working|shorten|rewrite|longer"
    r"|thanks?|stop|wait|don't|doesn't|didn't|isn't|not (?:like|what|that|this|yet|now))\b"
)


def revises(text: str, earlier: str, *, reply_chars: int = 0) -> bool:
    """
    Return whether *text* gives another value for what *earlier* says, and cannot stand alone.

    *reply_chars* is the length of what the assistant said between them. After a long answer "no,
    shorter" is about that answer.
    """
    if not _is_short(text, MAX_WORDS) or _OWN_CLAUSE.search(text.lower()):
        return False
    language = detect_language(f"{earlier} {text}")
    if not language.has_cue("revision", text):
        return False
    shared = content_words(text) & content_words(earlier) - language.stop_words
    if len(shared) > MAX_SHARED_WORDS:
        return False  # it names what it is about
    if _has_other_value(language.cues["revision"].sub(" ", text), earlier):
        return True
    if _NUMBER.search(text) or reply_chars > MAX_REPLY_CHARS or earlier.rstrip().endswith("?"):
        return False
    objection = language.find_cue("objection", text)
    if objection is None or objection.start() > 0:
        return False
    value = text[objection.end() :].strip(" ,.!;:–—-")
    return (
        bool(value) and _is_short(value, MAX_NEW_WORDS) and not _OF_THE_ANSWER.search(value.lower())
    )


def may_give_a_value(text: str) -> bool:
    """Return whether *text* announces a change, or has a number, a name or another such value."""
    if _NUMBER.search(text) or announces_change(text) or names_in(text):
        return True
    return detect_language(text).has_cue("revision", text) or bool(values_by_kind(text))


def _is_short(text: str, max_words: int) -> bool:
    if _UNSPACED.search(text):
        return len(text) <= MAX_CHARS_UNSPACED
    return len(text.split()) <= max_words


def _has_other_value(text: str, earlier: str) -> bool:
    """Return whether both have a value of one kind, and that of *text* is another one."""
    before, after = values_by_kind(earlier), values_by_kind(text)
    if any(after[kind] - before[kind] for kind in before.keys() & after.keys()):
        return True
    numbers, new_numbers = (set(_NUMBER.findall(t)) for t in (earlier, text))
    is_bare = not after or after.keys() <= before.keys()
    return is_bare and bool(numbers) and bool(new_numbers - numbers)
