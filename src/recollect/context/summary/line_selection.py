"""
Select the lines of a summary: the most informative ones for their length, within the budget.

The score of a line grows with the weight of its kind, and less with that of its words (rare words,
numbers and names weigh more). Words that a selected line already contains add little. Greedy
selection of a submodular score is within a constant factor of the optimum.
"""

import heapq
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace

from recollect.context.summary.relative_dates import with_date
from recollect.context.summary.summary_lines import Heading, SummaryLine, shorten
from recollect.context.summary.word_rarity import WordRarity, weighted_words
from recollect.context.token_budget import TokenCounter

# The largest share of the budget a heading may use while other headings have lines left.
MAX_SHARE: dict[Heading, float] = {
    Heading.ASKED: 0.5,
    Heading.STATED: 0.9,
    Heading.FOUND: 0.25,
    Heading.DONE: 0.35,
    Heading.OPEN: 0.3,
}
REPEATED_WORD_WEIGHT = 0.1  # factor for a word that a selected line already contains
LENGTH_POWER = 0.8  # 1 favours short fragments, 0 favours long lines
LENGTH_FLOOR = 60  # characters added to every line's length
# The kind of a line counts more than how rare its words are: "so it is the 21st now" has common
# words only.
WEIGHT_POWER, SCORE_POWER = 1.3, 0.5
MIN_WORDS = 2  # of a question, without stop words
MIN_TOKENS = 8  # shortest possible line
MIN_SECTION_TOKENS = 60  # every heading may use this much
NEWEST_FIRST = (Heading.STATED, Heading.OPEN, Heading.DONE)  # prefer the newer of equal lines


class LinePool:
    """The best lines under each heading, limited in number."""

    def __init__(self, rarity: WordRarity, *, max_lines: int) -> None:
        self._rarity = rarity
        self._max_lines = max_lines
        self._best = {section: list[tuple[float, int, SummaryLine]]() for section in Heading}
        self._added = 0

    def add(self, line: SummaryLine) -> None:
        """Add *line*; if its heading is full, drop the lowest score."""
        words = weighted_words(line.text)
        if line.section is Heading.ASKED and len(words) < MIN_WORDS and line.text.isascii():
            return  # "Why?" and "Thoughts?" mean nothing by themselves
        self._added += 1
        order = self._added if line.section in NEWEST_FIRST else -self._added
        score = marginal_gain(line, words, self._rarity)
        entry = (score, order, replace(line, order=self._added))
        heap = self._best[line.section]
        if len(heap) < self._max_lines:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)

    @property
    def is_empty(self) -> bool:
        """Return whether no line was added."""
        return self._added == 0

    def lines(self) -> list[SummaryLine]:
        """Return the lines kept, in the order they were added."""
        entries = [entry for heap in self._best.values() for entry in heap]
        return [line for _, _, line in sorted(entries, key=lambda entry: abs(entry[1]))]


def marginal_gain(
    line: SummaryLine, words: dict[str, float], rarity: WordRarity, covered: Set[str] = frozenset()
) -> float:
    """Return the score *line* adds to the words already *covered*, relative to its length."""
    score = sum(
        weight * rarity.of(word) * (REPEATED_WORD_WEIGHT if word in covered else 1.0)
        for word, weight in words.items()
    )
    length: float = (len(line.text) + LENGTH_FLOOR) ** LENGTH_POWER
    return float(line.weight**WEIGHT_POWER * score**SCORE_POWER / length)


def select_lines(
    before: Sequence[SummaryLine],
    new: Sequence[SummaryLine],
    *,
    rarity: WordRarity,
    budget_tokens: int,
    count: TokenCounter,
    share_before: float,
) -> list[SummaryLine]:
    """Return the selected lines, best first; *before* may use *share_before* of each section."""
    budget = _LineBudget(budget_tokens, share_before, count)
    lines = [*before, *new]
    words = [weighted_words(line.text) for line in lines]
    covered: set[str] = set()
    heap = [(-marginal_gain(line, words[n], rarity), n) for n, line in enumerate(lines)]
    heapq.heapify(heap)
    deferred: list[tuple[SummaryLine, bool]] = []
    while heap and budget.remaining >= MIN_TOKENS:
        _, index = heapq.heappop(heap)
        score = marginal_gain(lines[index], words[index], rarity, covered)
        if heap and score < -heap[0][0] - 1e-12:
            heapq.heappush(heap, (-score, index))  # its score dropped: another line may be better
            continue
        line, is_old = with_date(lines[index]), index < len(before)
        if budget.try_add(line, is_old=is_old):
            covered.update(words[index])
        else:
            deferred.append((line, is_old))
    return budget.fill(deferred)


class _LineBudget:
    """The tokens left, in total and by heading, and the lines added so far."""

    def __init__(self, budget: int, share_before: float, count: TokenCounter) -> None:
        self.remaining = budget
        self._budget = budget
        self._share_before = share_before
        self._count = count
        self._spent: Counter[Heading] = Counter()
        self._spent_before: Counter[Heading] = Counter()
        self._lines: list[SummaryLine] = []

    def try_add(self, line: SummaryLine, *, is_old: bool, bounded: bool = True) -> bool:
        """Add *line* if it fits; *bounded*: within the shares of its heading and its age."""
        cost = self._count(f"{line.rendered}\n")
        if not self._spent[line.section]:
            cost += self._count(f"{line.section}:\n")
        if cost > self.remaining or (
            bounded and not self._is_within_share(line.section, cost, is_old)
        ):
            return False
        self.remaining -= cost
        self._spent[line.section] += cost
        self._spent_before[line.section] += cost if is_old else 0
        self._lines.append(line)
        return True

    def fill(self, deferred: Sequence[tuple[SummaryLine, bool]]) -> list[SummaryLine]:
        """Add deferred lines while tokens are left, and return all lines."""
        for line, is_old in sorted(deferred, key=lambda entry: entry[1]):  # new ones first
            if self.remaining < MIN_TOKENS:
                break
            self.try_add(line, is_old=is_old, bounded=False)
        if not self._lines:
            for line, is_old in deferred[:1]:  # shorten the best line until it fits
                for max_chars in (120, 80, 60, 40, 20):
                    shortened = replace(line, text=shorten(line.text, max_chars))
                    if self.try_add(shortened, is_old=is_old, bounded=False):
                        break
        return self._lines

    def _is_within_share(self, section: Heading, cost: int, is_old: bool) -> bool:
        """Return whether *section*, and old lines within it, stay within their share."""
        limit = max(MAX_SHARE[section] * self._budget, MIN_SECTION_TOKENS)
        if self._spent[section] + cost > limit:
            return False
        old_limit = max(self._share_before * limit, MIN_SECTION_TOKENS)
        return not is_old or self._spent_before[section] + cost <= old_limit
