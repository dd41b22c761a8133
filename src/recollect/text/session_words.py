"""
Find where a text counts sessions: "three sessions ago", "our first chat", "the last two sessions".

Counted back from now or forward from the first one. Knows the words and what each means; knows
neither the sessions nor the clock. Every reading looks a few tokens ahead and never further, so the
time is linear in the text. What is a session of a program ("the last session cookie") or the last
time of something else ("the last time we deployed") is left alone.
"""

from typing import NamedTuple

from recollect.text.date_words import MONTHS, NUMBERS, Token, tokens

_SESSION = frozenset(["session", "conversation", "chat"])
_SESSIONS = _SESSION | {f"{name}s" for name in _SESSION}
_OURS = frozenset(["talk", "discussion", "exchange"])  # sessions only behind "our"
_LAST = frozenset(["last", "previous", "prior", "preceding", "latest", "final"])
_SPEAKERS = frozenset(["we", "i", "you"])
_SPOKE = frozenset(["talked", "spoke", "chatted", "met"])
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_FIRST = {word: number for number, word in enumerate(_ORDINALS.split(), start=1)}
_VERY_FIRST = frozenset(["earliest", "initial", "opening", "next"])
_ARTICLES = frozenset(["the", "our", "my", "your", "a"])
_TOPIC = frozenset(["about", "regarding", "concerning"])
_AT_MOST = 1000  # sessions; a larger number counts something else

# Behind "session" or "chat" these make it a thing of a program.
_THINGS = """
api app bot button class component config cookie cookies data file files handler header id ids key
keys length limit limits list log logs manager model name names object page replay secret state
storage store table template templates timeout token tokens ui url variable variables widget window
"""
_OF_A_PROGRAM = frozenset(_THINGS.split())


class Count(NamedTuple):
    """Which sessions: back from now (1: the one before the present one), or from the first."""

    number: int
    from_first: bool = False
    many: int = 1  # this one and so many less one after it
    in_a_time: bool = False  # means something only with a time behind it: "next session after May"


class SessionsCounted(NamedTuple):
    """Which sessions a text means, and where it says so."""

    which: Count
    at: int
    to: int


def find_sessions(text: str) -> tuple[SessionsCounted, ...]:
    """Return the places of *text* that count sessions, in order and apart."""
    words = tokens(text)
    found: list[SessionsCounted] = []
    i = 0
    while words[i].word:
        reading = _read(text, words, i)
        if reading is None:
            i += 2 if words[i].word in _ARTICLES else 1  # what follows it was read with it
            continue
        count, past = reading
        found.append(SessionsCounted(count, words[i].at, words[past - 1].to))
        i = past
    return tuple(found)


def _read(text: str, words: list[Token], i: int) -> tuple[Count, int] | None:
    """Return which sessions, and the place behind; an article is part of it."""
    start = words[i]
    before = words[i - 1].word if i else ""
    is_one = start.word == "a" and words[i + 1].word in _SESSION  # a session ago
    article = start.word if start.word in _ARTICLES and not is_one else ""
    i += article != ""
    back = _ago(words, i) or _beyond(words, i) or _last(words, i, article)
    reading = (Count(back[0]), back[1]) if back else None
    reading = reading or _several(words, i) or _from_first(words, i, article)
    if reading is None and before not in ("was", "is"):
        reading = _time(words, i, article) or _time_from_first(words, i)
    if reading is None or before in ("before", "after", "until"):
        return None
    count, past = reading
    past += 2 * ([words[past].word, words[past + 1].word] == ["with", "you"])
    if article and words[past].word in _TOPIC and words[past + 1].word.isalnum():
        return None  # our last chat about a thing is to be found by that thing
    is_of_month = words[past].word == "of" and words[past + 1].word in MONTHS
    if words[past].word in ("of", "with", *_OF_A_PROGRAM) and not is_of_month:
        return None  # the last session of the course, my last chat with Ann, the last session id
    # A name in code or in a path: last-session, /last/session, last session()
    to = words[past - 1].to
    clings = text[max(start.at - 1, 0) : start.at] + text[to : to + 1]
    return None if any(mark in "_-/(=" for mark in clings) else (count, past)


def _ago(words: list[Token], i: int) -> tuple[int, int] | None:
    """Read "three sessions ago", "a couple of chats ago"."""
    count, i = _number(words, i)
    if not count or words[i].word not in _SESSIONS or words[i + 1].word != "ago":
        return None
    return count, i + 2


def _beyond(words: list[Token], i: int) -> tuple[int, int] | None:
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


def _last(words: list[Token], i: int, article: str) -> tuple[int, int] | None:
    """Read "last session", "very last chat", "most recent conversation", "our last talk"."""
    i += words[i].word == "very"
    if words[i].word == "most" and words[i + 1].word == "recent":
        i += 2
    elif words[i].word in _LAST:
        i += 1
    else:
        return None
    is_ours = article == "our" and words[i].word in _OURS
    return (1, i + 1) if is_ours or words[i].word in _SESSION else None


def _several(words: list[Token], i: int) -> tuple[Count, int] | None:
    """Read "last three conversations", "two most recent sessions", "first two times"."""
    many, i = _number(words, i)
    lead, i = words[i].word, i + 1
    if lead == "most" and words[i].word == "recent":
        lead, i = "latest", i + 1
    if lead not in ("last", "past", "previous", "latest", "first"):
        return None
    if not many:
        many, i = _number(words, i)
    if not many or words[i].word not in (*_SESSIONS, "talks", "times"):
        return None
    if words[i].word == "times" and words[i + 1].word.isalnum():
        i += 2  # the last three times we talked
        if words[i - 1].word not in _SPEAKERS or words[i].word not in _SPOKE:
            return None
    is_first = lead == "first"
    return Count(1 if is_first else many, from_first=is_first, many=many), i + 1


def _number(words: list[Token], i: int) -> tuple[int, int]:
    """Return the number at *i* and the place behind it; 0 where there is none."""
    word = words[i].word
    if word == "couple":
        return 2, i + 1 + (words[i + 1].word == "of")
    is_digits = word.isascii() and word.isdigit() and len(word) <= 4
    number = int(word) if is_digits else NUMBERS.get(word, 0)
    return (number, i + 1) if 0 < number <= _AT_MOST else (0, i)


def _from_first(words: list[Token], i: int, article: str) -> tuple[Count, int] | None:
    """Read "our first session", "the very first chat", "my third conversation", "next session"."""
    if article not in ("the", "our", "my", "your"):
        return None
    is_very = words[i].word == "very"
    i += is_very
    number = 1 if words[i].word in _VERY_FIRST else _FIRST.get(words[i].word, 0)
    is_ours = article == "our" and words[i + 1].word in _OURS
    if not number or not (is_ours or words[i + 1].word in _SESSION):
        return None
    return Count(number, from_first=True, in_a_time=words[i].word == "next"), i + 2


def _time_from_first(words: list[Token], i: int) -> tuple[Count, int] | None:
    """Read "the first time we talked", "when we first spoke", "the next time we talked"."""
    if words[i].word == "when" and words[i + 2].word == "first":
        number, speaker, verb = 1, i + 1, i + 3
    else:
        i += words[i].word == "very"
        number = 1 if words[i].word == "next" else _FIRST.get(words[i].word, 0)
        if not number or words[i + 1].word != "time":
            return None
        speaker, verb = i + 2, i + 3
    if words[speaker].word not in _SPEAKERS or words[verb].word not in _SPOKE:
        return None
    if words[verb + 1].word in ("about", "to"):
        return None
    return Count(number, from_first=True, in_a_time=words[i].word == "next"), verb + 1


def _time(words: list[Token], i: int, article: str) -> tuple[Count, int] | None:
    """Read "last time", "the last time we talked", "when we last spoke"."""
    if words[i].word == "when" and words[i + 2].word == "last":
        speaker, verb = i + 1, i + 3
    elif words[i].word == "last" and words[i + 1].word == "time":
        speaker, verb = i + 2, i + 3
    else:
        return None
    if words[speaker].word in _SPEAKERS and words[verb].word in _SPOKE:
        # The last time we talked about a thing is to be found by that thing.
        return None if words[verb + 1].word in ("about", "to") else (Count(1), verb + 1)
    is_alone = speaker == i + 2 and not article and not words[i + 2].word.isalnum()
    return (Count(1), i + 2) if is_alone else None
