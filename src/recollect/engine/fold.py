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

from recollect.domain.candidate import INSTRUCTION
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.scope import Owner
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.consolidate import SIGNS
from recollect.text.fingerprint import fingerprint
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import is_negated, words_without_negation

ALIKE = 0.7  # of the longer one's words, that the shorter one has
MOST_COMPARED = 50  # leads a candidate is compared with, of those that share a rare word
MOST_CHARS = 1_000  # a longer text is a document, known only by all of its words

# Words that carry no meaning of their own and yet decide who does what to whom, where and when.
_TURNS = LazyPattern(
    r"\b(?:on|off|from|to|into|onto|out|up|down|under|over|by|before|after|until|if|unless|except"
    r"|but|only|than|stops?|used to|i|me|my|mine|you|your|he|him|his|she|her|they|them|their)\b"
)

_Words = tuple[str, ...]
_Place = tuple[Owner, MemoryType, str, str]


@dataclass(frozen=True)
class Fold:
    """A candidate to be shown, and those that say the same."""

    lead: Memory
    also: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class _Said:
    mark: str
    words: _Words
    bag: frozenset[str]  # the same words
    manner: tuple[bool, _Words, _Words]  # whether it denies; its signs and numbers; its turns


def certainty(memory: Memory, sessions: int) -> tuple[bool, bool, int, float, float, str]:
    """Return what to sort by, the most certain first; the same candidates give the same order."""
    return (
        INSTRUCTION in memory.metadata.get("flags", ()),
        not in_own_words(memory),
        -sessions,
        -memory.confidence,
        -memory.observed_at.timestamp(),
        memory.id,
    )


def in_own_words(memory: Memory) -> bool:
    """Say whether the user said it or wrote it, not an agent."""
    voice = memory.evidence[0].voice if memory.evidence else memory.metadata.get("voice", "")
    return voice == Voice.USER or (not voice and memory.source_kind is SourceKind.MANUAL)


def fold(candidates: Iterable[Memory]) -> list[Fold]:
    """Return *candidates* folded: each is a lead, or stands with the first lead it is a twin of."""
    given = list(candidates)
    by_place: dict[_Place, list[Memory]] = defaultdict(list)
    for one in given:
        by_place[one.owner, one.type, one.title, one.summary].append(one)
    lead_of: dict[str, str] = {}
    for (_, kind, _, _), ones in by_place.items():
        if kind is not MemoryType.EPISODE:  # two sessions are two, however alike they went
            lead_of |= _leads(ones)
    also: dict[str, list[Memory]] = defaultdict(list)
    for one in given:
        if one.id in lead_of:
            also[lead_of[one.id]].append(one)
    return [Fold(one, tuple(also.get(one.id, ()))) for one in given if one.id not in lead_of]


def say_the_same(one: str, other: str) -> bool:
    """Say whether a reader would take two texts for one."""
    return _twins(_read(one), _read(other))


def _leads(ones: Sequence[Memory]) -> dict[str, str]:
    """Return, for each that is a twin, whose twin it is."""
    said = {one.id: _read(one.content) for one in ones}
    common = Counter(word for one in said.values() for word in one.bag)
    by_mark: dict[str, str] = {}
    by_word: dict[tuple[object, str], list[str]] = defaultdict(list)
    found: dict[str, str] = {}
    for one in ones:
        mine = said[one.id]
        lead = by_mark.get(mine.mark) or _first_twin(mine, by_word, said, common)
        if lead is not None:
            found[one.id] = lead
            continue
        by_mark[mine.mark] = one.id
        for word in _rarest(mine, common):
            by_word[mine.manner, word].append(one.id)
    return found


def _first_twin(
    mine: _Said,
    by_word: Mapping[tuple[object, str], Sequence[str]],
    said: Mapping[str, _Said],
    common: Counter[str],
) -> str | None:
    compared = 0
    for word in _rarest(mine, common):
        for lead in by_word.get((mine.manner, word), ()):
            if _twins(mine, said[lead]):
                return lead
            compared += 1
            if compared == MOST_COMPARED:
                return None
    return None


def _rarest(one: _Said, common: Counter[str]) -> list[str]:
    """Return the words of which any text this alike has at least one, the rarest first."""
    words = sorted(one.bag, key=lambda word: (common[word], word))
    return words[: len(words) - ceil(ALIKE * len(words)) + 1]


@lru_cache(maxsize=16_384)
def _read(text: str) -> _Said:
    if len(text) > MOST_CHARS:
        return _Said(fingerprint(text), (), frozenset(), (False, (), ()))
    words, signs = words_without_negation(text), tuple(SIGNS.findall(text))
    turns = tuple(_TURNS.findall(text.lower()))
    return _Said(fingerprint(text), words, frozenset(words), (is_negated(text), signs, turns))


def _twins(one: _Said, other: _Said) -> bool:
    if one.mark == other.mark:
        return True
    if len(one.bag) > len(other.bag):
        one, other = other, one
    if not one.bag <= other.bag or one.manner != other.manner:
        return False
    if len(one.bag) < max(2, ALIKE * len(other.bag)):
        return False
    short, long = sorted((one.words, other.words), key=len)
    rest = iter(long)
    return all(word in rest for word in short)  # in the same order: "tabs over spaces"
