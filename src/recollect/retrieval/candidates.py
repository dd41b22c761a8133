"""
Find candidates: what shares words with the question, and what is near it in meaning.

Both legs return only items that stand on visible shelves and pass every filter. A leg asks for its
best few hundred, filters, and asks for more only while too few are left, so a narrow filter never
starves it and a wide one costs one round.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from recollect.domain.retrieval import Filters
from recollect.store.protocol import Near, Shelf, Standing, Tables, WordMatch, WordMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

WANTED = 100  # candidates per leg that survive the filters
FIRST_BY_WORDS = 200
FIRST_BY_MEANING = 400  # of which the exact best ten are found 98 times in 100
MOST = 100_000


@dataclass(frozen=True)
class Meaning:
    """The question as a vector, and the model whose vectors it may be compared with."""

    model_id: int
    vector: "NDArray[np.float32]"


@dataclass(frozen=True)
class Candidate:
    """An item some leg found, with what each leg says of it."""

    standing: Standing
    words: WordMatch | None
    near: Near | None
    coverage: float = 0.0  # share of the question's weight in words that it matches
    reached: str = "visible"


def gather(
    tables: Tables,
    query: str,
    shelves: Sequence[Shelf],
    filters: Filters,
    meaning: Meaning | None,
) -> list[Candidate]:
    """Return what either leg finds on *shelves*, each candidate with the word of both."""
    standings: dict[int, Standing] = {}
    by_words, weight = _word_leg(tables, query, shelves, filters, standings)
    near: dict[int, Near] = {}
    if meaning is not None:
        near = _meaning_leg(tables, meaning, shelves, filters, standings)
        unseen = [seq for seq in by_words if seq not in near]
        near |= tables.vectors.nearness(meaning.model_id, meaning.vector, unseen)
    return [
        Candidate(standing, by_words.get(seq), near.get(seq), coverage(by_words.get(seq), weight))
        for seq, standing in sorted(standings.items())
    ]


def coverage(match: WordMatch | None, question_weight: float) -> float:
    """Return the share of the question's weight in words that *match* has."""
    return match.weight / question_weight if match and question_weight > 0 else 0.0


def _word_leg(
    tables: Tables,
    query: str,
    shelves: Sequence[Shelf],
    filters: Filters,
    standings: dict[int, Standing],
) -> tuple[dict[int, WordMatch], float]:
    told = WordMatches((), 0.0, (), 0)

    def ask(most: int) -> Mapping[int, WordMatch]:
        nonlocal told
        told = tables.words.match(query, shelves, limit=most)
        return {match.seq: match for match in told.matches}

    found = _surviving(tables, FIRST_BY_WORDS, ask, lambda: told.matching, filters, standings)
    return found, told.question_weight


def _meaning_leg(
    tables: Tables,
    meaning: Meaning,
    shelves: Sequence[Shelf],
    filters: Filters,
    standings: dict[int, Standing],
) -> dict[int, Near]:
    def ask(most: int) -> Mapping[int, Near]:
        return tables.vectors.near(meaning.model_id, meaning.vector, shelves, limit=most)

    everything = sum(shelf.items for shelf in shelves)
    return _surviving(tables, FIRST_BY_MEANING, ask, lambda: everything, filters, standings)


def _surviving(
    tables: Tables,
    most: int,
    ask: Callable[[int], Mapping[int, T]],
    total: Callable[[], int],
    filters: Filters,
    standings: dict[int, Standing],
) -> dict[int, T]:
    seen = -1
    while True:
        found = ask(most)
        passed = {standing.seq: standing for standing in tables.memories.standings(found, filters)}
        # Asking for more is of use only while it brings more. By meaning, pieces of one item may
        # crowd others out of a round, so fewer items than asked for are not yet all of them.
        exhausted = len(found) in (seen, total()) or most >= MOST
        if len(passed) >= WANTED or exhausted:
            standings |= passed
            return {seq: value for seq, value in found.items() if seq in passed}
        most, seen = most * 5, len(found)
