"""
Find where a text counts back in sessions: "three sessions ago", "our last chat", "last time".

Knows the words and how far back each means; knows neither the sessions nor the clock. Every reading
looks a few tokens ahead and never further, so the time is linear in the text. What is a session of
a program ("the last session cookie") or the last time of something else ("the last time we
deployed") is left alone.
"""

from typing import NamedTuple

from recollect.text.date_words import NUMBERS, Token, tokens

_SESSION = frozenset(["session", "conversation", "chat"])
_SESSIONS = _SESSION | {f"{name}s" for name in _SESSION}
_OURS = frozenset(["talk", "discussion"])  # sessions only behind "our"
_LAST = frozenset(["last", "previous", "prior", "preceding", "latest"])
_SPEAKERS = frozenset(["we", "i", "you"])
_SPOKE = frozenset(["talked", "spoke", "chatted"])
_ARTICLES = frozenset(["the", "our", "my", "your", "a"])
_AT_MOST = 1000  # sessions; a larger number counts something else

# Behind "session" or "chat" these make it a thing of a program.
_THINGS = """
api app bot button class component config cookie cookies data file files handler header id ids key
keys length limit limits list log logs manager model name names object page replay secret state
storage store table template templates timeout token tokens ui url variable variables widget window
"""
_OF_A_PROGRAM = frozenset(_THINGS.split())


class SessionsBack(NamedTuple):
    """How many sessions back a text means (1: the one before the present one), and where."""

    sessions: int
    at: int
    to: int


def find_sessions_back(text: str) -> tuple[SessionsBack, ...]:
    """Return the places of *text* that count back in sessions, in order and apart."""
    words = tokens(text)
    found: list[SessionsBack] = []
    i = 0
    while words[i].word:
        reading = _read(text, words, i)
        if reading is None:
            i += 2 if words[i].word in _ARTICLES else 1  # what follows it was read with it
            continue
        count, past = reading
        found.append(SessionsBack(count, words[i].at, words[past - 1].to))
        i = past
    return tuple(found)


def _read(text: str, words: list[Token], i: int) -> tuple[int, int] | None:
    """Return how many sessions back, and the place behind; an article is part of it."""
    start = words[i]
    before = words[i - 1].word if i else ""
    is_one = start.word == "a" and words[i + 1].word in _SESSION  # a session ago
    article = start.word if start.word in _ARTICLES and not is_one else ""
    i += article != ""
    reading = _ago(words, i) or _beyond(words, i) or _last(words, i, article)
    if reading is None and before not in ("was", "is"):
        reading = _time(words, i, article)
    if reading is None or before in ("before", "after", "until"):
        return None
    count, past = reading
    past += 2 * ([words[past].word, words[past + 1].word] == ["with", "you"])
    if words[past].word in ("of", "with", *_OF_A_PROGRAM):
        return None  # the last session of the course, my last chat with Ann, the last session id
    # A name in code or in a path: last-session, /last/session, last session()
    to = words[past - 1].to
    clings = text[max(start.at - 1, 0) : start.at] + text[to : to + 1]
    return None if any(mark in "_-/(=" for mark in clings) else (count, past)


def _ago(words: list[Token], i: int) -> tuple[int, int] | None:
    """Read "three sessions ago", "a couple of chats ago"."""
    word = words[i].word
    if word == "couple":
        count, i = 2, i + 1 + (words[i + 1].word == "of")
    elif word in NUMBERS:
        count, i = NUMBERS[word], i + 1
    elif word.isascii() and word.isdigit() and len(word) <= 4:
        count, i = int(word), i + 1
    else:
        return None
    if words[i].word not in _SESSIONS or words[i + 1].word != "ago":
        return None
    return (count, i + 2) if 0 < count <= _AT_MOST else None


def _beyond(words: list[Token], i: int) -> tuple[int, int] | None:
    """Read "session before last", "time before last", "penultimate chat", "second-to-last chat"."""
    word = words[i].word
    if word in _SESSION or word == "time":
        if words[i + 1].word != "before":
            return None
        j = i + 2 + (words[i + 2].word == "the")
        if words[j].word not in ("last", "previous"):
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


def _time(words: list[Token], i: int, article: str) -> tuple[int, int] | None:
    """Read "last time", "the last time we talked", "when we last spoke"."""
    if words[i].word == "when" and words[i + 2].word == "last":
        speaker, verb = i + 1, i + 3
    elif words[i].word == "last" and words[i + 1].word == "time":
        speaker, verb = i + 2, i + 3
    else:
        return None
    if words[speaker].word in _SPEAKERS and words[verb].word in _SPOKE:
        # The last time we talked about a thing is to be found by that thing.
        return None if words[verb + 1].word in ("about", "to") else (1, verb + 1)
    is_alone = speaker == i + 2 and not article and not words[i + 2].word.isalnum()
    return (1, i + 2) if is_alone else None
