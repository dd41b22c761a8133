"""
Put the newer of near-identical facts first.

"Ana works at Acme" and "Ana works at Initech" answer a question equally well; the later one is
more likely true. Memories among the best that match the same words of the question, score about
the same and say nearly the same keep the places they have, but stand in them newest first. A
question about the past is left as it is. Nothing is dropped: the older fact stays in the list.
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
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|before|earlier|first"
    r"|initial(?:ly)?|back then|at the time|history|old(?:er)?)\b",
    re.IGNORECASE,
)


def renew(
    tables: Tables, ranked: list[Ranked], query: str, meaning: Meaning | None
) -> list[Ranked]:
    """Return *ranked* with near-identical facts in order of time, newest first."""
    eligible = [
        place
        for place, one in enumerate(ranked[:AMONG])
        if one.candidate.words is not None and one.candidate.coverage >= LEAST_COVERAGE
    ]
    if meaning is None or len(eligible) < 2 or _PAST.search(query):
        return ranked
    seqs = [ranked[place].candidate.standing.seq for place in eligible]
    alike = tables.vectors.alike(meaning.model_id, seqs)
    renewed = list(ranked)
    placed: set[int] = set()
    for place in eligible:
        if place in placed:
            continue
        group = [place] + [
            other
            for other in eligible
            if other > place and other not in placed and _same(ranked[place], ranked[other], alike)
        ]
        placed.update(group)
        newest_first = sorted((ranked[one] for one in group), key=_newness, reverse=True)
        for spot, one in zip(group, newest_first, strict=True):
            renewed[spot] = one
    return renewed


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
