"""
Score how similar two statements are, and decide whether they make competing claims.

"Ana works at Acme" and "Ana works at Initech" have a similar frame: the same names, the same verb,
the same function words in the same order. The frame and negation separate conflicting statements
from related ones; embedding similarity alone does not. The weights were chosen on half of the
scopes of letta-update and confirmed on the other (docs/log.md).
"""

from difflib import SequenceMatcher
from functools import lru_cache

from recollect.lazy_dataclass import dataclass
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.statement_parser import content_words, is_negated, names_in, sentence_frame

MAX_WORDS = 60
MAX_CHARS = 2_000  # compared per text; a longer text is a document, not a statement
DEFAULT_EMBEDDING_SIMILARITY = 0.75  # weight used if there are no embeddings
_ADDS = r"\b(?:also|additionally|in addition|another|besides|moreover|as well|too)\b"
_ADDITION = LazyPattern(_ADDS)
_GUESS = LazyPattern(r"\b(?:may|might|could|perhaps|possibly|probably|likely)\b")


def statement_similarity(first: str, second: str, embedding_similarity: float | None) -> float:
    """Return the similarity of two statements in words, order and meaning, at most 3.4."""
    first_parts, second_parts = (statement_parts(text[:MAX_CHARS]) for text in (first, second))
    names = first_parts.names | second_parts.names
    name_words = content_words(" ".join(names))
    first_words, second_words = first_parts.words - name_words, second_parts.words - name_words
    shared = len(first_words & second_words)
    # Texts longer than a sentence are not two versions of one statement.
    frames = first_parts.frame[:MAX_WORDS], second_parts.frame[:MAX_WORDS]
    matcher = SequenceMatcher(None, *frames, autojunk=False)
    run = matcher.find_longest_match().size
    if embedding_similarity is None:
        embedding_similarity = DEFAULT_EMBEDDING_SIMILARITY * shared / max(1, len(first_words))
    return (
        embedding_similarity
        + 0.5 * shared / max(1, len(first_words))
        + 0.5 * shared / max(1, len(second_words))
        + 0.4 * matcher.ratio()
        + 0.3 * min(run, 6) / 6
        + (0.25 if first_parts.verb == second_parts.verb and first_parts.verb else 0.0)
        - (0.15 if first_parts.verb == second_parts.verb == "is a" else 0.0)
        + (0.5 if first_parts.is_negated != second_parts.is_negated else 0.0)
        + (0.3 if first_parts.names and first_parts.names == second_parts.names else 0.0)
    )


@dataclass(frozen=True)
class _StatementParts:
    names: frozenset[str]
    words: frozenset[str]
    frame: tuple[str, ...]
    verb: str
    is_negated: bool


@lru_cache(maxsize=4096)
def statement_parts(text: str) -> _StatementParts:
    """Return the parts of *text* that are compared; cached, because this is the slowest step."""
    names = names_in(text)
    frame = sentence_frame(text, names)
    return _StatementParts(names, content_words(text), frame, _verb(frame), is_negated(text))


_AUXILIARY = LazyPattern(
    r"^(?:is|are|was|were|has|have|had|been|be|will|would|can|could|may|might|do|does|did|often"
    r"|currently|once|also|both|frequently|recently|together|regularly|sometimes|never|not|always"
    r"|actively|previously|later|now|first|only)$"
)
_FORMS_OF_BE = frozenset({"is", "are", "was", "were", "be", "been"})


def _verb(frame: tuple[str, ...]) -> str:
    """Return the verb of a sentence that starts with a name, or ''."""
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
    if auxiliary not in _FORMS_OF_BE:
        return head[:5]
    if head in ("a", "an"):
        return "is a"
    following = frame[at + 1] if at + 1 < len(frame) else ""
    return f"is {head} {following}" if head.endswith("ed") or head == "born" else f"is {head}"


def are_competing(first: str, second: str) -> bool:
    """
    Return whether both statements are about the same name and cannot both be true.

    "Also …" adds a fact, two guesses do not exclude each other, and two things may have the same
    value.
    """
    first_parts, second_parts = (statement_parts(text[:MAX_CHARS]) for text in (first, second))
    shared = first_parts.names & second_parts.names
    if not shared or _ADDITION.search(first):
        return False
    if not any(_is_about(first, name) or _is_about(second, name) for name in shared):
        return False
    if _GUESS.search(first) and _GUESS.search(second):
        return False
    ends = [text.lower().rstrip(" .!").rpartition(" is ")[2] for text in (first, second)]
    return ends[0] != ends[1]


def _is_about(text: str, name: str) -> bool:
    """Return whether *text* is about *name*: a name in its second half is only mentioned."""
    return text.find(name) < len(text) / 2
