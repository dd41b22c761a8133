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
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, groupby
from math import log
from operator import itemgetter

from recollect.domain.scope import ItemKind, Owner
from recollect.lazy_dataclass import dataclass
from recollect.store.database_connection import DatabaseConnection
from recollect.store.indexes.word_scores import (
    FEW_PARTITIONS,
    POSTINGS_BUDGET,
    QueryWord,
    ScoreTable,
    WordMatches,
    best_items,
)
from recollect.store.indexes.word_tokenizer import WordTokenizer
from recollect.store.item_index import ASSISTANT_PREFIX
from recollect.store.repositories.repository import Repository
from recollect.store.row_conversion import to_json
from recollect.store.values import Partition
from recollect.text.near_spellings import (
    KEY_CHARS,
    MIN_NAME_CHARS,
    MIN_NAME_PREFIX_CHARS,
    can_be_misspelled,
    near_names,
    near_spellings,
)
from recollect.text.search_words import query_without_stop_words
from recollect.text.transcript_sides import split_sides

ASSISTANT_WEIGHT = 0.3  # of such a word, relative to the same word of a user
NEAR_WEIGHT = 0.7  # of a word that is spelled almost like one of the query that occurs nowhere
MAX_NEAR_WORDS = 4  # of a query that are compared with others
MAX_NEAR_TERMS = 2_000  # that they are compared with
MAX_NEAR_NAMES = 20  # that may be names; a text of each is read
# A search for so few words may name somebody without a capital letter.
MAX_KEYWORDS = 2

MAX_QUERY_CHARS = 8_000
MAX_QUERY_WORDS = 64


# By term: the id, the partition and the number of items of each of its rows.
TermRows = Mapping[str, Sequence[tuple[int, int, int]]]


class WordIndex(Repository):
    """The words of all items, in partitions. See `recollect.store.item_index.ItemIndex`."""

    _statements = "word_index"

    def __init__(self, connection: DatabaseConnection, tokenizer: WordTokenizer) -> None:
        super().__init__(connection)
        self._tokenizer = tokenizer

    def terms(self, text: str) -> list[str]:
        """Return the index terms of *text*; stop words only if there is nothing else."""
        return self._tokenizer.terms(text)

    def add(self, kind: ItemKind, owner: Owner, record_id: str, text: str) -> None:
        """Add a new item to the partition of its kind and owner."""
        self.add_many(kind, [(owner, record_id, text)])

    def add_many(self, kind: ItemKind, items: Sequence[tuple[Owner, str, str]]) -> None:
        """Add new items of one kind, each to the partition of its owner."""
        partition_ids = self._ensure_partitions(kind, [owner for owner, _, _ in items])
        rows = [
            (partition_ids[owner], record_id, self.count_words(text))
            for owner, record_id, text in items
        ]
        added = [(at, record_id, words.length) for at, record_id, words in rows]
        item_ids = dict(self._rows("add_items", rows=added))
        self._add_postings([(at, item_ids[record_id], words) for at, record_id, words in rows])

    def reindex(self, kind: ItemKind, owner: Owner, item_id: int, text: str) -> None:
        """Add the postings of an item that has its row already; move it to its partition."""
        partition_id = self._ensure_partitions(kind, [owner])[owner]
        words = self.count_words(text)
        self._run("set_length", item_id=item_id, partition_id=partition_id, words=words.length)
        self._add_postings([(partition_id, item_id, words)])

    def count_words(self, text: str) -> "WordCounts":
        """Return the words of *text* as they are indexed."""
        user_text, assistant_text = split_sides(text)
        by_assistant = self.terms(assistant_text) if assistant_text else []
        prefixed = Counter(ASSISTANT_PREFIX + term for term in by_assistant)
        return WordCounts(Counter(self.terms(user_text)), prefixed)

    def _add_postings(self, items: "Sequence[tuple[int, int, WordCounts]]") -> None:
        """Add the words of items, each given with its partition and its id."""
        lengths = [(partition_id, words.length) for partition_id, _, words in items]
        self._run("grow_partitions", rows=lengths)
        counted = [
            (partition_id, item_id, counts.total(), counts)
            for partition_id, item_id, words in items
            for counts in filter(None, (words.by_user, words.by_assistant))
        ]
        rows = to_json(counted)  # once for both
        self._run("count_terms", rows=rows)
        self._run("add_postings", rows=rows)

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
        rows = self._rows("items_of", ids=[record_id])
        if not rows:
            self.add(kind, owner, record_id, text)
            return
        self._remove({record_id: former_text}, ("remove_embeddings", "mark_unembedded"))
        self.reindex(kind, owner, rows[0][1], text)

    def _remove(self, texts: Mapping[str, str], item_queries: Sequence[str]) -> int:
        """Delete the postings of items, and run some queries on the items; return the count."""
        rows = self._rows("items_of", ids=list(texts))
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
            term_ids = self._column("remove_postings", partition_id=partition_id, pairs=pairs)
            counts = list(Counter(term_ids).items())
            self._run("uncount_terms", counts=counts)
            self._run("drop_unused_terms", counts=counts)
            for name in item_queries:
                self._run(name, item_ids=list(items))
            shrunk = {"items": len(items), "words": sum(length for _, length in items.values())}
            self._run("shrink_partition", partition_id=partition_id, **shrunk)
            removed += len(term_ids)
        return removed

    def _indexed_words(self, text: str) -> set[str]:
        # Older versions indexed a transcript as one text: remove the words of that form as well.
        return {*self.count_words(text).words, *self.terms(text)}

    def drop_partition(self, kind: ItemKind, owner: Owner) -> int:
        """Delete a partition with everything in it; return how many items it had."""
        partition_id = self._find_partitions(kind, [owner]).get(owner)
        if partition_id is None:
            return 0
        items = int(self._value("count_items", partition_id=partition_id))
        for step in ("drop_postings", "drop_terms", "drop_items", "drop_partition"):
            self._run(step, partition_id=partition_id)
        return items

    def find_query_words(
        self,
        query: str,
        groups: Sequence[Sequence[Partition]],
        *,
        correct_spelling: bool = False,
    ) -> "list[list[QueryWord]]":
        """Return the words of *query* for each group of partitions, the rarest first."""
        queries = [(query, group) for group in groups]
        return self.find_words_of_queries(queries, correct_spelling=correct_spelling)

    def find_words_of_queries(
        self,
        queries: Sequence[tuple[str, Sequence[Partition]]],
        *,
        correct_spelling: bool = False,
    ) -> "list[list[QueryWord]]":
        """
        Return the words of each query for its partitions, the rarest first.

        With *correct_spelling*, words that occur nowhere are looked for under other spellings.
        """
        terms = {text: self._query_terms(text) for text, _ in queries}
        partitions = {part.id: part for _, parts in queries for part in parts if part.item_count}
        every_term = list(dict.fromkeys(chain.from_iterable(terms.values())))
        if not every_term or not partitions:
            return [[] for _ in queries]
        spellings = {text: self._tokenizer.spellings(text[:MAX_QUERY_CHARS]) for text in terms}
        aliases = self._tokenizer.aliases()
        also = list(dict.fromkeys(alias for term in every_term for alias in aliases.get(term, ())))
        other_spellings = [alias for alias in also if alias not in every_term]
        counts = self._find_terms([*every_term, *other_spellings], list(partitions.values()))
        near: TermRows = {}
        if correct_spelling:
            unknown = [term for term in every_term if not _occurs(term, counts, aliases)]
            words = {
                term: spellings[text].get(term, term) for text in terms for term in terms[text]
            }
            near = self._find_near_terms(unknown, _possible_names(unknown, words), list(partitions))
        return [
            _words_of_group(terms[text], spellings[text], counts, group, aliases, near)
            for text, group in queries
        ]

    def _find_near_terms(
        self, unknown: Sequence[str], names: Sequence[str], partition_ids: Sequence[int]
    ) -> TermRows:
        """
        Return, by unknown term, the rows of those it may be misspelled or the beginning of.

        *names* are shorter terms that may be names; they are compared with names only.
        """
        compared = [term for term in unknown if can_be_misspelled(term)][:MAX_NEAR_WORDS]
        names = names[:MAX_NEAR_WORDS]
        if not compared and not names:
            return {}
        prefixes = sorted({term[:KEY_CHARS] for term in (*compared, *names)})
        rows = self._rows(
            "terms_with_prefix",
            prefixes=prefixes,
            partition_ids=partition_ids,
            most=MAX_NEAR_TERMS,
        )
        near = {
            term: frozenset(near_spellings(term, {row[0] for row in rows})) for term in compared
        }
        similar = {term: near_names(term, dict.fromkeys(row[0] for row in rows)) for term in names}
        stored_names = self._stored_names(
            [row[1] for row in rows if any(row[0] in others for others in similar.values())]
        )
        near |= {term: stored_names.intersection(others) for term, others in similar.items()}
        return {
            term: [
                (term_id, partition_id, items)
                for other, term_id, items, partition_id in rows
                if other in others
            ]
            for term, others in near.items()
            if others
        }

    def _stored_names(self, term_ids: Sequence[int]) -> frozenset[str]:
        """Return the terms that a text in which they occur writes with a capital letter."""
        if not term_ids:
            return frozenset()
        rows = self._rows("texts_of_terms", term_ids=term_ids[:MAX_NEAR_NAMES])
        return frozenset(
            term
            for _, term, text in rows
            if text and self._tokenizer.spellings(text).get(term, term)[:1].isupper()
        )

    def _query_terms(self, query: str) -> list[str]:
        shorter = query_without_stop_words(query[:MAX_QUERY_CHARS])
        return list(dict.fromkeys(self.terms(shorter)))

    def read_postings(self, plans: "Sequence[tuple[Sequence[QueryWord], int]]") -> "Postings":
        """Return the postings of the words that each plan, words and a budget, reads in full."""
        postings: Postings = {}
        small: list[int] = []
        for words, budget in plans:
            for word in words[: _read_in_full(words, budget)]:
                if word.read_count == word.item_count:
                    small += word.item_counts
                else:
                    postings |= self._read_newest(word)
        postings |= dict.fromkeys(small, ())
        rows = self._rows("postings_of_terms", term_ids=small) if small else ()
        for term_id, some in groupby(rows, key=itemgetter(0)):
            postings[term_id] = list(some)
        return postings

    def _read_newest(self, word: "QueryWord") -> "Postings":
        """Return the newest postings of a word that has too many."""
        term_ids = list(word.item_counts)
        if len(term_ids) > FEW_PARTITIONS:
            rows = self._rows("postings_of_many", term_ids=term_ids, most=POSTINGS_BUDGET)
            return {term_id: [] for term_id in term_ids} | {term_ids[0]: rows}
        # Each partition has its share, so that a large one cannot hide a small one.
        most = POSTINGS_BUDGET // len(term_ids)
        return {term_id: self._rows("postings", term_id=term_id, most=most) for term_id in term_ids}

    def reads_in_full(self, words: "Sequence[QueryWord]") -> bool:
        """Return whether `match` looks no words up, so that its result does not need *also*."""
        return _read_in_full(words, POSTINGS_BUDGET) == len(words)

    def match(
        self,
        words: "Sequence[QueryWord]",
        postings: "Postings",
        *,
        limit: int,
        budget: int = POSTINGS_BUDGET,
        also: Collection[int] = (),
    ) -> "WordMatches":
        """
        Return the *limit* best matches, best first.

        *postings* are those of `read_postings` with the same budget; words beyond the budget are
        looked up for the best items and those of *also* only.
        """
        scores = ScoreTable()
        full = _read_in_full(words, budget)
        for word in words[:full]:
            scores.add(word, chain.from_iterable(postings[id_] for id_ in word.item_counts))
        for word in words[full:]:
            self._look_up(scores, word, {*best_items(scores.by_item, limit), *also})
        return scores.matches(words, limit)

    def match_among(
        self,
        words: "Sequence[QueryWord]",
        item_ids: Sequence[int],
        *,
        limit: int,
        also: Collection[int] = (),
    ) -> "WordMatches":
        """Return the best matches among some items; common words may be looked up as above."""
        id_range = _IdRange.around(item_ids)
        scores = ScoreTable()
        postings_read = 0
        for word in words:
            most = min(word.item_count, id_range.length)
            if scores.by_item and postings_read + most > POSTINGS_BUDGET:
                self._look_up(scores, word, {*best_items(scores.by_item, limit), *also})
            else:
                postings_read += self._read_range(scores, word, id_range)
        return scores.matches(words, limit)

    def match_item(self, words: "Sequence[QueryWord]", item_id: int) -> "WordMatches":
        """Return how one item matches; no match if it has none of the words."""
        scores = ScoreTable()
        for word in words:
            self._look_up(scores, word, [item_id])
        return scores.matches(words, 1)

    def _read_range(self, scores: "ScoreTable", word: "QueryWord", id_range: "_IdRange") -> int:
        """Score *word* for the items of a range; return how many postings were read."""
        postings_read = 0
        postings: list[tuple[int, int, int, int]] = []
        bounds = {"first": id_range.first, "last": id_range.last, "most": POSTINGS_BUDGET}
        for term_id in word.item_counts:
            some = self._rows("postings_between", term_id=term_id, **bounds)
            if len(some) == POSTINGS_BUDGET:  # too common to be read: looked up instead
                item_ids = sorted(id_range.item_ids)
                some = self._rows("postings_among", term_ids=[term_id], item_ids=item_ids)
            postings += [posting for posting in some if posting[1] in id_range.item_ids]
            postings_read += len(some)
        scores.add(word, postings)
        return postings_read

    def _look_up(self, scores: "ScoreTable", word: "QueryWord", item_ids: Iterable[int]) -> None:
        """Score *word* for these items only."""
        term_ids = list(word.item_counts)
        rows = self._rows("postings_among", term_ids=term_ids, item_ids=sorted(item_ids))
        scores.add(word, rows)

    def _find_terms(
        self, terms: list[str], partitions: Sequence[Partition]
    ) -> dict[str, list[tuple[int, int, int]]]:
        """Return, by term, its id, partition and number of items in each of some partitions."""
        spoken = {ASSISTANT_PREFIX + term for term in terms}
        term_rows: dict[str, list[tuple[int, int, int]]] = {term: [] for term in (*terms, *spoken)}
        ids = [partition.id for partition in partitions]
        words = sorted(term_rows)
        if len(ids) <= FEW_PARTITIONS:
            rows = self._rows("find_terms", words=words, partition_ids=ids)
        else:
            rows = self._rows("find_terms_anywhere", words=words)
        visible = set(ids)
        for term, *row in rows:
            term_id, items, partition_id = row
            if partition_id in visible:
                term_rows[term].append((term_id, partition_id, items))
        return term_rows

    def _ensure_partitions(self, kind: ItemKind, owners: Sequence[Owner]) -> dict[Owner, int]:
        """Return the partitions of some owners; those that do not exist are created."""
        partition_ids = self._find_partitions(kind, owners)
        for owner in owners:
            if owner not in partition_ids:
                values = {"kind": kind, "scope": owner.scope, "owner_id": owner.id}
                partition_ids[owner] = int(self._value("add_partition", **values))
        return partition_ids

    def _find_partitions(self, kind: ItemKind, owners: Sequence[Owner]) -> dict[Owner, int]:
        unique = list(dict.fromkeys(owners))
        pairs = [[owner.scope.value, owner.id] for owner in unique]
        rows = self._rows("partitions", kind=kind, owners=pairs)
        return {unique[position]: partition_id for position, partition_id in rows}


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


Postings = dict[int, Sequence[tuple[int, int, int, int]]]  # by term: (term, item, times, length)


def _words_of_group(
    terms: Sequence[str],
    spellings: Mapping[str, str],
    term_rows: TermRows,
    partitions: Sequence[Partition],
    aliases: Mapping[str, Sequence[str]],
    near_rows: TermRows,
) -> list[QueryWord]:
    """
    Return the words of a query with their weights in *partitions*, the rarest first.

    A word that is written in several ways is one word, unless the query has another of them too.
    One that occurs nowhere counts for less by the terms of *near_rows*, which are spelled like it.
    """
    total = sum(partition.item_count for partition in partitions)
    if not total:
        return []
    mean = max(sum(partition.word_count for partition in partitions) / total, 1.0)
    partition_ids = {partition.id for partition in partitions}

    def item_counts(term: str, rows: TermRows = term_rows) -> dict[int, int]:
        return {
            id_: items for id_, partition_id, items in rows[term] if partition_id in partition_ids
        }

    words = []
    for term in terms:
        text, counts = spellings.get(term, term), item_counts(term)
        for alias in aliases.get(term, ()):
            if alias not in terms:
                counts |= item_counts(alias)
        weight = 1.0
        if term in near_rows:
            counts, weight = item_counts(term, near_rows), NEAR_WEIGHT
        items = sum(counts.values())
        idf = weight * log(1 + (total - items + 0.5) / (items + 0.5))
        words.append(QueryWord(text, idf, mean, counts))
        if spoken := item_counts(ASSISTANT_PREFIX + term):
            words.append(QueryWord(text, ASSISTANT_WEIGHT * idf, mean, spoken))
    # The rarest first; words that occur nowhere have the most weight and cost nothing.
    return sorted(words, key=lambda word: (word.item_count, word.text))[:MAX_QUERY_WORDS]


def _occurs(term: str, term_rows: TermRows, aliases: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a term, said by anybody, or another spelling of it has a row."""
    forms = (term, ASSISTANT_PREFIX + term, *aliases.get(term, ()))
    return any(term_rows.get(form) for form in forms)


def _possible_names(unknown: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """
    Return the unknown terms that are too short to be compared with all words but may be names.

    *words* are all terms of the query, as it spells them. Three letters are too few to be a name
    beside others that occur.
    """
    names = []
    for term in unknown:
        word = words[term]
        is_alone = len(unknown) == len(words)
        least = MIN_NAME_PREFIX_CHARS if is_alone else MIN_NAME_CHARS
        may_be_name = word[:1].isupper() or len(words) <= MAX_KEYWORDS
        if word.isalpha() and len(word) >= least and may_be_name and not can_be_misspelled(term):
            names.append(term)
    return names


def _read_in_full(words: Sequence[QueryWord], budget: int) -> int:
    """Return how many of *words*, the rarest first, are read in full within the budget."""
    postings_read = 0
    for position, word in enumerate(words):
        if postings_read and postings_read + word.item_count > budget:
            return position
        postings_read += word.read_count
    return len(words)


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
