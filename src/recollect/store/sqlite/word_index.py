"""
The word index: which words occur in which items, stored per partition and ranked by BM25.

Theory of operation. `terms` holds each word once per partition, with the number of items it occurs
in; `postings` says in which items, and how often. A query reads only the postings of the partitions
it may see, and the weight of a word depends on how rare it is in these partitions. The rarest words
are read first; once the postings read exceed a budget, common words are only looked up for the
items already found, so that the cost of a query is bounded for stores of any size. See
docs/adr/0003.

If a text is the transcript of a conversation, the words of the assistant are indexed separately,
with a prefix, and have less weight (recollect.text.transcript_sides).

Words are split and stemmed by FTS5's unicode61 and Porter tokenizers, called as functions.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import log
from typing import Any

import apsw

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.item_index import ASSISTANT_PREFIX
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import Row, fetch_all, to_json
from recollect.store.values import Partition, WordMatch, WordMatches
from recollect.text.search_words import STOP_WORDS, searchable_text
from recollect.text.transcript_sides import split_sides

# Chosen on the tasks of benchmarks/ (docs/log.md, 2026-11-15): a repeated word says little in short
# texts, and long ones must not win by length.
K1 = 0.6
B = 0.9

ASSISTANT_WEIGHT = 0.3  # of such a word, relative to the same word of a user

MAX_QUERY_CHARS = 8_000
MAX_QUERY_WORDS = 64
MAX_WORD_CHARS = 64
POSTINGS_BUDGET = 20_000
FEW_PARTITIONS = 8

_SQL = query_loader.load("word_index")
_DOCUMENT = apsw.FTS5_TOKENIZE_DOCUMENT
_SCOPES = {scope.value: scope for scope in Scope}  # looked up: cheaper than calling the enum


class SqliteWordIndex:
    """See `recollect.store.indexes.WordIndex`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._tokenizer = db.fts5_tokenizer("porter", ["unicode61"])
        self._stop_terms = frozenset(self._tokens(" ".join(STOP_WORDS)))

    def terms(self, text: str) -> list[str]:
        """Return the index terms of *text*; stop words only if there is nothing else."""
        tokens = [token[:MAX_WORD_CHARS] for token in self._tokens(searchable_text(text))]
        return [token for token in tokens if token not in self._stop_terms] or tokens

    def add(self, kind: ItemKind, owner: Owner, record_id: str, text: str) -> None:
        """Add a new item to the partition of its kind and owner."""
        partition_id = self._partition_id(kind, owner)
        words = self.count_words(text)
        values = {"partition_id": partition_id, "id": record_id, "words": words.length}
        item_id = int(self._db.execute(_SQL["add_item"], values).get)
        self._add_postings(partition_id, item_id, words)

    def reindex(self, kind: ItemKind, owner: Owner, item_id: int, text: str) -> None:
        """Add the postings of an item that has its row already; move it to its partition."""
        partition_id = self._partition_id(kind, owner)
        words = self.count_words(text)
        values = {"item_id": item_id, "partition_id": partition_id, "words": words.length}
        self._db.execute(_SQL["set_length"], values)
        self._add_postings(partition_id, item_id, words)

    def count_words(self, text: str) -> "WordCounts":
        """Return the words of *text* as they are indexed."""
        user_text, assistant_text = split_sides(text)
        by_assistant = self.terms(assistant_text) if assistant_text else []
        prefixed = Counter(ASSISTANT_PREFIX + term for term in by_assistant)
        return WordCounts(Counter(self.terms(user_text)), prefixed)

    def _add_postings(self, partition_id: int, item_id: int, words: "WordCounts") -> None:
        grown = {"partition_id": partition_id, "words": words.length}
        self._db.execute(_SQL["grow_partition"], grown)
        for counts in filter(None, (words.by_user, words.by_assistant)):
            values = {"partition_id": partition_id, "item_id": item_id, "words": to_json(counts)}
            self._db.execute(_SQL["count_terms"], values)
            self._db.execute(_SQL["add_postings"], values | {"length": counts.total()})

    def remove(self, record_id: str, text: str) -> int:
        """Delete an item with its postings and embeddings; return how many postings it had."""
        return self.remove_many({record_id: text})

    def remove_many(self, texts: Mapping[str, str]) -> int:
        """Delete items, given as texts by record id; return how many postings they had."""
        return self._remove(texts, ("remove_items",))

    def replace(
        self, kind: ItemKind, owner: Owner, record_id: str, *, former_text: str, text: str
    ) -> None:
        """
        Index another text of an item, which waits to be embedded again.

        It keeps its id, because results of equal score are ordered by it: a rebuild from the rows
        must give the same order.
        """
        row = self._db.execute(_SQL["items_of"], {"ids": to_json([record_id])}).fetchone()
        if row is None:
            self.add(kind, owner, record_id, text)
            return
        self._remove({record_id: former_text}, ("remove_embeddings", "mark_unembedded"))
        self.reindex(kind, owner, row[1], text)

    def _remove(self, texts: Mapping[str, str], item_queries: Sequence[str]) -> int:
        """Delete the postings of items, and run some queries on the items; return the count."""
        rows = fetch_all(self._db.execute(_SQL["items_of"], {"ids": to_json(list(texts))}))
        removed = 0
        for partition_id in sorted({row[2] for row in rows}):
            items = {
                item_id: (record_id, length)
                for record_id, item_id, item_partition, length in rows
                if item_partition == partition_id
            }
            pairs = [
                (item_id, word)
                for item_id, (record_id, _) in items.items()
                for word in self._indexed_words(texts[record_id])
            ]
            values = {"partition_id": partition_id, "pairs": to_json(pairs)}
            term_ids = [row[0] for row in self._db.execute(_SQL["remove_postings"], values)]
            counts = {"counts": to_json(list(Counter(term_ids).items()))}
            self._db.execute(_SQL["uncount_terms"], counts)
            self._db.execute(_SQL["drop_unused_terms"], counts)
            for name in item_queries:
                self._db.execute(_SQL[name], {"item_ids": to_json(list(items))})
            shrunk = {"items": len(items), "words": sum(length for _, length in items.values())}
            self._db.execute(_SQL["shrink_partition"], {"partition_id": partition_id, **shrunk})
            removed += len(term_ids)
        return removed

    def _indexed_words(self, text: str) -> set[str]:
        # Older versions indexed a transcript as one text: remove the words of that form as well.
        return {*self.count_words(text).words, *self.terms(text)}

    def drop_partition(self, kind: ItemKind, owner: Owner) -> int:
        values = {"kind": kind.value, "scope": owner.scope.value, "owner_id": owner.id}
        row = self._db.execute(_SQL["partition"], values).fetchone()
        if row is None:
            return 0
        items = int(self._db.execute(_SQL["count_items"], {"partition_id": row[0]}).get)
        for step in ("drop_postings", "drop_terms", "drop_items", "drop_partition"):
            self._db.execute(_SQL[step], {"partition_id": row[0]})
        return items

    def partitions(self, kind: ItemKind, owners: Sequence[Owner] | None) -> list[Partition]:
        if owners is None:
            rows = self._db.execute(_SQL["all_partitions"], {"kind": kind.value})
        else:
            pairs = to_json([[owner.scope.value, owner.id] for owner in owners])
            values = {"kind": kind.value, "owners": pairs}
            rows = self._db.execute(_SQL["partitions_of_owners"], values)
        return [_partition(row) for row in rows]

    def match(
        self,
        query: str,
        partitions: Sequence[Partition],
        *,
        limit: int,
        budget: int = POSTINGS_BUDGET,
        among: Sequence[int] | None = None,
        also: Collection[int] = (),
    ) -> WordMatches:
        words = self._query_words(query, partitions)
        id_range = None if among is None else _IdRange.around(among)
        scores = _ScoreTable()
        postings_read = 0
        for word in words:
            most = word.item_count if id_range is None else min(word.item_count, id_range.length)
            if scores.by_item and postings_read + most > budget:
                scores.look_up(self._db, word, {*_best(scores.by_item, limit), *also})
            elif id_range is not None:
                postings_read += scores.read_range(self._db, word, id_range)
            else:
                postings_read += scores.read(self._db, word)
        best = _best(scores.by_item, limit)
        others = sorted({item_id for item_id in also if item_id in scores.by_item}.difference(best))
        return _matches(words, scores, best + others)

    def match_item(self, query: str, partitions: Sequence[Partition], item_id: int) -> WordMatches:
        words = self._query_words(query, partitions)
        scores = _ScoreTable()
        for word in words:
            scores.look_up(self._db, word, [item_id])
        return _matches(words, scores, [item_id] if scores.masks else [])

    def _query_words(self, query: str, partitions: Sequence[Partition]) -> "list[_QueryWord]":
        terms = list(dict.fromkeys(self.terms(query[:MAX_QUERY_CHARS])))
        total = sum(partition.item_count for partition in partitions)
        if not terms or not total:
            return []
        mean = max(sum(partition.word_count for partition in partitions) / total, 1.0)
        prefixed_terms = [ASSISTANT_PREFIX + term for term in terms]
        ids: dict[str, list[int]] = {term: [] for term in terms + prefixed_terms}
        counts = dict.fromkeys(ids, 0)
        for term, term_id, items in self._find_terms(list(ids), partitions):
            ids[term].append(term_id)
            counts[term] += items
        spellings = self._spellings(query[:MAX_QUERY_CHARS])
        words = []
        for term, prefixed in zip(terms, prefixed_terms, strict=True):
            text, items = spellings.get(term, term), counts[term]
            idf = log(1 + (total - items + 0.5) / (items + 0.5))
            words.append(_QueryWord(text, idf, items, mean, tuple(ids[term])))
            if ids[prefixed]:
                weight, items = ASSISTANT_WEIGHT * idf, counts[prefixed]
                words.append(_QueryWord(text, weight, items, mean, tuple(ids[prefixed])))
        # The rarest first; words that occur nowhere have the most weight and cost nothing.
        return sorted(words, key=lambda word: (word.item_count, word.text))[:MAX_QUERY_WORDS]

    def _find_terms(
        self, terms: list[str], partitions: Sequence[Partition]
    ) -> list[tuple[str, int, int]]:
        ids = [partition.id for partition in partitions]
        if len(ids) <= FEW_PARTITIONS:
            values = {"words": to_json(terms), "partition_ids": to_json(ids)}
            return fetch_all(self._db.execute(_SQL["find_terms"], values))
        visible = set(ids)
        rows = self._db.execute(_SQL["find_terms_anywhere"], {"words": to_json(terms)})
        return [(term, id_, count) for term, id_, count, part_id in rows if part_id in visible]

    def _partition_id(self, kind: ItemKind, owner: Owner) -> int:
        values = {"kind": kind.value, "scope": owner.scope.value, "owner_id": owner.id}
        row = self._db.execute(_SQL["partition"], values).fetchone()
        return int(row[0] if row else self._db.execute(_SQL["add_partition"], values).get)

    def _spellings(self, query: str) -> dict[str, str]:
        """Return, for each stem, how the query first spells it."""
        utf8 = searchable_text(query).encode()
        tokens: Any = self._tokenizer(
            utf8, _DOCUMENT, None, include_offsets=True, include_colocated=False
        )
        spellings: dict[str, str] = {}
        for start, end, stem in tokens:
            spellings.setdefault(stem[:MAX_WORD_CHARS], utf8[start:end].decode(errors="replace"))
        return spellings

    def _tokens(self, text: str) -> list[str]:
        return self._tokenizer(  # type: ignore[return-value]  # a flat list, without offsets
            text.encode(), _DOCUMENT, None, include_offsets=False, include_colocated=False
        )


@dataclass(frozen=True)
class WordCounts:
    """The words of one item and how often each occurs, by users and by the assistant."""

    by_user: Counter[str]
    by_assistant: Counter[str]  # with ASSISTANT_PREFIX

    @property
    def words(self) -> Counter[str]:
        """All words; those of the assistant have a prefix."""
        return self.by_user + self.by_assistant

    @property
    def length(self) -> int:
        """The length of the item, by which BM25 normalises a match."""
        return self.by_user.total()


@dataclass(frozen=True)
class _QueryWord:
    """A word of the query: its weight in the visible partitions, and its term ids there."""

    text: str
    idf: float
    item_count: int
    mean_length: float
    term_ids: tuple[int, ...]


@dataclass(frozen=True)
class _IdRange:
    """Some items with the lowest and the highest of their ids; ids of one period are close."""

    item_ids: frozenset[int]
    first: int
    last: int

    @classmethod
    def around(cls, item_ids: Sequence[int]) -> "_IdRange":
        return cls(frozenset(item_ids), min(item_ids, default=0), max(item_ids, default=-1))

    @property
    def length(self) -> int:
        return self.last - self.first + 1


@dataclass
class _ScoreTable:
    """The score of each item so far, and a bit mask of the words it has matched."""

    by_item: dict[int, float] = field(default_factory=dict)
    masks: dict[int, int] = field(default_factory=dict)
    words: list[_QueryWord] = field(default_factory=list)

    def read(self, db: apsw.Connection, word: _QueryWord) -> int:
        """Add every posting of *word*, the newest first if there are too many; return how many."""
        postings: list[tuple[int, int, int]] = []
        if len(word.term_ids) <= FEW_PARTITIONS:
            # Each partition has its share, so that a large one cannot hide a small one.
            for term_id in word.term_ids:
                values = {"term_id": term_id, "most": POSTINGS_BUDGET // len(word.term_ids)}
                postings += fetch_all(db.execute(_SQL["postings"], values))
        else:
            many = {"term_ids": to_json(word.term_ids), "most": POSTINGS_BUDGET}
            # Sorting costs as much as reading, and only a limit needs it.
            over_budget = word.item_count > POSTINGS_BUDGET
            name = "postings_of_many" if over_budget else "every_posting_of_many"
            postings = fetch_all(db.execute(_SQL[name], many))
        self._add(word, postings)
        return len(postings)

    def read_range(self, db: apsw.Connection, word: _QueryWord, id_range: _IdRange) -> int:
        """Add the postings of *word* for the items of a range; return how many were read."""
        postings_read = 0
        postings: list[tuple[int, int, int]] = []
        for term_id in word.term_ids:
            values = {"term_id": term_id, "first": id_range.first, "last": id_range.last}
            limited = values | {"most": POSTINGS_BUDGET}
            some = fetch_all(db.execute(_SQL["postings_between"], limited))
            if len(some) == POSTINGS_BUDGET:  # too common to be read: looked up instead
                item_ids = to_json(sorted(id_range.item_ids))
                looked_up = {"term_ids": to_json([term_id]), "item_ids": item_ids}
                some = fetch_all(db.execute(_SQL["postings_among"], looked_up))
            postings += [posting for posting in some if posting[0] in id_range.item_ids]
            postings_read += len(some)
        self._add(word, postings)
        return postings_read

    def look_up(self, db: apsw.Connection, word: _QueryWord, item_ids: Iterable[int]) -> None:
        """Add *word* to the scores of these items only."""
        values = {"term_ids": to_json(word.term_ids), "item_ids": to_json(sorted(item_ids))}
        self._add(word, fetch_all(db.execute(_SQL["postings_among"], values)))

    def _add(self, word: _QueryWord, postings: list[tuple[int, int, int]]) -> None:
        # BM25, its constants taken out of the loop: this is where a query spends its time.
        scores, masks, bit = self.by_item, self.masks, 1 << len(self.words)
        top, floor, slope = word.idf * (K1 + 1), K1 * (1 - B), K1 * B / word.mean_length
        for item_id, times, length in postings:
            score = top * times / (times + floor + slope * length)
            if item_id in scores:
                scores[item_id] += score
                masks[item_id] |= bit
            else:
                scores[item_id] = score
                masks[item_id] = bit
        self.words.append(word)


def _best(scores: dict[int, float], limit: int) -> list[int]:
    """Return the *limit* items with the highest scores, best first; among equals the newer."""
    pairs = list(scores.items())
    if len(scores) > limit > 0:
        # The scores alone tell where to cut: comparing pairs for all of them took most of the time.
        lowest = nlargest(limit, scores.values())[-1]
        pairs = [pair for pair in pairs if pair[1] >= lowest]
    in_order = sorted(pairs, key=lambda pair: (-pair[1], -pair[0]))
    return [item_id for item_id, _ in in_order[:limit]]


def _matches(words: list[_QueryWord], scores: _ScoreTable, item_ids: list[int]) -> WordMatches:
    by_mask: dict[int, tuple[tuple[str, ...], float]] = {}  # many items match the same words
    matches = []
    for item_id in item_ids:
        mask = scores.masks[item_id]
        if mask not in by_mask:
            matched = [word for i, word in enumerate(scores.words) if mask >> i & 1]
            by_mask[mask] = tuple(dict.fromkeys(word.text for word in matched)), _weight(matched)
        texts, weight = by_mask[mask]
        matches.append(WordMatch(item_id, scores.by_item[item_id], texts, weight))
    occurring = {word.text for word in words if word.item_count}
    return WordMatches(
        tuple(matches),
        _weight(words),
        len(scores.masks),
        scores.by_item,
        unknown_words=tuple(word.text for word in words if word.text not in occurring),
    )


def _weight(words: list[_QueryWord]) -> float:
    """Return the total weight of some words; a word that both sides said counts once."""
    weights: dict[str, float] = {}
    for word in words:
        weights[word.text] = max(weights.get(word.text, 0.0), word.idf)
    return sum(weights.values())


def _partition(row: Row) -> Partition:
    partition_id, scope, owner_id, item_count, word_count = row
    return Partition(partition_id, Owner(_SCOPES[scope], owner_id), item_count, word_count)
