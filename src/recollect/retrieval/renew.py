"""
Put the newer of rival facts first.

"Ana works at Acme" and "Ana works at Initech" answer a question equally well; the later one is
more likely true. Two memories among the best are rivals when they are linked as contradicting each
other, or when both are short statements that share words with the question and tell the same of the
same names, differently. Rivals keep the places they have, but stand in them newest first. A
question about the past is left as it is. Nothing is dropped: the older fact stays in the list.
"""

import re
from collections.abc import Mapping
from itertools import combinations

from recollect.retrieval.candidates import Meaning
from recollect.retrieval.rank import Ranked
from recollect.store.protocol import Tables
from recollect.text.likeness import likeness, tells_otherwise

AMONG = 10
MOST_CHARS = 300  # of a statement; what is longer tells many things
MOST_APART = 0.3  # in score
# Chosen on every fifth scope of letta-update and on factcons-6k (docs/log.md).
LEAST_ALIKE = 0.45  # in meaning, to be compared at all
SAME_NAMES = 1.55  # how alike two statements about the same names must be
SAME_FRAME = 2.2  # how alike any two

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
    rivals = _contradicting(tables, best) | _telling_otherwise(tables, best, meaning)
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


def _telling_otherwise(tables: Tables, best: list[Ranked], meaning: Meaning | None) -> Pairs:
    told = tables.memories.contents([one.candidate.standing.id for one in best])
    texts = [told.get(one.candidate.standing.id, "") for one in best]
    short = [place for place, text in enumerate(texts) if _is_statement(text)]
    if len(short) < 2:
        return set()
    alike: Mapping[tuple[int, int], float] = {}
    if meaning is not None:
        seqs = [best[place].candidate.standing.seq for place in short]
        alike = tables.vectors.alike(meaning.model_id, seqs)
    return {
        frozenset({one, other})
        for one, other in combinations(short, 2)
        if _may_be_rivals(best[one], best[other])
        and _are_rivals(texts[one], texts[other], alike.get(_seqs(best[one], best[other])))
    }


def _is_statement(text: str) -> bool:
    return 0 < len(text) <= MOST_CHARS and "\n" not in text


def _may_be_rivals(one: Ranked, other: Ranked) -> bool:
    mine, theirs = one.candidate.words, other.candidate.words
    if mine is None or theirs is None or not set(mine.words) & set(theirs.words):
        return False
    session = one.candidate.standing.session_id
    # Who says two alike things in one breath hardly means the second against the first.
    if session is not None and session == other.candidate.standing.session_id:
        return False
    return one.score - other.score <= MOST_APART


def _are_rivals(one: str, other: str, similarity: float | None) -> bool:
    if similarity is not None and similarity < LEAST_ALIKE:
        return False
    likely = likeness(one, other, similarity)
    return likely >= SAME_FRAME or (likely >= SAME_NAMES and tells_otherwise(one, other))


def _seqs(one: Ranked, other: Ranked) -> tuple[int, int]:
    return one.candidate.standing.seq, other.candidate.standing.seq


def _newness(one: Ranked) -> tuple[float, int]:
    standing = one.candidate.standing
    return (standing.observed_at.timestamp(), standing.seq)
