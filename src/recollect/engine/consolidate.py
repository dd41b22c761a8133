"""
Decide what a candidate is beside what is known: new, the same, more of the same, or against it.

Pure: a candidate and its neighbours in, a decision out. Nothing here reads or writes the store.

Three questions, in this order. Does it *say the same* as a neighbour? Does it *speak against* one:
by giving another value to an attribute that has one value at a time, by denying what it says, by
putting it right in so many words, or by telling the same of the same names with something else in
its place? Does it *say more* than one? If none, it is new. The weights and bars were chosen on half
of the scopes of letta-update and confirmed on the other; benchmarks/consolidation measures them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from recollect.domain.candidate import CORRECTION, UPDATE
from recollect.domain.memory import Memory, Status
from recollect.domain.transcript import Voice
from recollect.text.fingerprint import fingerprint
from recollect.text.patterns import Pattern
from recollect.text.statements import (
    ME,
    Statement,
    content_words,
    denies,
    essence,
    frame_of,
    names_in,
    read_statement,
)

SAME = 0.97  # meaning: as near as two wordings of one sentence come
MORE_OF_THE_SAME = 0.85
AGAINST = 1.55  # how alike two statements about the same names must be to be rivals
PUT_RIGHT = 1.75  # how alike, where the candidate says that it corrects something
MOST_WORDS = 60
MOST_CHARS = 2_000  # of a memory are read; a longer one is a document, not a statement
WITHOUT_MEANING = 0.75  # what stands in for nearness in meaning where nothing is embedded
_ADDS = Pattern(r"\b(?:also|additionally|in addition|another|besides|moreover|as well|too)\b")
_SIGNS = Pattern(r"[<>=≤≥±%$€£#+-]|\d+")  # "< 5 MB" is not "> 5 MB"
_GUESSES = Pattern(r"\b(?:may|might|could|perhaps|possibly|probably|likely)\b")
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
    _parts(text[:MOST_CHARS])


def _says_the_same(candidate: Memory, one: Neighbour) -> bool:
    if one.memory.type is not candidate.type:
        return False
    if one.heard:
        return True
    # What was superseded or contradicted and is said again is news; what was turned down is not.
    if one.memory.status in (Status.SUPERSEDED, Status.CONTRADICTED):
        return False
    mine, theirs = candidate.content, one.memory.content
    if fingerprint(mine) == fingerprint(theirs):
        return True
    alike = essence(mine) == essence(theirs) and denies(mine) == denies(theirs)
    alike = alike and _SIGNS.findall(mine) == _SIGNS.findall(theirs)
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
            weight = likeness(candidate.content, one.memory.content, one.similarity)
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
    if _same_attribute_of_another(said, known):
        return "", False
    if _flips(mine, theirs):
        return FLIPPED, True
    weight = likeness(mine, theirs, one.similarity)
    # Who says two alike things in one breath hardly means the second against the first.
    if weight >= AGAINST and _rival_tellings(mine, theirs) and not one.together:
        return "both tell the same of the same names, differently", False
    if corrects and weight >= PUT_RIGHT:
        return "it corrects what was said", False
    return "", False


def likeness(one: str, other: str, similarity: float | None) -> float:
    """Return how alike two statements are in words, order and meaning; 3.4 at most."""
    mine, theirs = _parts(one[:MOST_CHARS]), _parts(other[:MOST_CHARS])
    names = mine.names | theirs.names
    in_names = content_words(" ".join(names))
    words, their_words = mine.words - in_names, theirs.words - in_names
    shared = len(words & their_words)
    # Longer than a sentence, two texts are no two tellings of one thing.
    frames = mine.frame[:MOST_WORDS], theirs.frame[:MOST_WORDS]
    matcher = SequenceMatcher(None, *frames, autojunk=False)
    run = matcher.find_longest_match().size
    return (
        (WITHOUT_MEANING * shared / max(1, len(words)) if similarity is None else similarity)
        + 0.5 * shared / max(1, len(words))
        + 0.5 * shared / max(1, len(their_words))
        + 0.4 * matcher.ratio()
        + 0.3 * min(run, 6) / 6
        + (0.25 if mine.verb == theirs.verb and mine.verb else 0.0)
        - (0.15 if mine.verb == theirs.verb == "is a" else 0.0)
        + (0.5 if mine.denies != theirs.denies else 0.0)
        + (0.3 if mine.names and mine.names == theirs.names else 0.0)
    )


@dataclass(frozen=True)
class _Parts:
    names: frozenset[str]
    words: frozenset[str]
    frame: tuple[str, ...]
    verb: str
    denies: bool


@lru_cache(maxsize=4096)
def _parts(text: str) -> _Parts:
    names = names_in(text)
    frame = frame_of(text, names)
    return _Parts(names, content_words(text), frame, _verb(frame), denies(text))


_AUXILIARY = Pattern(
    r"^(?:is|are|was|were|has|have|had|been|be|will|would|can|could|may|might|do|does|did|often"
    r"|currently|once|also|both|frequently|recently|together|regularly|sometimes|never|not|always"
    r"|actively|previously|later|now|first|only)$"
)
_BEING = frozenset({"is", "are", "was", "were", "be", "been"})


def _verb(frame: tuple[str, ...]) -> str:
    """Return what the subject of a sentence about names does, or ''."""
    at = 0
    while at < len(frame) and frame[at] in ("\u0000", "and"):
        at += 1
    if at == 0:
        return ""
    auxiliary = ""
    while at < len(frame) and _AUXILIARY.match(frame[at]):
        auxiliary = frame[at]
        at += 1
    head = frame[at] if at < len(frame) else ""
    if auxiliary not in _BEING:
        return head[:5]
    if head in ("a", "an"):
        return "is a"
    following = frame[at + 1] if at + 1 < len(frame) else ""
    return f"is {head} {following}" if head.endswith("ed") or head == "born" else f"is {head}"


def _read(text: str) -> Statement | None:
    return read_statement(text) if len(text) <= MOST_CHARS else None


def _reads_against(one: Statement | None, other: Statement | None) -> str:
    if one is None or other is None:
        return ""
    if (one.subject, one.attribute) != (other.subject, other.attribute):
        return ""
    # "Lisbon" and "Lisbon, Portugal" are one place told twice.
    if one.value in other.value or other.value in one.value:
        return ""
    whose = "the user" if one.subject == ME else one.subject or "the same thing"
    return f"another value for “{one.attribute}” of {whose}"


def _same_attribute_of_another(one: Statement | None, other: Statement | None) -> bool:
    """Say whether both name the same attribute of different things: alike, and no rivals."""
    if one is None or other is None:
        return False
    return one.attribute == other.attribute and one.subject != other.subject


def _flips(one: str, other: str) -> bool:
    mine, theirs = frozenset(essence(one)), frozenset(essence(other))
    if denies(one) == denies(other) or not mine or not theirs:
        return False
    if mine == theirs:
        return True
    together = len(mine & theirs)
    return together >= 3 and together >= 0.75 * max(len(mine), len(theirs))


def _rival_tellings(one: str, other: str) -> bool:
    """
    Say whether both tell of the same names, and claim the same place.

    "Also …" claims no place, two guesses do not exclude each other, and two things may well be the
    same third.
    """
    mine, theirs = _parts(one[:MOST_CHARS]), _parts(other[:MOST_CHARS])
    if not mine.names & theirs.names or _ADDS.search(one):
        return False
    shared = mine.names & theirs.names
    if not any(_is_about(one, name) or _is_about(other, name) for name in shared):
        return False
    if _GUESSES.search(one) and _GUESSES.search(other):
        return False
    ends = [text.lower().rstrip(" .!").rpartition(" is ")[2] for text in (one, other)]
    return ends[0] != ends[1]


def _is_about(text: str, name: str) -> bool:
    """Say whether a text is about a name: what it only ends with, it merely mentions."""
    return text.find(name) < len(text) / 2


def _says_more_of(candidate: Memory, one: Neighbour) -> bool:
    if one.memory.type is not candidate.type:
        return False
    mine, theirs = content_words(candidate.content), content_words(one.memory.content)
    nested = (mine <= theirs or theirs <= mine) and min(len(mine), len(theirs)) >= 2
    near = one.similarity is None or one.similarity >= MORE_OF_THE_SAME
    return nested and near and denies(candidate.content) == denies(one.memory.content)
