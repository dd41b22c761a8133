"""
The scores of a word search: BM25, computed from postings that were already read.

Nothing is read here. `WordIndex` reads the postings of one word after the other and adds them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from heapq import nlargest

from recollect.lazy_dataclass import dataclass
from recollect.store.search_index import WordMatch

# Chosen on the tasks of benchmarks/ (docs/log.md, 2026-11-15): a repeated word says little in short
# texts, and long ones must not win by length.
K1 = 0.6
B = 0.9

POSTINGS_BUDGET = 20_000
FEW_PARTITIONS = 8


@dataclass(frozen=True)
class WordMatches:
    """The matches of a query by item, best first, and what is known of the query itself."""

    matches: Mapping[int, WordMatch]
    query_weight: float
    match_count: int  # how many items match
    scores: Mapping[int, float] = field(default_factory=dict)  # of every matching item
    unknown_words: tuple[str, ...] = ()  # of the query: they occur in no item
    match_of: "Callable[[Iterable[int]], dict[int, WordMatch]]" = field(default=lambda _: {})


@dataclass(frozen=True)
class QueryWord:
    """A word of the query: its weight in some partitions, and its items there by term id."""

    text: str
    idf: float
    mean_length: float
    item_counts: Mapping[int, int]

    @cached_property
    def item_count(self) -> int:
        """In how many items it occurs."""
        return sum(self.item_counts.values())

    @cached_property
    def read_count(self) -> int:
        """How many of its postings are read, if it is read in full."""
        if len(self.item_counts) > FEW_PARTITIONS:
            return min(self.item_count, POSTINGS_BUDGET)
        share = POSTINGS_BUDGET // max(len(self.item_counts), 1)
        return sum(min(count, share) for count in self.item_counts.values())


@dataclass
class ScoreTable:
    """The score of each item so far, and a bit mask of the words it has matched."""

    by_item: dict[int, float] = field(default_factory=dict)
    masks: dict[int, int] = field(default_factory=dict)
    words: list[QueryWord] = field(default_factory=list)
    # By mask, the words and their weight: many items match the same ones.
    by_mask: dict[int, tuple[tuple[str, ...], float]] = field(default_factory=dict)

    def add(self, word: QueryWord, postings: Iterable[tuple[int, int, int, int]]) -> None:
        """Add *word* to the scores of the items in *postings*."""
        # BM25, its constants taken out of the loop: this is where a query spends its time.
        scores, masks, bit = self.by_item, self.masks, 1 << len(self.words)
        top, floor, slope = word.idf * (K1 + 1), K1 * (1 - B), K1 * B / word.mean_length
        for _, item_id, times, length in postings:
            score = top * times / (times + floor + slope * length)
            if item_id in scores:
                scores[item_id] += score
                masks[item_id] |= bit
            else:
                scores[item_id] = score
                masks[item_id] = bit
        self.words.append(word)

    def matches(self, words: Sequence[QueryWord], limit: int) -> WordMatches:
        """Return the *limit* best items, best first."""
        occurring = {word.text for word in words if word.item_count}
        return WordMatches(
            self._match_of(best_items(self.by_item, limit)),
            _weight(words),
            len(self.masks),
            self.by_item,
            unknown_words=tuple(word.text for word in words if word.text not in occurring),
            match_of=self._match_of,
        )

    def _match_of(self, item_ids: Iterable[int]) -> dict[int, WordMatch]:
        """Return the matches of those of some items that match."""
        matches = {}
        for item_id in item_ids:
            mask = self.masks.get(item_id)
            if mask is None:
                continue
            if mask not in self.by_mask:
                matched = [word for i, word in enumerate(self.words) if mask >> i & 1]
                texts = tuple(dict.fromkeys(word.text for word in matched))
                self.by_mask[mask] = texts, _weight(matched)
            texts, weight = self.by_mask[mask]
            matches[item_id] = WordMatch(self.by_item[item_id], texts, weight)
        return matches


def best_items(scores: dict[int, float], limit: int) -> list[int]:
    """Return the *limit* items with the highest scores, best first; among equals the newer."""
    pairs = list(scores.items())
    if len(scores) > limit > 0:
        # The scores alone tell where to cut: comparing pairs for all of them took most of the time.
        lowest = nlargest(limit, scores.values())[-1]
        pairs = [pair for pair in pairs if pair[1] >= lowest]
    in_order = sorted(pairs, key=lambda pair: (-pair[1], -pair[0]))
    return [item_id for item_id, _ in in_order[:limit]]


def _weight(words: Sequence[QueryWord]) -> float:
    """Return the total weight of some words; a word that both sides said counts once."""
    weights: dict[str, float] = {}
    for word in words:
        weights[word.text] = max(weights.get(word.text, 0.0), word.idf)
    return sum(weights.values())
