"""
Which lines a summary takes: those that tell most for their length, within the budget.

A line is worth what its words are (rare ones more, numbers and names more), times what its kind is;
words that a taken line has already count for little, so that the next line says something else.
Taking the best one again and again is within a constant of the best choice there is.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from recollect.context.summary.dates import dated
from recollect.context.summary.lines import Line, Section, shortened
from recollect.context.summary.salience import Rarity, words_of

# No heading may take more of the budget than this while others still have something to say.
MOST_SHARE: dict[Section, float] = {
    Section.ASKED: 0.5,
    Section.DECIDED: 0.4,
    Section.TOLD: 0.9,
    Section.FOUND: 0.25,
    Section.DONE: 0.35,
    Section.OPEN: 0.25,
}
REPEATED = 0.1  # what a word is worth that a taken line has already
LENGTH_POWER = 0.8  # 1: only what a token buys counts, and scraps win; 0: long lines win
LENGTH_FLOOR = 60  # characters a line costs whatever it says
LEAST_WORDS = 2  # that carry meaning, of a question
LEAST_TOKENS = 8  # no line is shorter
ROOM = 60  # tokens every heading may take, however small the budget
NEWER = (Section.DECIDED, Section.OPEN, Section.DONE)  # of two alike the newer counts

Count = Callable[[str], int]


class Pool:
    """The best lines under each heading, no more than could ever be taken."""

    def __init__(self, rarity: Rarity, *, most: int) -> None:
        self._rarity = rarity
        self._most = most
        self._best: dict[Section, list[tuple[float, int, Line]]] = {one: [] for one in Section}
        self._added = 0

    def add(self, line: Line) -> None:
        """Take *line* in, and let the least of its heading go when there are too many."""
        words = words_of(line.text)
        if line.section is Section.ASKED and len(words) < LEAST_WORDS and line.text.isascii():
            return  # "Why?" and "Thoughts?" mean nothing by themselves
        self._added += 1
        order = self._added if line.section in NEWER else -self._added
        entry = (
            gain(line, words_of(line.text), self._rarity),
            order,
            replace(line, order=self._added),
        )
        heap = self._best[line.section]
        if len(heap) < self._most:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)

    @property
    def empty(self) -> bool:
        """Say whether no line was added."""
        return self._added == 0

    def lines(self) -> list[Line]:
        """Return what was kept, in the order it was added."""
        kept = [entry for heap in self._best.values() for entry in heap]
        return [line for _, _, line in sorted(kept, key=lambda entry: abs(entry[1]))]


def gain(
    line: Line,
    words: dict[str, float],
    rarity: Rarity,
    taken: Set[str] = frozenset(),
) -> float:
    """Return what *line* with these *words* adds to those already *taken*, for its length."""
    told = sum(
        worth * rarity.of(word) * (REPEATED if word in taken else 1.0)
        for word, worth in words.items()
    )
    length: float = (len(line.text) + LENGTH_FLOOR) ** LENGTH_POWER
    return line.weight * told / length


def choose(
    before: Sequence[Line],
    new: Sequence[Line],
    *,
    rarity: Rarity,
    budget_tokens: int,
    count: Count,
    share_before: float,
) -> list[Line]:
    """Return the lines to take, best first; those of *before* within their share of the budget."""
    purse = _Purse(budget_tokens, share_before, count)
    lines = [*before, *new]
    words = [words_of(line.text) for line in lines]
    taken: set[str] = set()
    heap = [(-gain(line, words[n], rarity), n) for n, line in enumerate(lines)]
    heapq.heapify(heap)
    waiting: list[tuple[Line, bool]] = []
    while heap and purse.left >= LEAST_TOKENS:
        _, place = heapq.heappop(heap)
        now = gain(lines[place], words[place], rarity, taken)
        if heap and now < -heap[0][0] - 1e-12:
            heapq.heappush(heap, (-now, place))  # others have said some of it; it waits its turn
            continue
        line, old = dated(lines[place]), place < len(before)
        if purse.take(line, old=old):
            taken.update(words[place])
        else:
            waiting.append((line, old))
    return purse.filled(waiting)


class _Purse:
    """What is left of the budget, in all and by heading, and what was bought."""

    def __init__(self, budget: int, share_before: float, count: Count) -> None:
        self.left = budget
        self._budget = budget
        self._share_before = share_before
        self._count = count
        self._spent: Counter[Section] = Counter()
        self._spent_before: Counter[Section] = Counter()
        self._bought: list[Line] = []

    def take(self, line: Line, *, old: bool, bounded: bool = True) -> bool:
        """Buy *line* if it may be; *bounded*: its heading and its age have only their share."""
        cost = self._count(f"- {line.text} {line.mark}\n")
        if not self._spent[line.section]:
            cost += self._count(f"{line.section}:\n")
        if cost > self.left or (bounded and not self._may(line.section, cost, old=old)):
            return False
        self.left -= cost
        self._spent[line.section] += cost
        self._spent_before[line.section] += cost if old else 0
        self._bought.append(line)
        return True

    def filled(self, waiting: Sequence[tuple[Line, bool]]) -> list[Line]:
        """Return what was bought, after giving what is left to lines that had to wait."""
        for line, old in sorted(waiting, key=lambda one: one[1]):  # new ones first
            if self.left < LEAST_TOKENS:
                break
            self.take(line, old=old, bounded=False)
        if not self._bought:
            for line, old in waiting[:1]:  # the best there is, cut until it fits
                for most in (120, 80, 60, 40, 20):
                    short = replace(line, text=shortened(line.text, most))
                    if self.take(short, old=old, bounded=False):
                        break
        return self._bought

    def _may(self, section: Section, cost: int, *, old: bool) -> bool:
        """Say whether *section* has its share left, and the summary so far its own of that."""
        most = max(MOST_SHARE[section] * self._budget, ROOM)
        if self._spent[section] + cost > most:
            return False
        return not old or self._spent_before[section] + cost <= max(self._share_before * most, ROOM)
