"""
Put the newer of conflicting facts first.

"Ana works at Acme" and "Ana works at Initech" answer a query equally well; the later one is more
likely true. Two memories among the best conflict if a link says so, or if both are short statements
that share words with the query and say different things about the same names. Conflicting memories
keep the places they have, but are sorted newest first within them. A query about the past is left
as it is. Nothing is dropped: the older fact stays in the list.
"""

import re
from collections.abc import Mapping
from itertools import combinations

from recollect.retrieval.rank import RankedMemory
from recollect.retrieval.search_candidates import QueryVector
from recollect.store.protocol import Tables
from recollect.text.statement_similarity import are_competing, statement_similarity

TOP = 10  # how many of the best are compared
MAX_CHARS = 300  # of a statement; a longer text says several things
MAX_SCORE_GAP = 0.3
# Chosen on every fifth scope of letta-update and on factcons-6k (docs/log.md).
MIN_VECTOR_SIMILARITY = 0.45  # below this, two statements are not compared
MIN_SIMILARITY_SAME_NAMES = 1.55  # of two statements about the same names
MIN_SIMILARITY = 2.2  # of any two statements

_ASKS_ABOUT_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|before|earlier|initial(?:ly)?"
    r"|back then|at the time|history|old(?:er)?"
    r"|(?:the|my|our|your|his|her|their|'s|very|at) first)\b",
    re.IGNORECASE,
)

IndexPairs = set[frozenset[int]]


def prefer_newer(
    tables: Tables, ranked: list[RankedMemory], query: str, vector: QueryVector | None
) -> list[RankedMemory]:
    """Return *ranked* with conflicting memories sorted newest first."""
    best = ranked[:TOP]
    if len(best) < 2 or _ASKS_ABOUT_PAST.search(query):
        return ranked
    conflicts = _linked_conflicts(tables, best) | _likely_conflicts(tables, best, vector)
    reordered = list(ranked)
    grouped: set[int] = set()
    for index in range(len(best)):
        if index in grouped:
            continue
        group = _conflict_group(index, conflicts, grouped)
        grouped.update(group)
        newest_first = sorted((ranked[member] for member in group), key=_recency_key, reverse=True)
        for position, memory in zip(group, newest_first, strict=True):
            reordered[position] = memory
    return reordered


def _conflict_group(index: int, conflicts: IndexPairs, grouped: set[int]) -> list[int]:
    """Return *index* and those after it that conflict with it and are in no other group."""
    others = {other for pair in conflicts if index in pair for other in pair}
    return [index, *sorted(other for other in others if other > index and other not in grouped)]


def _linked_conflicts(tables: Tables, best: list[RankedMemory]) -> IndexPairs:
    indexes = {memory.candidate.item.id: index for index, memory in enumerate(best)}
    conflicts = tables.links.conflicts(list(indexes))
    return {
        frozenset({indexes[memory_id], indexes[other_id]})
        for memory_id, other_ids in conflicts.items()
        for other_id in other_ids
        if other_id in indexes
    }


def _likely_conflicts(
    tables: Tables, best: list[RankedMemory], vector: QueryVector | None
) -> IndexPairs:
    contents = tables.memories.contents([memory.candidate.item.id for memory in best])
    texts = [contents.get(memory.candidate.item.id, "") for memory in best]
    statements = [index for index, text in enumerate(texts) if _is_statement(text)]
    if len(statements) < 2:
        return set()
    similarities: Mapping[tuple[int, int], float] = {}
    if vector is not None:
        item_ids = [best[index].candidate.item.item_id for index in statements]
        similarities = tables.embeddings.pairwise_similarities(vector.model_id, item_ids)
    return {
        frozenset({a, b})
        for a, b in combinations(statements, 2)
        if _may_conflict(best[a], best[b])
        and _do_conflict(texts[a], texts[b], similarities.get(_item_ids(best[a], best[b])))
    }


def _is_statement(text: str) -> bool:
    return 0 < len(text) <= MAX_CHARS and "\n" not in text


def _may_conflict(a: RankedMemory, b: RankedMemory) -> bool:
    match_a, match_b = a.candidate.word_match, b.candidate.word_match
    if match_a is None or match_b is None or not set(match_a.words) & set(match_b.words):
        return False
    session = a.candidate.item.session_id
    # Similar statements of one session are rarely meant to replace each other.
    if session is not None and session == b.candidate.item.session_id:
        return False
    return a.score - b.score <= MAX_SCORE_GAP


def _do_conflict(text_a: str, text_b: str, vector_similarity: float | None) -> bool:
    if vector_similarity is not None and vector_similarity < MIN_VECTOR_SIMILARITY:
        return False
    similarity = statement_similarity(text_a, text_b, vector_similarity)
    if similarity >= MIN_SIMILARITY:
        return True
    return similarity >= MIN_SIMILARITY_SAME_NAMES and are_competing(text_a, text_b)


def _item_ids(a: RankedMemory, b: RankedMemory) -> tuple[int, int]:
    return a.candidate.item.item_id, b.candidate.item.item_id


def _recency_key(memory: RankedMemory) -> tuple[float, int]:
    row = memory.candidate.item
    return (row.observed_at.timestamp(), row.item_id)
