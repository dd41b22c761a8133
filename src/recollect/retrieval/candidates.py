"""
Find candidates: what shares words with the question, and what is near it in meaning.

Both legs return only items that stand on visible shelves and that the caller admits (memories and
messages have different filters). A leg asks for its best hundred or so, filters, and asks for more
only while too few are left, so a narrow filter never starves it and a wide one costs one round.
Of what one leg finds the other has its say too: what is near is not without words because a hundred
others have more of them. Where the caller knows the few items that can pass at all (*among*), the
legs look at nothing else.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from recollect.store.protocol import Tables
from recollect.store.values import Backdrop, Near, Shelf, WordMatch, WordMatches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")


class HasNumber(Protocol):
    """What ranking knows of an item: at least the number by which indexes know it."""

    @property
    def seq(self) -> int:
        """The number."""
        ...


S = TypeVar("S", bound=HasNumber)
Admit = Callable[[Iterable[int]], Sequence[S]]  # of some items, those that pass the filters

LEAST_WANTED = 100  # candidates of each leg that pass the filters, however few are to be returned
SPARE = 1.2  # so many more are asked for at once, since some may not pass
LEAST_GROWTH, MOST_GROWTH = 1.5, 20.0  # of what is asked for, from one round to the next
MOST = 100_000
NOBODY = -1  # the number of no item
NOTHING_NEAR = Backdrop(0.0, 1.0)  # where meaning is not compared


@dataclass(frozen=True)
class Meaning:
    """The question as a vector, and the model whose vectors it may be compared with."""

    model_id: int
    vector: "NDArray[np.float32]"


@dataclass(frozen=True)
class Candidate(Generic[S]):
    """An item some leg found, with what each leg says of it."""

    standing: S
    words: WordMatch | None
    near: Near | None
    coverage: float = 0.0  # share of the question's weight in words that it matches
    reached: str = "visible"
    before: float = 0.0  # BM25 of what was said or written just before it
    follows: int = NOBODY  # the item that was


@dataclass(frozen=True)
class Gathered(Generic[S]):
    """What the legs found, how near items usually are to the question, and what none has of it."""

    candidates: list[Candidate[S]]
    backdrop: Backdrop
    unknown: tuple[str, ...] = ()  # words of the question that occur nowhere here


def gather(
    tables: Tables,
    query: str,
    shelves: Sequence[Shelf],
    admit: Admit[S],
    meaning: Meaning | None,
    *,
    limit: int,
    among: Sequence[int] | None = None,
    before: Callable[[Iterable[int]], Mapping[int, int]] | None = None,
) -> Gathered[S]:
    """
    Return what either leg finds on *shelves*, enough to rank the best *limit* of them.

    *before* names, of some items, those that stand just before them.
    """
    standings: dict[int, S] = {}
    door = _Admission(admit, max(LEAST_WANTED, limit), standings)
    near = _meaning_leg(tables, meaning, shelves, door, among) if meaning else {}
    by_words, told = _word_leg(tables, query, shelves, door, among, also=near)
    backdrop = NOTHING_NEAR
    if meaning is not None:
        unseen = [seq for seq in by_words if seq not in near]
        near |= tables.vectors.nearness(meaning.model_id, meaning.vector, unseen, shelves)
        backdrop = tables.vectors.backdrop(meaning.model_id, meaning.vector, shelves)
    earlier = before(standings) if before is not None and told.scores else {}
    candidates = [
        Candidate(
            standing,
            by_words.get(seq),
            near.get(seq),
            coverage(by_words.get(seq), told.question_weight),
            before=told.scores.get(earlier.get(seq, NOBODY), 0.0),
            follows=earlier.get(seq, NOBODY),
        )
        for seq, standing in sorted(standings.items())
    ]
    return Gathered(candidates, backdrop, told.unknown)


def coverage(match: WordMatch | None, question_weight: float) -> float:
    """Return the share of the question's weight in words that *match* has."""
    return match.weight / question_weight if match and question_weight > 0 else 0.0


@dataclass(frozen=True)
class _Admission(Generic[S]):
    """Lets through what passes the filters, and notes the standing of each that did."""

    admit: Admit[S]
    wanted: int
    standings: dict[int, S]

    def until_enough(
        self, ask: Callable[[int], Mapping[int, T]], total: Callable[[], int]
    ) -> dict[int, T]:
        """Ask for more and more until enough pass or there is no more."""
        most, seen = int(self.wanted * SPARE), -1
        standings: dict[int, S | None] = {}
        while True:
            found = ask(most)
            unknown = [seq for seq in found if seq not in standings]
            standings |= dict.fromkeys(unknown)
            standings |= {one.seq: one for one in self.admit(unknown)}
            passed = {seq: one for seq in found if (one := standings[seq]) is not None}
            # Asking for more is of use only while it brings more. By meaning, pieces of one item
            # may crowd others out of a round, so fewer than asked for are not yet all of them.
            exhausted = len(found) in (seen, total()) or most >= MOST
            if len(passed) >= self.wanted or exhausted:
                self.standings.update(passed)
                return {seq: value for seq, value in found.items() if seq in passed}
            if len(found) < most:
                most, seen = 5 * most, len(found)
            else:
                most, seen = int(most * self._growth(len(passed))), -1

    def _growth(self, passed: int) -> float:
        """Return how many times more to ask for, if as many of the next pass as did so far."""
        needed = SPARE * self.wanted / max(passed, 1)
        return min(max(needed, LEAST_GROWTH), MOST_GROWTH)


def _word_leg(
    tables: Tables,
    query: str,
    shelves: Sequence[Shelf],
    door: "_Admission[S]",
    among: Sequence[int] | None,
    also: Collection[int],
) -> tuple[dict[int, WordMatch], WordMatches]:
    told = WordMatches((), 0.0, 0)

    def ask(most: int) -> Mapping[int, WordMatch]:
        nonlocal told
        told = tables.words.match(query, shelves, limit=most, among=among, also=also)
        return {match.seq: match for match in told.matches[:most]}

    found = door.until_enough(ask, lambda: told.matching)
    return found | {match.seq: match for match in told.matches if match.seq in also}, told


def _meaning_leg(
    tables: Tables,
    meaning: Meaning,
    shelves: Sequence[Shelf],
    door: "_Admission[S]",
    among: Sequence[int] | None,
) -> dict[int, Near]:
    everything = sum(shelf.items for shelf in shelves) if among is None else len(among)

    def ask(most: int) -> Mapping[int, Near]:
        return tables.vectors.near(
            meaning.model_id, meaning.vector, shelves, limit=most, among=among
        )

    return door.until_enough(ask, lambda: everything)
