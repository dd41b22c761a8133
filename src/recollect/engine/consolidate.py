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

from recollect.domain.candidate import CORRECTION, UPDATE
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

SAME = 0.97  # meaning: as near as two wordings of one sentence come
MORE_OF_THE_SAME = 0.85
AGAINST = 1.55  # how alike two statements about the same names must be to be rivals
PUT_RIGHT = 1.75  # how alike, where the candidate says that it corrects something
SIGNS = LazyPattern(r"[<>=≤≥±%$€£#+-]|\d+")  # "< 5 MB" is not "> 5 MB"
FLIPPED = "one says what the other denies"
_STILL_STANDS = frozenset({Status.ACTIVE, Status.INBOX})


@dataclass(frozen=True)
class Neighbour:
    """
    A memory of the same owner, and how near it is in meaning (None where that is not known).

    *heard*: it rests on the very same words of the very same session, captured before.
    """

    memory: Memory
    similarity: float | None
    heard: bool = False
    together: bool = False  # both were said in one breath: in the same source


@dataclass(frozen=True)
class New:
    """Nothing known says it, or speaks against it."""


@dataclass(frozen=True)
class Duplicate:
    """Somebody said so before."""

    of: Memory


@dataclass(frozen=True)
class Merge:
    """It says what *into* says, and one of the two says more."""

    into: Memory
    says_more: bool  # the candidate does


@dataclass(frozen=True)
class Contradicts:
    """It cannot well be true together with *other*."""

    other: Memory
    why: str
    corrects: bool  # in so many words, and later
    sure: bool = True  # it was read, not guessed from likeness
    others: tuple[Memory, ...] = ()  # further rivals that are as certain


Decision = New | Duplicate | Merge | Contradicts


def consolidate(candidate: Memory, neighbours: Sequence[Neighbour]) -> Decision:
    """Return what *candidate* is beside its *neighbours*, nearest first."""
    others = [one for one in neighbours if one.memory.id != candidate.id]
    if same := next((one for one in others if _says_the_same(candidate, one)), None):
        if _tells_more(candidate, same.memory) and same.memory.status in _STILL_STANDS:
            return Merge(same.memory, says_more=True)
        return Duplicate(same.memory)
    standing = [one for one in others if one.memory.status in _STILL_STANDS]
    against = _rival(candidate, standing)
    if against is not None and against.sure:
        return against
    for one in standing:
        if _says_more_of(candidate, one):
            more = content_words(candidate.content) > content_words(one.memory.content)
            return Merge(one.memory, says_more=more)
    return against or New()


def prepare(text: str) -> None:
    """Read *text* now, so that a decision about it later costs little."""
    _read(text)
    statement_parts(text[:MAX_CHARS])


def about_one(one: Memory, other: Memory) -> bool:
    """Say whether two may be of one thing: "likes tea" of Ann is not "likes tea" of Bob."""
    pairs = ((one.title, other.title), (one.summary, other.summary))
    return all(mine == theirs or not mine or not theirs for mine, theirs in pairs)


def _says_the_same(candidate: Memory, one: Neighbour) -> bool:
    if one.memory.type is not candidate.type or not about_one(candidate, one.memory):
        return False
    if one.heard:
        return True
    # What was superseded or contradicted and is said again is news; what was turned down is not.
    if one.memory.status in (Status.SUPERSEDED, Status.CONTRADICTED):
        return False
    mine, theirs = candidate.content, one.memory.content
    if fingerprint(mine) == fingerprint(theirs):
        return True
    alike = words_without_negation(mine) == words_without_negation(theirs) and is_negated(mine) == is_negated(theirs)
    alike = alike and SIGNS.findall(mine) == SIGNS.findall(theirs)
    return alike and (one.similarity is None or one.similarity >= SAME)


def _tells_more(candidate: Memory, other: Memory) -> bool:
    """Say whether the same words come with what the other lacks: a reason, or the user's voice."""
    unsaid = {Voice.TOOL, Voice.SYSTEM, Voice.OTHER}
    if candidate.metadata.get("voice") == Voice.USER and other.metadata.get("voice") in unsaid:
        return True
    return any(
        getattr(candidate, field) and not getattr(other, field)
        for field in ("rationale", "alternatives", "title", "summary", "tags")
    )


def _rival(candidate: Memory, standing: Sequence[Neighbour]) -> Contradicts | None:
    flags = candidate.metadata.get("flags", ())
    found = []
    for one in standing:
        why, sure = _against(candidate, one, corrects=CORRECTION in flags)
        if why:
            weight = statement_similarity(candidate.content, one.memory.content, one.similarity)
            found.append((sure, weight, one.memory, why))
    if not found:
        return None
    # What was read before what was guessed, another value before a denial, the likest first.
    found.sort(key=lambda rival: (-rival[0], rival[3] == FLIPPED, -rival[1], rival[2].id))
    sure, _, best, why = found[0]
    later = candidate.observed_at >= best.observed_at
    corrects = sure and later and (CORRECTION in flags or UPDATE in flags)
    # Where the likeness of words decides, only the likest is a rival; a reading is sure of each.
    others = tuple(memory for certain, _, memory, _ in found[1:] if certain)
    return Contradicts(best, why, corrects=corrects, sure=sure, others=others)


def _against(candidate: Memory, one: Neighbour, *, corrects: bool) -> tuple[str, bool]:
    """Return why two speak against each other, or '', and whether that was read, not guessed."""
    mine, theirs = candidate.content, one.memory.content
    said, known = _read(mine), _read(theirs)
    if why := _reads_against(said, known):
        return why, True
    if replaces(mine, theirs):
        return "it says what took the place of it", True
    if _same_attribute_of_another(said, known):
        return "", False
    if _flips(mine, theirs):
        return FLIPPED, True
    weight = statement_similarity(mine, theirs, one.similarity)
    # Who says two alike things in one breath hardly means the second against the first.
    if weight >= AGAINST and are_competing(mine, theirs) and not one.together:
        return "both tell the same of the same names, differently", False
    if corrects and weight >= PUT_RIGHT:
        return "it corrects what was said", False
    return "", False


def _read(text: str) -> Statement | None:
    return parse_statement(text) if len(text) <= MAX_CHARS else None


def _reads_against(one: Statement | None, other: Statement | None) -> str:
    if one is None or other is None:
        return ""
    if (one.subject, one.attribute) != (other.subject, other.attribute):
        return ""
    # "Lisbon" and "Lisbon, Portugal" are one place told twice.
    if one.value in other.value or other.value in one.value:
        return ""
    whose = "the user" if one.subject == USER_SUBJECT else one.subject or "the same thing"
    return f"another value for “{one.attribute}” of {whose}"


def _same_attribute_of_another(one: Statement | None, other: Statement | None) -> bool:
    """Say whether both name the same attribute of different things: alike, and no rivals."""
    if one is None or other is None:
        return False
    return one.attribute == other.attribute and one.subject != other.subject


def _flips(one: str, other: str) -> bool:
    mine, theirs = frozenset(words_without_negation(one)), frozenset(words_without_negation(other))
    if is_negated(one) == is_negated(other) or not mine or not theirs:
        return False
    if mine == theirs:
        return True
    together = len(mine & theirs)
    return together >= 3 and together >= 0.75 * max(len(mine), len(theirs))


def _says_more_of(candidate: Memory, one: Neighbour) -> bool:
    if one.memory.type is not candidate.type or not about_one(candidate, one.memory):
        return False
    mine, theirs = content_words(candidate.content), content_words(one.memory.content)
    nested = (mine <= theirs or theirs <= mine) and min(len(mine), len(theirs)) >= 2
    near = one.similarity is None or one.similarity >= MORE_OF_THE_SAME
    return nested and near and is_negated(candidate.content) == is_negated(one.memory.content)
