"""Explain in one sentence why a memory was returned."""

from datetime import datetime

from recollect.domain.scope import Scope
from recollect.retrieval.rank import RankedMemory

_SHOWN_WORDS = 6


def explain(ranked: RankedMemory, *, asked_at: datetime, conflicts: int) -> str:
    """Return one sentence: matching words, similarity, scope, age, confidence, conflicts."""
    candidate, row = ranked.candidate, ranked.candidate.item
    matches = []
    if candidate.word_match is not None:
        words = ", ".join(f"“{word}”" for word in candidate.word_match.words[:_SHOWN_WORDS])
        more = len(candidate.word_match.words) - _SHOWN_WORDS
        matches.append(f"matches {words}" + (f" and {more} more words" if more > 0 else ""))
    similarity = candidate.vector_match.similarity if candidate.vector_match else 0.0
    if similarity > 0:
        matches.append(f"its meaning is {_closeness(similarity)} (similarity {similarity:.2f})")
    without_match = "is in the requested time range" if ranked.in_time else "is linked"
    reasons = [
        " and ".join(matches) or without_match,
        _origin(row.owner.scope, candidate.reached),
        f"observed {_age((asked_at - row.observed_at).days)}",
    ]
    if ranked.in_time and matches:
        reasons.append("in the requested time range")
    if row.confidence < 1:
        reasons.append(f"confidence {row.confidence:.2f}")
    if conflicts:
        reasons.append(f"in conflict with {conflicts} other" + ("s" if conflicts > 1 else ""))
    sentence = "; ".join(reasons)
    return sentence[0].upper() + sentence[1:] + "."


def _origin(scope: Scope, reached: str) -> str:
    if reached == "linked":
        return "of another project, linked to this one"
    if reached == "relevant":
        return "of another project, shown because it clearly answers the question"
    return f"{scope} memory"


def _closeness(similarity: float) -> str:
    if similarity >= 0.6:
        return "very close"
    return "close" if similarity >= 0.4 else "somewhat related"


def _age(days: int) -> str:
    if days < 0:
        return "at a later time"
    if days < 1:
        return "today"
    if days < 60:
        return f"{days} day{'s' if days > 1 else ''} ago"
    return f"{days // 30} months ago" if days < 730 else f"{days // 365} years ago"
