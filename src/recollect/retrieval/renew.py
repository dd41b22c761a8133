"""
Put the newer of rival facts first.

"Ana works at Acme" and "Ana works at Initech" answer a question equally well; the later one is
more likely true. Two memories among the best are rivals when they are linked as contradicting each
other, or when they match the same words of the question, score about the same and say nearly the
same. Rivals keep the places they have, but stand in them newest first. A question about the past
is left as it is. Nothing is dropped: the older fact stays in the list.
"""

import re
from collections.abc import Mapping

from recollect.retrieval.candidates import Meaning
from recollect.retrieval.rank import Ranked
from recollect.store.protocol import Tables

AMONG = 20
LEAST_COVERAGE = 0.5  # of the question: weaker matches have too little in common with it
LEAST_ALIKE = 0.7
MOST_APART = 0.1  # in score

_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|before|earlier|initial(?:ly)?"
    r"|back then|at the time|history|old(?:er)?"
    r"|(?:the|my|our|your|his|her|their|'s|very|at) first)\b",
    re.IGNORECASE,
)

Pairs = set[frozenset[int]]


def renew(
    tables: Tables, ranked: list[Ranked], query: str, meaning: Meaning | None
) -> list[Ranked]:
    """Return *ranked* with rivals in order of time, newest first."""
    best = ranked[:AMONG]
    if len(best) < 2 or _PAST.search(query):
        return ranked
    rivals = _contradicting(tables, best) | _nearly_identical(tables, best, meaning)
    renewed = list(ranked)
    placed: set[int] = set()
    for place in range(len(best)):
        if place in placed:
            continue
        group = _group(place, rivals, placed)
        placed.update(group)
        newest_first = sorted((ranked[one] for one in group), key=_newness, reverse=True)
        for spot, one in zip(group, newest_first, strict=True):
            renewed[spot] = one
    return renewed


def _group(place: int, rivals: Pairs, placed: set[int]) -> list[int]:
    """Return *place* and its rivals after it that stand in no other group."""
    others = {one for pair in rivals if place in pair for one in pair}
    return [place, *sorted(one for one in others if one > place and one not in placed)]


def _contradicting(tables: Tables, best: list[Ranked]) -> Pairs:
    places = {one.candidate.standing.id: place for place, one in enumerate(best)}
    conflicts = tables.links.conflicts(list(places))
    return {
        frozenset({places[one], places[other]})
        for one, others in conflicts.items()
        for other in others
        if other in places
    }


def _nearly_identical(tables: Tables, best: list[Ranked], meaning: Meaning | None) -> Pairs:
    eligible = [
        place
        for place, one in enumerate(best)
        if one.candidate.words is not None and one.candidate.coverage >= LEAST_COVERAGE
    ]
    if meaning is None or len(eligible) < 2:
        return set()
    seqs = [best[place].candidate.standing.seq for place in eligible]
    alike = tables.vectors.alike(meaning.model_id, seqs)
    return {
        frozenset({one, other})
        for one in eligible
        for other in eligible
        if other > one and _same(best[one], best[other], alike)
    }


def _same(one: Ranked, other: Ranked, alike: Mapping[tuple[int, int], float]) -> bool:
    if one.candidate.words is None or other.candidate.words is None:
        return False
    pair = (one.candidate.standing.seq, other.candidate.standing.seq)
    return (
        set(one.candidate.words.words) == set(other.candidate.words.words)
        and one.score - other.score <= MOST_APART
        and alike.get(pair, 0.0) >= LEAST_ALIKE
    )


def _newness(one: Ranked) -> tuple[float, int]:
    standing = one.candidate.standing
    return (standing.observed_at.timestamp(), standing.seq)
