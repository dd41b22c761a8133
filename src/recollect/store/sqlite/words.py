"""
The word index: which words occur where, kept per shelf, ranked by BM25.

Theory of operation. `terms` holds each word once per shelf with the number of items it occurs in;
`postings` says in which items and how often. A question reads only the postings of the shelves it
may see, and a word is rare or common as it is *there*. The rarest words come first; once the
postings read exceed a budget, the common ones only add to the score of items already found, by
look-up, so the cost of a question is bounded however large the store. See docs/adr/0003.

Where a text is the transcript of a conversation, what the assistant said is indexed apart, under
words of its own, and weighs less (recollect.text.sides).

Words are SQLite's own: FTS5's unicode61 and Porter tokenizers, called as functions.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from math import log
from typing import Any

import apsw

from recollect.domain.scope import ItemKind, Owner, Scope
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import Row, rows, to_json
from recollect.store.values import Shelf, WordMatch, WordMatches
from recollect.text.sides import sides
from recollect.text.words import STOP_WORDS, searchable

# Chosen on the tasks of benchmarks/ (docs/log.md, 2026-11-15): a repeated word says little in short
# texts, and long ones must not win by length.
K1 = 0.6
B = 0.9

ASIDE = "~"  # before a word of the assistant's side; no word of the tokenizer begins with it
ASIDE_SHARE = 0.3  # what such a word weighs

MAX_QUERY_CHARS = 8_000
MAX_QUERY_WORDS = 64
MAX_WORD_CHARS = 64
POSTINGS_BUDGET = 20_000
FEW_SHELVES = 8

_SQL = queries.load("words")
_SCOPES = {scope.value: scope for scope in Scope}  # looked up: cheaper than calling the enum


class SqliteWords:
    """See `recollect.store.protocol.Words`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._tokenizer = db.fts5_tokenizer("porter", ["unicode61"])
        self._stop = frozenset(self._tokens(" ".join(STOP_WORDS)))

    def terms(self, text: str) -> list[str]:
        """Return the index words of *text*; stop words only if there is nothing else."""
        tokens = [token[:MAX_WORD_CHARS] for token in self._tokens(searchable(text))]
        return [token for token in tokens if token not in self._stop] or tokens

    def add(self, kind: ItemKind, owner: Owner, item_id: str, text: str) -> None:
        """Put a new item on its owner's shelf."""
        shelf_id = self._shelf_id(kind, owner)
        entry = self.entry(text)
        values = {"shelf_id": shelf_id, "id": item_id, "words": entry.length}
        self._enter(shelf_id, int(self._db.execute(_SQL["add_item"], values).get), entry)

    def index_again(self, kind: ItemKind, owner: Owner, seq: int, text: str) -> None:
        """Enter the words of an item that has its row already, on its owner's shelf."""
        shelf_id = self._shelf_id(kind, owner)
        entry = self.entry(text)
        values = {"seq": seq, "shelf_id": shelf_id, "words": entry.length}
        self._db.execute(_SQL["set_length"], values)
        self._enter(shelf_id, seq, entry)

    def entry(self, text: str) -> "Entry":
        """Return what is entered for *text*."""
        said, answered = sides(text)
        aside = Counter(ASIDE + term for term in self.terms(answered)) if answered else Counter()
        return Entry(Counter(self.terms(said)), aside)

    def _enter(self, shelf_id: int, seq: int, entry: "Entry") -> None:
        self._db.execute(_SQL["grow_shelf"], {"shelf_id": shelf_id, "words": entry.length})
        for words in filter(None, (entry.said, entry.aside)):
            values = {"shelf_id": shelf_id, "seq": seq, "words": to_json(words)}
            self._db.execute(_SQL["count_terms"], values)
            self._db.execute(_SQL["add_postings"], values | {"length": words.total()})

    def remove(self, item_id: str, text: str) -> int:
        """Take an item off its shelf with everything derived from it; return its postings."""
        row = self._db.execute(_SQL["item"], {"id": item_id}).fetchone()
        if row is None:
            return 0
        seq, shelf_id, length = row
        # Of a transcript also the words it has as one text: so it was indexed by older versions.
        words = {**self.entry(text).words, **Counter(self.terms(text))}
        values = {"seq": seq, "shelf_id": shelf_id, "words": to_json(words)}
        self._db.execute(_SQL["uncount_terms"], values)
        self._db.execute(_SQL["remove_postings"], values)
        removed = self._db.changes()
        self._db.execute(_SQL["drop_unused_terms"], values)
        self._db.execute(_SQL["remove_item"], values)
        self._db.execute(_SQL["shrink_shelf"], {"shelf_id": shelf_id, "words": length})
        return removed

    def drop_shelf(self, kind: ItemKind, owner: Owner) -> int:
        """Take everything off an owner's shelf at once; return how many items there were."""
        values = {"kind": kind.value, "scope": owner.scope.value, "owner_id": owner.id}
        row = self._db.execute(_SQL["shelf"], values).fetchone()
        if row is None:
            return 0
        items = int(self._db.execute(_SQL["count_items"], {"shelf_id": row[0]}).get)
        for step in ("drop_postings", "drop_terms", "drop_items", "drop_shelf"):
            self._db.execute(_SQL[step], {"shelf_id": row[0]})
        return items

    def shelves(self, kind: ItemKind, owners: Sequence[Owner] | None) -> list[Shelf]:
        """Return the shelves of *owners* that hold anything; of everybody where None."""
        if owners is None:
            found = self._db.execute(_SQL["all_shelves"], {"kind": kind.value})
        else:
            pairs = to_json([[owner.scope.value, owner.id] for owner in owners])
            found = self._db.execute(_SQL["some_shelves"], {"kind": kind.value, "owners": pairs})
        return [_shelf(row) for row in found]

    def match(
        self,
        query: str,
        shelves: Sequence[Shelf],
        *,
        limit: int,
        budget: int = POSTINGS_BUDGET,
        among: Sequence[int] | None = None,
        also: Collection[int] = (),
    ) -> WordMatches:
        """
        Return the *limit* items on *shelves* that match *query* best, best first.

        About *budget* postings are read, those of the rarest words; the others are looked up. Where
        *among* is given, other items are not looked at. Those of *also* that match follow the best.
        """
        words = self._query_words(query, shelves)
        stretch = None if among is None else _Stretch.around(among)
        tally = _Tally()
        read = 0
        for word in words:
            most = word.items if stretch is None else min(word.items, stretch.length)
            if tally.scores and read + most > budget:
                tally.look_up(self._db, word, {*_best(tally.scores, limit), *also})
            elif stretch is not None:
                read += tally.read_in(self._db, word, stretch)
            else:
                read += tally.read(self._db, word)
        best = _best(tally.scores, limit)
        others = sorted({seq for seq in also if seq in tally.scores}.difference(best))
        return _matches(words, tally, best + others)

    def match_item(self, query: str, shelves: Sequence[Shelf], seq: int) -> WordMatches:
        """Return how one item matches *query*, if it shares any word with it."""
        words = self._query_words(query, shelves)
        tally = _Tally()
        for word in words:
            tally.look_up(self._db, word, [seq])
        return _matches(words, tally, [seq] if tally.masks else [])

    def _query_words(self, query: str, shelves: Sequence[Shelf]) -> "list[_Word]":
        terms = list(dict.fromkeys(self.terms(query[:MAX_QUERY_CHARS])))
        total = sum(shelf.items for shelf in shelves)
        if not terms or not total:
            return []
        mean = max(sum(shelf.words for shelf in shelves) / total, 1.0)
        asides = [ASIDE + term for term in terms]
        ids: dict[str, list[int]] = {term: [] for term in terms + asides}
        counts = dict.fromkeys(ids, 0)
        for term, term_id, items in self._find(list(ids), shelves):
            ids[term].append(term_id)
            counts[term] += items
        spelled = self._spellings(query[:MAX_QUERY_CHARS])
        words = []
        for term, aside in zip(terms, asides, strict=True):
            text, items = spelled.get(term, term), counts[term]
            idf = log(1 + (total - items + 0.5) / (items + 0.5))
            words.append(_Word(text, idf, items, mean, tuple(ids[term])))
            if ids[aside]:
                share = ASIDE_SHARE * idf
                words.append(_Word(text, share, counts[aside], mean, tuple(ids[aside])))
        # The rarest first; words found nowhere weigh most and cost nothing.
        return sorted(words, key=lambda word: (word.items, word.text))[:MAX_QUERY_WORDS]

    def _find(self, terms: list[str], shelves: Sequence[Shelf]) -> list[tuple[str, int, int]]:
        if len(shelves) <= FEW_SHELVES:
            values = {"words": to_json(terms), "shelves": to_json([s.id for s in shelves])}
            return rows(self._db.execute(_SQL["find_terms"], values))
        wanted = {shelf.id for shelf in shelves}
        found = self._db.execute(_SQL["find_terms_anywhere"], {"words": to_json(terms)})
        return [(term, term_id, items) for term, term_id, items, shelf in found if shelf in wanted]

    def _shelf_id(self, kind: ItemKind, owner: Owner) -> int:
        values = {"kind": kind.value, "scope": owner.scope.value, "owner_id": owner.id}
        row = self._db.execute(_SQL["shelf"], values).fetchone()
        return int(row[0] if row else self._db.execute(_SQL["add_shelf"], values).get)

    def _spellings(self, query: str) -> dict[str, str]:
        """Return, for each stem, how the question first spells it."""
        utf8 = searchable(query).encode()
        found: Any = self._tokenizer(
            utf8, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=True, include_colocated=False
        )
        spelled: dict[str, str] = {}
        for start, end, stem in found:
            spelled.setdefault(stem[:MAX_WORD_CHARS], utf8[start:end].decode(errors="replace"))
        return spelled

    def _tokens(self, text: str) -> list[str]:
        return self._tokenizer(  # type: ignore[return-value]  # a flat list, as asked for
            text.encode(),
            apsw.FTS5_TOKENIZE_DOCUMENT,
            None,
            include_offsets=False,
            include_colocated=False,
        )


@dataclass(frozen=True)
class Entry:
    """The words of one item, and how often each occurs: what people said, and an assistant."""

    said: Counter[str]
    aside: Counter[str]

    @property
    def words(self) -> Counter[str]:
        """All of them; those of the assistant are marked."""
        return self.said + self.aside

    @property
    def length(self) -> int:
        """The length of the item, against which a match is weighed."""
        return self.said.total()


@dataclass(frozen=True)
class _Word:
    """A word of the question: how much it weighs here, and under which ids it is indexed."""

    text: str
    idf: float
    items: int
    mean_length: float
    term_ids: tuple[int, ...]


@dataclass(frozen=True)
class _Stretch:
    """Some items, and the least and the greatest of their numbers: what was said at one time."""

    seqs: frozenset[int]
    first: int
    last: int

    @classmethod
    def around(cls, seqs: Sequence[int]) -> "_Stretch":
        return cls(frozenset(seqs), min(seqs, default=0), max(seqs, default=-1))

    @property
    def length(self) -> int:
        return self.last - self.first + 1


@dataclass
class _Tally:
    """Scores as they add up, and by bit which words each item has matched."""

    scores: dict[int, float] = field(default_factory=dict)
    masks: dict[int, int] = field(default_factory=dict)
    words: list[_Word] = field(default_factory=list)

    def read(self, db: apsw.Connection, word: _Word) -> int:
        """Add every posting of *word*, the newest first if there are too many; say how many."""
        found: list[tuple[int, int, int]] = []
        if len(word.term_ids) <= FEW_SHELVES:
            # Each shelf has its share, so that a large one cannot hide a small one.
            for term_id in word.term_ids:
                values = {"term_id": term_id, "most": POSTINGS_BUDGET // len(word.term_ids)}
                found += rows(db.execute(_SQL["postings"], values))
        else:
            many = {"term_ids": to_json(word.term_ids), "most": POSTINGS_BUDGET}
            # Sorting costs as much as reading, and only a bound needs it.
            by = "postings_of_many" if word.items > POSTINGS_BUDGET else "every_posting_of_many"
            found = rows(db.execute(_SQL[by], many))
        self._add(word, found)
        self.words.append(word)
        return len(found)

    def read_in(self, db: apsw.Connection, word: _Word, stretch: _Stretch) -> int:
        """Add the postings of *word* in a stretch of items; say how many were read."""
        read = 0
        found: list[tuple[int, int, int]] = []
        for term_id in word.term_ids:
            values = {"term_id": term_id, "first": stretch.first, "last": stretch.last}
            some = rows(db.execute(_SQL["postings_between"], values | {"most": POSTINGS_BUDGET}))
            if len(some) == POSTINGS_BUDGET:  # too common to be read: looked up instead
                among = {"term_ids": to_json([term_id]), "seqs": to_json(sorted(stretch.seqs))}
                some = rows(db.execute(_SQL["postings_among"], among))
            found += [posting for posting in some if posting[0] in stretch.seqs]
            read += len(some)
        self._add(word, found)
        self.words.append(word)
        return read

    def look_up(self, db: apsw.Connection, word: _Word, seqs: Iterable[int]) -> None:
        """Add *word* to the items *seqs*, and to no others."""
        values = {"term_ids": to_json(word.term_ids), "seqs": to_json(sorted(seqs))}
        self._add(word, rows(db.execute(_SQL["postings_among"], values)))
        self.words.append(word)

    def _add(self, word: _Word, found: list[tuple[int, int, int]]) -> None:
        # BM25, its constants taken out of the loop: this is where a question spends its time.
        scores, masks, bit = self.scores, self.masks, 1 << len(self.words)
        top, floor, slope = word.idf * (K1 + 1), K1 * (1 - B), K1 * B / word.mean_length
        for seq, times, length in found:
            score = top * times / (times + floor + slope * length)
            if seq in scores:
                scores[seq] += score
                masks[seq] |= bit
            else:
                scores[seq] = score
                masks[seq] = bit


def _best(scores: dict[int, float], most: int) -> list[int]:
    """Return the *most* items with the highest scores, best first; of equals, the newer first."""
    pairs = list(scores.items())
    if len(scores) > most > 0:
        # The scores alone say where to cut: comparing pairs for all of them took most of the time.
        bar = nlargest(most, scores.values())[-1]
        pairs = [pair for pair in pairs if pair[1] >= bar]
    in_order = sorted(pairs, key=lambda pair: (-pair[1], -pair[0]))
    return [seq for seq, _ in in_order[:most]]


def _matches(words: "list[_Word]", tally: _Tally, seqs: list[int]) -> WordMatches:
    told: dict[int, tuple[tuple[str, ...], float]] = {}  # many items match the same words
    matches = []
    for seq in seqs:
        mask = tally.masks[seq]
        if mask not in told:
            matched = [word for i, word in enumerate(tally.words) if mask >> i & 1]
            told[mask] = tuple(dict.fromkeys(word.text for word in matched)), _weight(matched)
        spelled, weight = told[mask]
        matches.append(WordMatch(seq, tally.scores[seq], spelled, weight))
    known = {word.text for word in words if word.items}
    return WordMatches(
        tuple(matches),
        _weight(words),
        len(tally.masks),
        tally.scores,
        unknown=tuple(word.text for word in words if word.text not in known),
    )


def _weight(words: "list[_Word]") -> float:
    """Return what words weigh together, one that was said on both sides once."""
    weights: dict[str, float] = {}
    for word in words:
        weights[word.text] = max(weights.get(word.text, 0.0), word.idf)
    return sum(weights.values())


def _shelf(row: Row) -> Shelf:
    shelf_id, scope, owner_id, items, words = row
    return Shelf(shelf_id, Owner(_SCOPES[scope], owner_id), items, words)
