"""
Decide what a candidate is beside what is known: new, the same, more of the same, or against it.

Pure: a candidate and its neighbours in, a decision out. Nothing here reads or writes the store.

Three questions, in this order. Does it *say the same* as a neighbour? Does it *speak against* one:
by giving another value to an attribute that has one value at a time, by denying what it says, by
saying what took its place, by putting it right in so many words, or by telling the same of the same
names with something else in its place? Does it *say more* than one? If none, it is new. The weights
and bars were chosen on half of the scopes of letta-update and confirmed on the other;
benchmarks/consolidation measures them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.candidate import CORRECTION_FLAG, UPDATE_FLAG
from recollect.domain.memory import Memory, Status
from recollect.domain.transcript import Voice
from recollect.text.fingerprint import fingerprint
from recollect.text.replacements import replaces
from recollect.text.statement_similarity import MAX_CHARS, statement_similarity, statement_parts, are_competing
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import (
    USER_SUBJECT,
    Statement,
    content_words,
    is_negated,
    words_without_negation,
    parse_statement,
)

MIN_SIMILARITY_DUPLICATE = 0.97  # meaning: as near as two wordings of one sentence come
MIN_SIMILARITY_MERGE = 0.85
MIN_LIKENESS_CONFLICT = 1.55  # how alike two statements about the same names must be to be rivals
MIN_LIKENESS_CORRECTION = 1.75  # how alike, where the candidate says that it corrects something
SIGNS = LazyPattern(r"[<>=≤≥±%$€£#+-]|\d+")  # "< 5 MB" is not "> 5 MB"
NEGATED = "one says what the other denies"
_CURRENT = frozenset({Status.ACTIVE, Status.INBOX})


@dataclass(frozen=True)
class NearMemory:
    """
    A memory of the same owner, and how near it is in meaning (None where that is not known).

    *heard*: it rests on the very same words of the very same session, captured before.
    """

    memory: Memory
    similarity: float | None
    is_same_utterance: bool = False
    is_same_source: bool = False  # both were said in one breath: in the same source


@dataclass(frozen=True)
class New:
    """Nothing known says it, or speaks against it."""


@dataclass(frozen=True)
class Duplicate:
    """Somebody said so before."""

    of: Memory


@dataclass(frozen=True)
class MergeInto:
    """It says what *into* says, and one of the two says more."""

    into: Memory
    candidate_says_more: bool  # the candidate does


@dataclass(frozen=True)
class Contradicts:
    """It cannot well be true together with *other*."""

    other: Memory
    why: str
    is_correction: bool  # in so many words, and later
    is_certain: bool = True  # it was read, not guessed from likeness
    others: tuple[Memory, ...] = ()  # further rivals that are as certain


Decision = New | Duplicate | MergeInto | Contradicts


def consolidate(candidate: Memory, neighbours: Sequence[NearMemory]) -> Decision:
    """Return what *candidate* is beside its *neighbours*, nearest first."""
    others = [one for one in neighbours if one.memory.id != candidate.id]
    if same := next((one for one in others if _is_duplicate(candidate, one)), None):
        if _has_more_detail(candidate, same.memory) and same.memory.status in _CURRENT:
            return MergeInto(same.memory, candidate_says_more=True)
        return Duplicate(same.memory)
    standing = [one for one in others if one.memory.status in _CURRENT]
    against = _find_conflict(candidate, standing)
    if against is not None and against.is_certain:
        return against
    for one in standing:
        if _is_mergeable(candidate, one):
            more = content_words(candidate.content) > content_words(one.memory.content)
            return MergeInto(one.memory, candidate_says_more=more)
    return against or New()


def parse_ahead(text: str) -> None:
    """Read *text* now, so that a decision about it later costs little."""
    _parse(text)
    statement_parts(text[:MAX_CHARS])


def may_share_subject(one: Memory, other: Memory) -> bool:
    """Say whether two may be of one thing: "likes tea" of Ann is not "likes tea" of Bob."""
    pairs = ((one.title, other.title), (one.summary, other.summary))
    return all(mine == theirs or not mine or not theirs for mine, theirs in pairs)


def _is_duplicate(candidate: Memory, one: NearMemory) -> bool:
    if one.memory.type is not candidate.type or not may_share_subject(candidate, one.memory):
        return False
    if one.is_same_utterance:
        return True
    # What was superseded or contradicted and is said again is news; what was turned down is not.
    if one.memory.status in (Status.SUPERSEDED, Status.CONTRADICTED):
        return False
    mine, theirs = candidate.content, one.memory.content
    if fingerprint(mine) == fingerprint(theirs):
        return True
    alike = words_without_negation(mine) == words_without_negation(theirs) and is_negated(mine) == is_negated(theirs)
    alike = alike and SIGNS.findall(mine) == SIGNS.findall(theirs)
    return alike and (one.similarity is None or one.similarity >= MIN_SIMILARITY_DUPLICATE)


def _has_more_detail(candidate: Memory, other: Memory) -> bool:
    """Say whether the same words come with what the other lacks: a reason, or the user's voice."""
    unsaid = {Voice.TOOL, Voice.SYSTEM, Voice.OTHER}
    if candidate.metadata.get("voice") == Voice.USER and other.metadata.get("voice") in unsaid:
        return True
    return any(
        getattr(candidate, field) and not getattr(other, field)
        for field in ("rationale", "alternatives", "title", "summary", "tags")
    )


def _find_conflict(candidate: Memory, standing: Sequence[NearMemory]) -> Contradicts | None:
    flags = candidate.metadata.get("flags", ())
    found = []
    for one in standing:
        why, sure = _conflict_with(candidate, one, corrects=CORRECTION_FLAG in flags)
        if why:
            weight = statement_similarity(candidate.content, one.memory.content, one.similarity)
            found.append((sure, weight, one.memory, why))
    if not found:
        return None
    # What was read before what was guessed, another value before a denial, the likest first.
    found.sort(key=lambda rival: (-rival[0], rival[3] == NEGATED, -rival[1], rival[2].id))
    sure, _, best, why = found[0]
    later = candidate.observed_at >= best.observed_at
    corrects = sure and later and (CORRECTION_FLAG in flags or UPDATE_FLAG in flags)
    # Where the likeness of words decides, only the likest is a rival; a reading is sure of each.
    others = tuple(memory for certain, _, memory, _ in found[1:] if certain)
    return Contradicts(best, why, is_correction=corrects, is_certain=sure, others=others)


def _conflict_with(candidate: Memory, one: NearMemory, *, corrects: bool) -> tuple[str, bool]:
    """Return why two speak against each other, or '', and whether that was read, not guessed."""
    mine, theirs = candidate.content, one.memory.content
    said, known = _parse(mine), _parse(theirs)
    if why := _value_conflict(said, known):
        return why, True
    if replaces(mine, theirs):
        return "it says what took the place of it", True
    if _is_attribute_of_another(said, known):
        return "", False
    if _is_negation(mine, theirs):
        return NEGATED, True
    weight = statement_similarity(mine, theirs, one.similarity)
    # Who says two alike things in one breath hardly means the second against the first.
    if weight >= MIN_LIKENESS_CONFLICT and are_competing(mine, theirs) and not one.is_same_source:
        return "both tell the same of the same names, differently", False
    if corrects and weight >= MIN_LIKENESS_CORRECTION:
        return "it corrects what was said", False
    return "", False


def _parse(text: str) -> Statement | None:
    return parse_statement(text) if len(text) <= MAX_CHARS else None


def _value_conflict(one: Statement | None, other: Statement | None) -> str:
    if one is None or other is None:
        return ""
    if (one.subject, one.attribute) != (other.subject, other.attribute):
        return ""
    # "Lisbon" and "Lisbon, Portugal" are one place told twice.
    if one.value in other.value or other.value in one.value:
        return ""
    whose = "the user" if one.subject == USER_SUBJECT else one.subject or "the same thing"
    return f"another value for “{one.attribute}” of {whose}"


def _is_attribute_of_another(one: Statement | None, other: Statement | None) -> bool:
    """Say whether both name the same attribute of different things: alike, and no rivals."""
    if one is None or other is None:
        return False
    return one.attribute == other.attribute and one.subject != other.subject


def _is_negation(one: str, other: str) -> bool:
    mine, theirs = frozenset(words_without_negation(one)), frozenset(words_without_negation(other))
    if is_negated(one) == is_negated(other) or not mine or not theirs:
        return False
    if mine == theirs:
        return True
    together = len(mine & theirs)
    return together >= 3 and together >= 0.75 * max(len(mine), len(theirs))


def _is_mergeable(candidate: Memory, one: NearMemory) -> bool:
    if one.memory.type is not candidate.type or not may_share_subject(candidate, one.memory):
        return False
    mine, theirs = content_words(candidate.content), content_words(one.memory.content)
    nested = (mine <= theirs or theirs <= mine) and min(len(mine), len(theirs)) >= 2
    near = one.similarity is None or one.similarity >= MIN_SIMILARITY_MERGE
    return nested and near and is_negated(candidate.content) == is_negated(one.memory.content)
