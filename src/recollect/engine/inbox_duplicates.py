"""
Group near-duplicate candidates of the inbox, with the most certain one as representative.

Consolidation has merged exact duplicates. What is left are candidates that a reviewer would read as
one: the words of one occur in the other in the same order, with a few words more; numbers and signs
are equal, and so are function words that change the meaning (on and off, from and to, my and your);
neither negates the other. Only candidates of one owner, user, type and title are compared, because
a duplicate is decided together with its representative.

Pure, and close to linear: two texts this similar share one of their rarest words (prefix
filtering), so each candidate is compared only with representatives that share one, up to a maximum.
Above that maximum a duplicate stays in a group of its own; no candidate is ever hidden.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import ceil

from recollect.domain.candidate_scope import is_of_one_user
from recollect.domain.memory import Memory, MemoryType
from recollect.domain.provenance import StatementFlag
from recollect.domain.scope import Owner
from recollect.domain.source import SourceKind
from recollect.domain.transcript import Voice
from recollect.engine.consolidate import SIGNS
from recollect.lazy_dataclass import dataclass
from recollect.text.fingerprint import fingerprint
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import is_negated, words_without_negation

MIN_SHARED_WORDS = 0.7  # share of the longer text's words that the shorter one has
MAX_COMPARISONS = 50  # representatives a candidate is compared with
MIN_SHARED_STARTS = 0.3  # of all words, also of those that are ignored when texts are compared
STEM_CHARS = 4
MAX_CHARS = 1_000  # a longer text is a document, compared by its fingerprint only

# Words without content that still decide who does what to whom, where and when.
_FUNCTION_WORDS = LazyPattern(
    r"\b(?:on|off|from|to|into|onto|out|up|down|under|over|by|before|after|until|if|unless|except"
    r"|but|only|than|stops?|used to|i|me|my|mine|you|your|he|him|his|she|her|they|them|their)\b"
)

_WORD = re.compile(r"[^\W_]+")

_Words = tuple[str, ...]
_GroupKey = tuple[Owner, str | None, MemoryType, str, str]


@dataclass(frozen=True)
class DuplicateGroup:
    """A candidate to show, and its near-duplicates."""

    representative: Memory
    duplicates: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class _Statement:
    fingerprint: str
    words: _Words
    word_set: frozenset[str]  # the same words, as a set
    meaning_marks: tuple[bool, _Words, _Words]  # negated; signs and numbers; function words


def review_order(memory: Memory, sessions: int) -> tuple[bool, bool, int, float, float, str]:
    """Return the sort key of a candidate: the most certain first, in a stable order."""
    return (
        StatementFlag.INSTRUCTION in memory.provenance.flags,
        not is_said_by_user(memory),
        -sessions,
        -memory.confidence,
        -memory.observed_at.timestamp(),
        memory.id,
    )


def is_said_by_user(memory: Memory) -> bool:
    """Return whether the user said or wrote it, not an agent."""
    voice = memory.evidence[0].voice if memory.evidence else memory.provenance.voice
    return voice == Voice.USER or (not voice and memory.source_kind is SourceKind.MANUAL)


def group_duplicates(
    candidates: Iterable[Memory], *, single_user: bool = False
) -> list[DuplicateGroup]:
    """
    Return *candidates* in groups: each is a representative or a duplicate of the first match.

    Unless the store has a *single_user*, what two agents were told about their users stays apart.
    """
    candidates = list(candidates)
    groups: dict[_GroupKey, list[Memory]] = defaultdict(list)
    for memory in candidates:
        user = memory.agent_id if is_of_one_user(memory, single_user=single_user) else None
        groups[memory.owner, user, memory.type, memory.title, memory.summary].append(memory)
    representative_of: dict[str, str] = {}
    for (_, _, kind, _, _), memories in groups.items():
        if kind is not MemoryType.EPISODE:  # two sessions are two, however similar they were
            representative_of |= _representatives(memories)
    duplicates: dict[str, list[Memory]] = defaultdict(list)
    for memory in candidates:
        if memory.id in representative_of:
            duplicates[representative_of[memory.id]].append(memory)
    return [
        DuplicateGroup(memory, tuple(duplicates.get(memory.id, ())))
        for memory in candidates
        if memory.id not in representative_of
    ]


def are_duplicates(first: str, other: str) -> bool:
    """Return whether two texts are near-duplicates."""
    return _is_duplicate(_parse(first), _parse(other))


def can_be_duplicates(first: str, other: str) -> bool:
    """Return False if two texts share so few words that `are_duplicates` is not worth its time."""
    words, other_words = _word_starts(first), _word_starts(other)
    shared = len(words & other_words)
    return shared >= MIN_SHARED_STARTS * min(len(words), len(other_words))


def _representatives(memories: Sequence[Memory]) -> dict[str, str]:
    """Return the id of the representative of each duplicate, by its id."""
    statements = {memory.id: _parse(memory.content) for memory in memories}
    word_counts = Counter(word for statement in statements.values() for word in statement.word_set)
    by_fingerprint: dict[str, str] = {}
    by_word: dict[tuple[object, str], list[str]] = defaultdict(list)
    representative_of: dict[str, str] = {}
    for memory in memories:
        statement = statements[memory.id]
        representative = by_fingerprint.get(statement.fingerprint) or _first_duplicate(
            statement, by_word, statements, word_counts
        )
        if representative is not None:
            representative_of[memory.id] = representative
            continue
        by_fingerprint[statement.fingerprint] = memory.id
        for word in _rarest_words(statement, word_counts):
            by_word[statement.meaning_marks, word].append(memory.id)
    return representative_of


def _first_duplicate(
    statement: _Statement,
    by_word: Mapping[tuple[object, str], Sequence[str]],
    statements: Mapping[str, _Statement],
    word_counts: Counter[str],
) -> str | None:
    compared = 0
    for word in _rarest_words(statement, word_counts):
        for representative in by_word.get((statement.meaning_marks, word), ()):
            if _is_duplicate(statement, statements[representative]):
                return representative
            compared += 1
            if compared == MAX_COMPARISONS:
                return None
    return None


def _rarest_words(statement: _Statement, word_counts: Counter[str]) -> list[str]:
    """Return the words of which every near-duplicate has at least one, the rarest first."""
    words = sorted(statement.word_set, key=lambda word: (word_counts[word], word))
    return words[: len(words) - ceil(MIN_SHARED_WORDS * len(words)) + 1]


@lru_cache(maxsize=16_384)
def _word_starts(text: str) -> frozenset[str]:
    """Return the first letters of each word: as many as every form of the word has."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARS]).casefold()
    return frozenset(word[:STEM_CHARS] for word in _WORD.findall(folded))


@lru_cache(maxsize=16_384)
def _parse(text: str) -> _Statement:
    if len(text) > MAX_CHARS:
        return _Statement(fingerprint(text), (), frozenset(), (False, (), ()))
    words, signs = words_without_negation(text), tuple(SIGNS.findall(text))
    turns = tuple(_FUNCTION_WORDS.findall(text.lower()))
    return _Statement(fingerprint(text), words, frozenset(words), (is_negated(text), signs, turns))


def _is_duplicate(first: _Statement, other: _Statement) -> bool:
    if first.fingerprint == other.fingerprint:
        return True
    if len(first.word_set) > len(other.word_set):
        first, other = other, first
    if not first.word_set <= other.word_set or first.meaning_marks != other.meaning_marks:
        return False
    if len(first.word_set) < max(2, MIN_SHARED_WORDS * len(other.word_set)):
        return False
    short, long = sorted((first.words, other.words), key=len)
    rest = iter(long)
    return all(word in rest for word in short)  # in the same order: "tabs over spaces"
