"""
Find references to sessions: "three sessions ago", "our first chat", "the last two sessions".

Sessions are counted back from now or forward from the first one. Every reader looks only a few
tokens ahead, so the time is linear in the length of the text. Sessions of a program ("the last
session cookie") and other last times ("the last time we deployed") are skipped.
"""

from typing import NamedTuple

from recollect.text.date_words import MONTHS, NUMBERS, Token, tokenize

_SESSION = frozenset(["session", "conversation", "chat"])
_SESSIONS = _SESSION | {f"{name}s" for name in _SESSION}
_SESSION_AFTER_OUR = frozenset(["talk", "discussion", "exchange"])  # sessions only after "our"
_LAST_WORDS = frozenset(["last", "previous", "prior", "preceding", "latest", "final"])
_SPEAKERS = frozenset(["we", "i", "you"])
_SPOKE_VERBS = frozenset(["talked", "spoke", "chatted", "met"])
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINAL_NUMBERS = {word: number for number, word in enumerate(_ORDINALS.split(), start=1)}
_MEANS_FIRST = frozenset(["earliest", "initial", "opening", "next"])
_ARTICLES = frozenset(["the", "our", "my", "your", "a"])
_TOPIC_WORDS = frozenset(["about", "regarding", "concerning"])
_MAX_SESSIONS = 1000  # a larger number counts something else

# After "session" or "chat", these nouns refer to software.
_PROGRAM_NOUNS_TEXT = """
api app bot button class component config cookie cookies data file files handler header id ids key
keys length limit limits list log logs manager model name names object page replay secret state
storage store table template templates timeout token tokens ui url variable variables widget window
"""
_PROGRAM_NOUNS = frozenset(_PROGRAM_NOUNS_TEXT.split())


class SessionCount(NamedTuple):
    """Which sessions, counted back from now (1: the previous one) or from the first."""

    number: int
    from_first: bool = False
    length: int = 1  # how many sessions, starting with this one
    needs_time: bool = False  # has a meaning only with a date after it: "next session after May"


class SessionReference(NamedTuple):
    """A reference to sessions, and its position in the text."""

    sessions: SessionCount
    start: int
    end: int


def find_session_references(text: str) -> tuple[SessionReference, ...]:
    """Return the references to sessions in *text*, in order and without overlaps."""
    words = tokenize(text)
    references: list[SessionReference] = []
    i = 0
    while words[i].word:
        reading = _read_reference(text, words, i)
        if reading is None:
            i += 2 if words[i].word in _ARTICLES else 1  # an article is read with the next word
            continue
        count, end = reading
        references.append(SessionReference(count, words[i].start, words[end - 1].end))
        i = end
    return tuple(references)


def _read_reference(text: str, words: list[Token], i: int) -> tuple[SessionCount, int] | None:
    """Return the sessions referred to at *i*, article included, and the index after."""
    start = words[i]
    before = words[i - 1].word if i else ""
    is_one_ago = start.word == "a" and words[i + 1].word in _SESSION  # a session ago
    article = start.word if start.word in _ARTICLES and not is_one_ago else ""
    i += article != ""
    back = _ago(words, i) or _before_last(words, i) or _read_last_session(words, i, article)
    reading = (SessionCount(back[0]), back[1]) if back else None
    reading = reading or _several(words, i) or _from_first(words, i, article)
    if reading is None and before not in ("was", "is"):
        reading = _time(words, i, article) or _time_from_first(words, i)
    if reading is None or before in ("before", "after", "until"):
        return None
    count, end = reading
    end += 2 * ([words[end].word, words[end + 1].word] == ["with", "you"])
    if article and words[end].word in _TOPIC_WORDS and words[end + 1].word.isalnum():
        return None  # "our last chat about X" is found by searching for X
    is_of_month = words[end].word == "of" and words[end + 1].word in MONTHS
    if words[end].word in ("of", "with", *_PROGRAM_NOUNS) and not is_of_month:
        return None  # the last session of the course, my last chat with Ann, the last session id
    # A name in code or in a path: last-session, /last/session, last session()
    text_end = words[end - 1].end
    neighbours = text[max(start.start - 1, 0) : start.start] + text[text_end : text_end + 1]
    return None if any(mark in "_-/(=" for mark in neighbours) else (count, end)


def _ago(words: list[Token], i: int) -> tuple[int, int] | None:
    """Read "three sessions ago", "a couple of chats ago"."""
    count, i = _number(words, i)
    if not count or words[i].word not in _SESSIONS or words[i + 1].word != "ago":
        return None
    return count, i + 2


def _before_last(words: list[Token], i: int) -> tuple[int, int] | None:
    """Read "session before last", "time before last", "penultimate chat", "second-to-last chat"."""
    word = words[i].word
    if word in _SESSION or word == "time":
        j = i + 2 + (words[i + 1].word == "prior" and words[i + 2].word == "to")
        if words[i + 1].word not in ("before", "prior", "preceding"):
            return None
        j += words[j].word in ("the", "our")
        if words[j].word not in ("last", "previous", "latest"):
            return None
        return 2, j + 1 + (words[j + 1].word in ("one", *_SESSION))
    if word == "penultimate":
        i += 1
    elif word in ("second", "next"):
        i += 1 + (words[i + 1].word == "-")
        if words[i].word != "to":
            return None
        i += 1 + (words[i + 1].word == "-")
        if words[i].word != "last":
            return None
        i += 1
    else:
        return None
    return (2, i + 1) if words[i].word in _SESSION else None


def _read_last_session(words: list[Token], i: int, article: str) -> tuple[int, int] | None:
    """Read "last session", "very last chat", "most recent conversation", "our last talk"."""
    i += words[i].word == "very"
    if words[i].word == "most" and words[i + 1].word == "recent":
        i += 2
    elif words[i].word in _LAST_WORDS:
        i += 1
    else:
        return None
    is_ours = article == "our" and words[i].word in _SESSION_AFTER_OUR
    return (1, i + 1) if is_ours or words[i].word in _SESSION else None


def _several(words: list[Token], i: int) -> tuple[SessionCount, int] | None:
    """Read "last three conversations", "two most recent sessions", "first two times"."""
    number, i = _number(words, i)
    lead, i = words[i].word, i + 1
    if lead == "most" and words[i].word == "recent":
        lead, i = "latest", i + 1
    if lead not in ("last", "past", "previous", "latest", "first"):
        return None
    if not number:
        number, i = _number(words, i)
    if not number or words[i].word not in (*_SESSIONS, "talks", "times"):
        return None
    if words[i].word == "times" and words[i + 1].word.isalnum():
        i += 2  # the last three times we talked
        if words[i - 1].word not in _SPEAKERS or words[i].word not in _SPOKE_VERBS:
            return None
    is_first = lead == "first"
    return SessionCount(1 if is_first else number, from_first=is_first, length=number), i + 1


def _number(words: list[Token], i: int) -> tuple[int, int]:
    """Return the number at *i* and the index after it, or 0 if there is none."""
    word = words[i].word
    if word == "couple":
        return 2, i + 1 + (words[i + 1].word == "of")
    is_digits = word.isascii() and word.isdigit() and len(word) <= 4
    number = int(word) if is_digits else NUMBERS.get(word, 0)
    return (number, i + 1) if 0 < number <= _MAX_SESSIONS else (0, i)


def _from_first(words: list[Token], i: int, article: str) -> tuple[SessionCount, int] | None:
    """Read "our first session", "the very first chat", "my third conversation", "next session"."""
    if article not in ("the", "our", "my", "your"):
        return None
    is_very = words[i].word == "very"
    i += is_very
    number = 1 if words[i].word in _MEANS_FIRST else _ORDINAL_NUMBERS.get(words[i].word, 0)
    is_ours = article == "our" and words[i + 1].word in _SESSION_AFTER_OUR
    if not number or not (is_ours or words[i + 1].word in _SESSION):
        return None
    return SessionCount(number, from_first=True, needs_time=words[i].word == "next"), i + 2


def _time_from_first(words: list[Token], i: int) -> tuple[SessionCount, int] | None:
    """Read "the first time we talked", "when we first spoke", "the next time we talked"."""
    if words[i].word == "when" and words[i + 2].word == "first":
        number, speaker, verb = 1, i + 1, i + 3
    else:
        i += words[i].word == "very"
        number = 1 if words[i].word == "next" else _ORDINAL_NUMBERS.get(words[i].word, 0)
        if not number or words[i + 1].word != "time":
            return None
        speaker, verb = i + 2, i + 3
    if words[speaker].word not in _SPEAKERS or words[verb].word not in _SPOKE_VERBS:
        return None
    if words[verb + 1].word in ("about", "to"):
        return None
    return SessionCount(number, from_first=True, needs_time=words[i].word == "next"), verb + 1


def _time(words: list[Token], i: int, article: str) -> tuple[SessionCount, int] | None:
    """Read "last time", "the last time we talked", "when we last spoke"."""
    if words[i].word == "when" and words[i + 2].word == "last":
        speaker, verb = i + 1, i + 3
    elif words[i].word == "last" and words[i + 1].word == "time":
        speaker, verb = i + 2, i + 3
    else:
        return None
    if words[speaker].word in _SPEAKERS and words[verb].word in _SPOKE_VERBS:
        # "The last time we talked about X" is found by searching for X.
        return None if words[verb + 1].word in ("about", "to") else (SessionCount(1), verb + 1)
    is_alone = speaker == i + 2 and not article and not words[i + 2].word.isalnum()
    return (SessionCount(1), i + 2) if is_alone else None
