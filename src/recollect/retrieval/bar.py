"""
The relevance bar: a question that nothing here answers gets nothing.

How much speaks for a candidate is its similarity, less half of what items here usually have (in a
store of one topic everything is a little near), and a little for the words of the question it has.
A question is answered only if something passes the bar. Then what is almost as near may come too:
the second half of an answer is often worded otherwise. Where a question has names, and not one of
them was ever mentioned here, something has to be nearer. Where meaning cannot be compared, a word
in common is all there is to go by.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.retrieval.candidates import Candidate, Gathered
from recollect.store.values import Backdrop, Near
from recollect.text.asked_names import asked_names

# Chosen on one half of the unrelated questions of benchmarks/, confirmed on the other; but
# UNHEARD_OF was chosen on both.
LEAST = 0.39  # what must speak for the best candidate
SLACK = 0.25  # how much less for the others
USUAL = 0.6  # share of the usual similarity that does not count, where much is known of it
MUCH = 16  # items: of fewer than these, what is usual may be the answer itself
COVERED = 0.15  # for a candidate that has every word of the question
LONG = 0.09  # for a document of several pieces: only a part of one answers, and it is less near
# Who says much speaks of several things, and nothing is near to all of them: from SHORT words on
# the bar sinks, and at LENGTHY it is lower by LENIENCE.
SHORT, LENGTHY, LENIENCE = 16, 30, 0.13
UNHEARD_OF = 0.06  # how much more, if the names in the question occur nowhere here
# Words can be enough: an identifier says little to an embedder.
ALL_WORDS = 0.99  # of the question's weight
NEARLY_ALL, A_LITTLE_NEAR = 0.8, 0.2


@dataclass(frozen=True)
class Refused:
    """What came nearest to a question that got no answer."""

    id: str
    reached: float
    needed: float
    since: str  # why so much is needed, or ''


@dataclass(frozen=True)
class Bar:
    """Which candidates have enough to do with the question to be shown."""

    backdrop: Backdrop
    least: float
    documents: bool  # what is weighed may be a document; a long message is not
    unheard_of: tuple[str, ...] = ()  # the names of the question, if none occurs here

    @classmethod
    def over(cls, gathered: Gathered[Any], query: str, *, documents: bool) -> "Bar":
        """Return the bar for what was gathered: lower, if something passes the high one."""
        length = (len(query.split()) - SHORT) / (LENGTHY - SHORT)
        names = asked_names(query) if gathered.unknown else frozenset()
        unheard_of = tuple(sorted(names)) if names <= set(gathered.unknown) else ()
        least = LEAST - LENIENCE * min(max(length, 0.0), 1.0) + UNHEARD_OF * bool(unheard_of)
        high = cls(gathered.backdrop, round(least, 6), documents, unheard_of)
        if any(high.admits(candidate) for candidate in gathered.candidates):
            return replace(high, least=round(least - SLACK, 6))
        return high

    def admits(self, candidate: Candidate[Any]) -> bool:
        """Say whether *candidate* passes."""
        if candidate.near is None or candidate.reached == "linked":
            return candidate.words is not None  # a link is somebody's word that it matters here
        return self.speaks_for(candidate) >= self.least or _has_the_words(candidate)

    def refused(self, candidates: Sequence[Candidate[Any]]) -> Refused | None:
        """Return the candidate for which most speaks, of those that do not pass."""
        if not candidates:
            return None
        nearest = max(candidates, key=lambda one: (self.speaks_for(one), one.standing.seq))
        reached = round(self.speaks_for(nearest), 6)
        return Refused(nearest.standing.id, reached, self.least, self.since)

    @property
    def since(self) -> str:
        """Say why more is needed than for other questions, if it is."""
        names = ", ".join(f"“{name}”" for name in self.unheard_of)
        occurs = "occurs" if len(self.unheard_of) == 1 else "occur"
        return f", since {names} {occurs} nowhere here" if names else ""

    def speaks_for(self, candidate: Candidate[Any]) -> float:
        """Return how much speaks for *candidate*, on the scale of a similarity."""
        if candidate.near is None:
            return 0.0
        return self.weight(candidate.near, candidate.coverage)

    def told(self, near: Near, coverage: float) -> str:
        """Say in words how an item with these figures stands to the bar."""
        reached = self.weight(near, coverage)
        return (
            f"its similarity of {near.similarity:.2f} is not enough: {reached:.2f} speaks for it, "
            f"where items here usually have {self.backdrop.mean:.2f}; {self.least:.2f} is needed"
            f"{self.since}"
        )

    def weight(self, near: Near, coverage: float) -> float:
        """Return how much speaks for what is so near and has that share of the words."""
        known = self.backdrop.seen / (self.backdrop.seen + MUCH)
        usual = USUAL * known * max(self.backdrop.mean, 0.0)
        long = LONG if self.documents and near.chunks > 1 else 0.0
        return near.similarity - usual + COVERED * coverage + long


def _has_the_words(candidate: Candidate[Any]) -> bool:
    near = candidate.near is not None and candidate.near.similarity >= A_LITTLE_NEAR
    return candidate.coverage >= (NEARLY_ALL if near else ALL_WORDS)
