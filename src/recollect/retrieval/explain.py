"""Say in a sentence why a memory came."""

from datetime import datetime

from recollect.domain.scope import Scope
from recollect.retrieval.rank import Ranked

_SHOWN_WORDS = 6


def explain(ranked: Ranked, *, asked_at: datetime, conflicts: int) -> str:
    """Return one sentence: which words, how near in meaning, from where, how old, how sure."""
    candidate = ranked.candidate
    reasons = []
    if candidate.words is not None:
        shown = ", ".join(f"“{word}”" for word in candidate.words.words[:_SHOWN_WORDS])
        more = len(candidate.words.words) - _SHOWN_WORDS
        reasons.append(f"matches {shown}" + (f" and {more} more words" if more > 0 else ""))
    cosine = candidate.near.similarity if candidate.near else 0.0
    if cosine > 0:
        reasons.append(f"its meaning is {_closeness(cosine)} (similarity {cosine:.2f})")
    standing = candidate.standing
    told = [
        " and ".join(reasons) or ("is of the time asked for" if ranked.in_time else "is linked"),
        _place(standing.owner.scope, candidate.reached),
        f"observed {_age((asked_at - standing.observed_at).days)}",
    ]
    if ranked.in_time and reasons:
        told.append("at the time asked for")
    if standing.confidence < 1:
        told.append(f"confidence {standing.confidence:.2f}")
    if conflicts:
        told.append(f"in conflict with {conflicts} other" + ("s" if conflicts > 1 else ""))
    sentence = "; ".join(told)
    return sentence[0].upper() + sentence[1:] + "."


def _place(scope: Scope, reached: str) -> str:
    if reached == "linked":
        return "of another project, linked to this one"
    if reached == "relevant":
        return "of another project, shown because it clearly answers the question"
    return f"{scope} memory"


def _closeness(cosine: float) -> str:
    if cosine >= 0.6:
        return "very close"
    return "close" if cosine >= 0.4 else "somewhat related"


def _age(days: int) -> str:
    if days < 0:
        return "at a later time"
    if days < 1:
        return "today"
    if days < 60:
        return f"{days} day{'s' if days > 1 else ''} ago"
    return f"{days // 30} months ago" if days < 730 else f"{days // 365} years ago"
