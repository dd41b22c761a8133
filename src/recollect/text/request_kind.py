"""
Say what a request is: an instruction to act, a question about the past, or a preference
about answers.

The cues of each language are in `languages/*.toml`. All functions are pure and read one text.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from recollect.text.language_data import Language, detect_language, load_language
from recollect.text.past_query import asks_about_sessions
from recollect.text.search_words import STOP_WORDS, is_content_word

MAX_CHARS = 400  # of a request that are read: what it is stands at its beginning
MAX_PREFERENCE_CHARS = 300  # a longer text says more than how to answer
_QUESTION_MARKS = ("?", "？")
_WORD = re.compile(r"\w+")
# Words of requests such as "yes, go on", which contain nothing to search for.
_FILLER_TEXT = """
again agree agreed ahead alright also and best bye commit continue correct do done exactly fine fix
go going good great hello help hey hi it just keep let lets looks make next nice no nope now off ok
okay on once one perfect please proceed push ready resume retry right run same start still stop sure
test tests thank thanks that this thx try two wait well yeah yep yes you
"""
_FILLER_WORDS = frozenset(_FILLER_TEXT.split())


def content_words(text: str) -> set[str]:
    """Return the words of *text* without stop words."""
    return {word for word in _WORD.findall(text.casefold()) if len(word) > 1} - STOP_WORDS


def has_words_to_search(text: str) -> bool:
    """Return whether *text* says more than "yes, go on"."""
    return len(content_words(text) - _FILLER_WORDS) > 0


def is_instruction(request: str) -> bool:
    """Return whether *request* tells an assistant to do something."""
    text = request.strip()[:MAX_CHARS]
    pattern = _language(text).cues.get("task")
    if pattern is None:
        return False
    # Where verbs stand last, the cue may be anywhere.
    match = pattern.match if _language(text).is_spaced else pattern.search
    return match(text) is not None


def asks_to_write_about_unknown(request: str, unknown_words: Collection[str]) -> bool:
    """
    Return whether *request* wants an assistant to write or tell of what no record mentions.

    *unknown_words* are those of its words that occur in no record: "tell me a joke", where nothing
    is known of a joke. The verb may be known.
    """
    text = request.strip()[:MAX_CHARS]
    folded = (word.casefold() for word in _WORD.findall(text))
    words = [word for word in folded if is_content_word(word) and word not in _FILLER_WORDS]
    if len(words) < 2 or not unknown_words:
        return False
    if not _language(text).has_cue("writing_request", words[0]):
        return False
    return {word.casefold() for word in unknown_words}.issuperset(words[1:])


def asks_about_own_affairs(request: str) -> bool:
    """
    Return whether *request* is a question about the speaker: "which editor do we use?".

    "How do I centre a div?" asks how anybody does it.
    """
    text = request.strip()[:MAX_CHARS]
    language = _language(text)
    if not (is_question(text) or language.has_cue("question", text)):
        return False
    if language.has_cue("how_to", text):
        return False
    return language.has_cue("speaker", text) or language.has_cue("group", text)


def asks_how_to(request: str) -> bool:
    """Return whether *request* asks how anybody does something: "how do I centre a div"."""
    text = request.strip()[:MAX_CHARS]
    return _language(text).has_cue("how_to", text)


def is_question(request: str) -> bool:
    """Return whether *request* ends with a question mark."""
    return request.rstrip().endswith(_QUESTION_MARKS)


def asks_about_past(request: str) -> bool:
    """Return whether *request* asks what was said, done or decided earlier."""
    text = request[:MAX_CHARS]
    return asks_about_sessions(text) or _language(text).has_cue("past", text)


def is_answer_preference(text: str) -> bool:
    """
    Return whether *text* says how to answer or address the person: "call me Jo".

    A preference with a condition ("when I paste a draft, …") does not hold for every answer.
    """
    return len(text) <= MAX_PREFERENCE_CHARS and _has_answer_cue(text)


@lru_cache(maxsize=1_024)  # each bundle asks about the newest memories
def _has_answer_cue(text: str) -> bool:
    language = _language(text)
    return language.has_cue("answers", text) and not language.has_cue("condition", text)


def _language(text: str) -> Language:
    language = detect_language(text)
    return language if language.cues else load_language("en")
