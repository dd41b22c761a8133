"""
Put the newer of conflicting facts first.

"Ana works at Acme" and "Ana works at Initech" answer a query equally well; the later one is more
likely true. Two memories among the best conflict if a link says so, if both are short statements
that share words with the query and say different things about the same names, or if they have
words in common and the newer one has another value of the same kind ("swimming is on Mondays") or
announces a change ("Polars for features is gone"). Without a link, the newer one must have what the
older one has of the query: the names, or for a value or a change every word. Conflicting memories
keep the places they have, and the scores of these places, but are sorted newest first within them;
all but the newest are marked as earlier.

What a link says is newer than one of the best is shown with it, although its own words match less:
"it's called Bora now" shares nothing with "what is the working title?". A query about the past is
left as it is. Nothing is dropped: the older fact stays in the list.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from recollect.domain.retrieval import NewerMemory
from recollect.retrieval import ranking_constants as constants
from recollect.retrieval.pipeline import RankedCandidate
from recollect.store.protocol import Tables
from recollect.store.search_index import QueryVector, SearchCandidate
from recollect.text.change_cues import announces_change
from recollect.text.query_names import names_in_query
from recollect.text.statement_parser import content_words
from recollect.text.statement_similarity import are_competing, statement_similarity
from recollect.text.value_kinds import values_by_kind

_ASKS_ABOUT_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|before|earlier|initial(?:ly)?"
    r"|back then|at the time|history|old(?:er)?"
    r"|(?:the|my|our|your|his|her|their|'s|very|at) first)\b",
    re.IGNORECASE,
)

IndexPairs = set[frozenset[int]]


def asks_for_earlier(query: str) -> bool:
    """Return whether *query* asks what held before, so that the older fact is the answer."""
    return _ASKS_ABOUT_PAST.search(query) is not None


def with_newer_sides(
    ranked: Sequence[RankedCandidate],
    links: Mapping[str, Sequence[str]],
    candidates: Sequence[SearchCandidate],
    *,
    usual_similarity: float,
) -> list[RankedCandidate]:
    """
    Return *ranked*, each followed by the newest of *candidates* that contradicts it and is newer.

    *links* are the ids that contradict each. What is in *ranked* already stays where it is. What
    shares no word with the query and is less similar to it than *usual_similarity*, the mean of the
    store, is left out: the judge that linked it may be wrong.
    """
    linked = {other_id for others in links.values() for other_id in others}
    by_id = {
        c.record.id: c
        for c in candidates
        if c.record.id in linked
        and (
            c.word_match or c.vector_match is None or c.vector_match.similarity >= usual_similarity
        )
    }
    ranked_ids = {memory.id for memory in ranked}
    complete: list[RankedCandidate] = []
    for memory in ranked:
        complete.append(memory)
        others = (by_id[other] for other in links.get(memory.id, ()) if other in by_id)
        sides = [replace(memory, candidate=other, replaces_id=memory.id) for other in others]
        newer = [side for side in sides if _recency_key(side) > _recency_key(memory)]
        newest = max(newer, key=_recency_key, default=None)
        if newest is not None and newest.id not in ranked_ids:
            ranked_ids.add(newest.id)
            complete.append(newest)
    return complete


def prefer_newer(
    tables: Tables,
    ranked: list[RankedCandidate],
    query: str,
    vector: QueryVector | None,
    *,
    contents: Mapping[str, str],
    links: Mapping[str, Sequence[str]],
) -> list[RankedCandidate]:
    """
    Return *ranked* with conflicting memories sorted newest first.

    *contents* are the texts of the best of them by id, *links* the ids that contradict each.
    """
    best = ranked[: constants.CONFLICT_TOP]
    if len(best) < 2 or asks_for_earlier(query):
        return ranked
    names = names_in_query(query)
    conflicts = _linked_conflicts(best, links) | _likely_conflicts(
        tables, best, vector, contents, names
    )
    reordered = list(ranked)
    grouped: set[int] = set()
    for index in range(len(best)):
        if index in grouped:
            continue
        group = _conflict_group(index, conflicts, grouped)
        grouped.update(group)
        newest_first = sorted((ranked[member] for member in group), key=_recency_key, reverse=True)
        newer = None
        for position, memory in zip(group, newest_first, strict=True):
            score = ranked[position].score
            reordered[position] = replace(memory, score=score, contradicted_by=newer)
            newer = newer or _as_newer(memory)
    return reordered


def _as_newer(newest: RankedCandidate) -> NewerMemory:
    at = newest.candidate.record.at
    assert at is not None  # as every memory has
    return NewerMemory(id=newest.id, at=at)


def _conflict_group(index: int, conflicts: IndexPairs, grouped: set[int]) -> list[int]:
    """Return *index* and those after it that conflict with it and are in no other group."""
    others = {other for pair in conflicts if index in pair for other in pair}
    return [index, *sorted(other for other in others if other > index and other not in grouped)]


def _linked_conflicts(
    best: list[RankedCandidate], links: Mapping[str, Sequence[str]]
) -> IndexPairs:
    indexes = {memory.id: index for index, memory in enumerate(best)}
    return {
        frozenset({index, indexes[other_id]})
        for memory_id, index in indexes.items()
        for other_id in links.get(memory_id, ())
        if other_id in indexes
    }


def _likely_conflicts(
    tables: Tables,
    best: list[RankedCandidate],
    vector: QueryVector | None,
    contents: Mapping[str, str],
    names: Collection[str],
) -> IndexPairs:
    texts = [contents.get(memory.id, "") for memory in best]
    statements = [index for index, text in enumerate(texts) if _is_statement(text)]
    if len(statements) < 2:
        return set()
    similarities: Mapping[tuple[str, str], float] = {}
    if vector is not None:
        records = [best[index].candidate.record for index in statements]
        similarities = tables.search_index.pairwise_similarities(
            vector.model_id, records, scale=vector.texts_scale
        )
    pairs: IndexPairs = set()
    for a, b in combinations(statements, 2):
        if _are_of_one_session(best[a], best[b]):
            continue  # similar statements of one session are rarely meant to replace each other
        gap = best[a].score - best[b].score
        similarity = similarities.get((best[a].id, best[b].id))
        if (
            gap <= constants.CONFLICT_MAX_SCORE_GAP
            and _share_query_words(best[a], best[b])
            and _newer_has_words(best[a], best[b], names)
            and _do_conflict(texts[a], texts[b], similarity)
        ) or (
            gap <= constants.CHANGE_MAX_SCORE_GAP
            and _newer_has_words(best[a], best[b])
            and _is_change(*_older_first((best[a], texts[a]), (best[b], texts[b])))
        ):
            pairs.add(frozenset({a, b}))
    return pairs


def _is_statement(text: str) -> bool:
    return 0 < len(text) <= constants.CONFLICT_MAX_CHARS and "\n" not in text


def _share_query_words(a: RankedCandidate, b: RankedCandidate) -> bool:
    return not set(a.words).isdisjoint(b.words)


def _newer_has_words(
    a: RankedCandidate, b: RankedCandidate, among: Collection[str] | None = None
) -> bool:
    """
    Return whether the newer one has every word of the query that the older one has.

    With *among*, only these words count. "Room 16 is blue" says nothing of room 12.
    """
    older, newer = sorted((a, b), key=_recency_key)
    missing = set(older.words) - set(newer.words)
    return not missing if among is None else missing.isdisjoint(among)


def _older_first(*statements: tuple[RankedCandidate, str]) -> list[str]:
    return [
        text for _, text in sorted(statements, key=lambda statement: _recency_key(statement[0]))
    ]


def _is_change(older: str, newer: str) -> bool:
    """Return whether *newer* changes a value of *older*, or announces a change of what it says."""
    shared = len(content_words(older) & content_words(newer))
    if not shared:
        return False
    if shared >= constants.CHANGE_MIN_SHARED_WORDS and announces_change(newer):
        return True
    values, new_values = values_by_kind(older), values_by_kind(newer)
    return any(values[kind].isdisjoint(new_values[kind]) for kind in values.keys() & new_values)


def _are_of_one_session(a: RankedCandidate, b: RankedCandidate) -> bool:
    session = a.candidate.record.session_id
    return session is not None and session == b.candidate.record.session_id


def _do_conflict(text_a: str, text_b: str, vector_similarity: float | None) -> bool:
    if (
        vector_similarity is not None
        and vector_similarity < constants.CONFLICT_MIN_VECTOR_SIMILARITY
    ):
        return False
    similarity = statement_similarity(text_a, text_b, vector_similarity)
    if similarity >= constants.CONFLICT_MIN_SIMILARITY:
        return True
    return similarity >= constants.CONFLICT_MIN_SIMILARITY_SAME_NAMES and are_competing(
        text_a, text_b
    )


def _recency_key(memory: RankedCandidate) -> tuple[float, int]:
    record = memory.candidate.record
    return (record.at.timestamp() if record.at else 0.0, record.sequence)
