"""
How alike two statements are, and whether one tells otherwise what the other tells.

"Ana works at Acme" and "Ana works at Initech" are alike in their frame: the same names, the same
verb, the same small words in the same order. That, and denial, tells rivals from neighbours;
meaning alone does not. The weights were chosen on half of the scopes of letta-update and confirmed
on the other (docs/log.md). Words only: nothing here knows memories or time.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from recollect.text.patterns import Pattern
from recollect.text.statements import content_words, denies, frame_of, names_in

MOST_WORDS = 60
MOST_CHARS = 2_000  # of a text are read; a longer one is a document, not a statement
WITHOUT_MEANING = 0.75  # what stands in for nearness in meaning where nothing is embedded
_ADDS = Pattern(r"\b(?:also|additionally|in addition|another|besides|moreover|as well|too)\b")
_GUESSES = Pattern(r"\b(?:may|might|could|perhaps|possibly|probably|likely)\b")


def likeness(one: str, other: str, similarity: float | None) -> float:
    """Return how alike two statements are in words, order and meaning; 3.4 at most."""
    mine, theirs = parts_of(one[:MOST_CHARS]), parts_of(other[:MOST_CHARS])
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
def parts_of(text: str) -> _Parts:
    """Read *text* as the likeness of statements needs it; remembered, since it costs the most."""
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


def tells_otherwise(one: str, other: str) -> bool:
    """
    Say whether both tell of the same names, and claim the same place.

    "Also …" claims no place, two guesses do not exclude each other, and two things may well be the
    same third.
    """
    mine, theirs = parts_of(one[:MOST_CHARS]), parts_of(other[:MOST_CHARS])
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
