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
from recollect.store.protocol import Near, Shelf, Standing, Tables, WordMatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

WANTED = 100  # candidates per leg that survive the filters
FIRST_ROUND = 400
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
    weight = 0.0

    def ask(most: int) -> Mapping[int, WordMatch]:
        nonlocal weight
        found = tables.words.match(query, shelves, limit=most)
        weight = found.question_weight
        return {match.seq: match for match in found.matches}

    return _surviving(tables, ask, filters, standings), weight


def _meaning_leg(
    tables: Tables,
    meaning: Meaning,
    shelves: Sequence[Shelf],
    filters: Filters,
    standings: dict[int, Standing],
) -> dict[int, Near]:
    def ask(most: int) -> Mapping[int, Near]:
        return tables.vectors.near(meaning.model_id, meaning.vector, shelves, limit=most)

    return _surviving(tables, ask, filters, standings)


def _surviving(
    tables: Tables,
    ask: Callable[[int], Mapping[int, T]],
    filters: Filters,
    standings: dict[int, Standing],
) -> dict[int, T]:
    most, seen = FIRST_ROUND, -1
    while True:
        found = ask(most)
        passed = {standing.seq: standing for standing in tables.memories.standings(found, filters)}
        if len(passed) >= WANTED or len(found) == seen or most >= MOST:
            standings |= passed
            return {seq: value for seq, value in found.items() if seq in passed}
        # Fewer matches than asked for by words means there are no more; pieces of one item may
        # crowd the others out of the first round by meaning, so only standing still means an end.
        most, seen = most * 5, len(found)
