"""
Fold candidates that say nearly the same into one, the most certain of them first.

Consolidation has merged what is the same beyond doubt. What is left are candidates that a reviewer
would still read as one: the words of one stand in the other in the same order, with a word or two
more; the same signs and numbers, the same small words that turn a sentence round (on and off, from
and to, my and your), and neither denies what the other says. Only candidates of one owner, one type
and one title are compared: a twin is decided along with its lead, and what belongs elsewhere must
not be.

Pure, and near linear: two texts this alike share one of their rarest words (prefix filtering), so
each is compared only with leads that do, and with a bounded number of those. Where the bound is
reached a twin stays a line of its own; nothing is ever hidden.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from recollect.domain.candidate import INSTRUCTION_FLAG
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.scope import Owner
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.consolidate import SIGNS
from recollect.text.fingerprint import fingerprint
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import is_negated, words_without_negation

MIN_SHARED_WORDS = 0.7  # of the longer one's words, that the shorter one has
MAX_COMPARISONS = 50  # leads a candidate is compared with, of those that share a rare word
MAX_CHARS = 1_000  # a longer text is a document, known only by all of its words

# Words that carry no meaning of their own and yet decide who does what to whom, where and when.
_FUNCTION_WORDS = LazyPattern(
    r"\b(?:on|off|from|to|into|onto|out|up|down|under|over|by|before|after|until|if|unless|except"
    r"|but|only|than|stops?|used to|i|me|my|mine|you|your|he|him|his|she|her|they|them|their)\b"
)

_Words = tuple[str, ...]
_GroupKey = tuple[Owner, MemoryType, str, str]


@dataclass(frozen=True)
class DuplicateGroup:
    """A candidate to be shown, and those that say the same."""

    representative: Memory
    duplicates: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class _Statement:
    fingerprint: str
    words: _Words
    word_set: frozenset[str]  # the same words
    meaning_marks: tuple[bool, _Words, _Words]  # whether it denies; its signs and numbers; its turns


def review_order(memory: Memory, sessions: int) -> tuple[bool, bool, int, float, float, str]:
    """Return what to sort by, the most certain first; the same candidates give the same order."""
    return (
        INSTRUCTION_FLAG in memory.metadata.get("flags", ()),
        not is_said_by_user(memory),
        -sessions,
        -memory.confidence,
        -memory.observed_at.timestamp(),
        memory.id,
    )


def is_said_by_user(memory: Memory) -> bool:
    """Say whether the user said it or wrote it, not an agent."""
    voice = memory.evidence[0].voice if memory.evidence else memory.metadata.get("voice", "")
    return voice == Voice.USER or (not voice and memory.source_kind is SourceKind.MANUAL)


def group_duplicates(candidates: Iterable[Memory]) -> list[DuplicateGroup]:
    """Return *candidates* folded: each is a lead, or stands with the first lead it is a twin of."""
    given = list(candidates)
    by_place: dict[_GroupKey, list[Memory]] = defaultdict(list)
    for one in given:
        by_place[one.owner, one.type, one.title, one.summary].append(one)
    lead_of: dict[str, str] = {}
    for (_, kind, _, _), ones in by_place.items():
        if kind is not MemoryType.EPISODE:  # two sessions are two, however alike they went
            lead_of |= _representatives(ones)
    also: dict[str, list[Memory]] = defaultdict(list)
    for one in given:
        if one.id in lead_of:
            also[lead_of[one.id]].append(one)
    return [DuplicateGroup(one, tuple(also.get(one.id, ()))) for one in given if one.id not in lead_of]


def are_duplicates(one: str, other: str) -> bool:
    """Say whether a reader would take two texts for one."""
    return _is_duplicate(_parse(one), _parse(other))


def _representatives(ones: Sequence[Memory]) -> dict[str, str]:
    """Return, for each that is a twin, whose twin it is."""
    said = {one.id: _parse(one.content) for one in ones}
    common = Counter(word for one in said.values() for word in one.word_set)
    by_mark: dict[str, str] = {}
    by_word: dict[tuple[object, str], list[str]] = defaultdict(list)
    found: dict[str, str] = {}
    for one in ones:
        mine = said[one.id]
        lead = by_mark.get(mine.fingerprint) or _first_duplicate(mine, by_word, said, common)
        if lead is not None:
            found[one.id] = lead
            continue
        by_mark[mine.fingerprint] = one.id
        for word in _rarest_words(mine, common):
            by_word[mine.meaning_marks, word].append(one.id)
    return found


def _first_duplicate(
    mine: _Statement,
    by_word: Mapping[tuple[object, str], Sequence[str]],
    said: Mapping[str, _Statement],
    common: Counter[str],
) -> str | None:
    compared = 0
    for word in _rarest_words(mine, common):
        for lead in by_word.get((mine.meaning_marks, word), ()):
            if _is_duplicate(mine, said[lead]):
                return lead
            compared += 1
            if compared == MAX_COMPARISONS:
                return None
    return None


def _rarest_words(one: _Statement, common: Counter[str]) -> list[str]:
    """Return the words of which any text this alike has at least one, the rarest first."""
    words = sorted(one.word_set, key=lambda word: (common[word], word))
    return words[: len(words) - ceil(MIN_SHARED_WORDS * len(words)) + 1]


@lru_cache(maxsize=16_384)
def _parse(text: str) -> _Statement:
    if len(text) > MAX_CHARS:
        return _Statement(fingerprint(text), (), frozenset(), (False, (), ()))
    words, signs = words_without_negation(text), tuple(SIGNS.findall(text))
    turns = tuple(_FUNCTION_WORDS.findall(text.lower()))
    return _Statement(fingerprint(text), words, frozenset(words), (is_negated(text), signs, turns))


def _is_duplicate(one: _Statement, other: _Statement) -> bool:
    if one.fingerprint == other.fingerprint:
        return True
    if len(one.word_set) > len(other.word_set):
        one, other = other, one
    if not one.word_set <= other.word_set or one.meaning_marks != other.meaning_marks:
        return False
    if len(one.word_set) < max(2, MIN_SHARED_WORDS * len(other.word_set)):
        return False
    short, long = sorted((one.words, other.words), key=len)
    rest = iter(long)
    return all(word in rest for word in short)  # in the same order: "tabs over spaces"
