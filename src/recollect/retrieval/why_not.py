"""
Explain why a memory was not returned: the first rule that excluded it, in pipeline order.

status → type → tags → time → scope → no match → below the threshold → outranked
"""

from collections.abc import Callable
from dataclasses import replace

from recollect.domain.memory import Memory
from recollect.domain.retrieval import ResolvedQuery, WhyNot
from recollect.retrieval import cross_project
from recollect.retrieval import ranking_constants as constants
from recollect.retrieval.relevance_threshold import ClosestMatch, Threshold
from recollect.retrieval.retrieve import index_query_for, rank_and_load
from recollect.store.protocol import Tables
from recollect.store.search_index import QueryVector

SHOWN_CHARS = 80  # of the closest match
BELOW_THRESHOLD = "bar"  # the value of `WhyNot.rule`, which callers compare


def why_not(
    tables: Tables, query: ResolvedQuery, vector: QueryVector | None, memory: Memory
) -> WhyNot:
    """Return the rule that excluded *memory* from the hits of *query*, or its rank."""

    def verdict(rule: str, text: str, **detail: object) -> WhyNot:
        return WhyNot(memory_id=memory.id, query=query.text, rule=rule, text=text, detail=detail)

    excluded = query.filters.violation(memory)
    if excluded is not None:
        return verdict(*excluded)
    ranked, loaded = rank_and_load(tables, query, vector)
    best = loaded.candidates
    for position, hit in enumerate([*best, *ranked.memories[len(best) :]], start=1):
        if hit.id == memory.id:
            if position <= query.limit:
                text = f"It is returned, at rank {position} of {len(ranked.memories)}."
                return verdict("returned", text, rank=position)
            return verdict(
                "outranked",
                f"It is relevant (score {hit.score:.2f}), but its rank is {position} and the "
                f"limit is {query.limit}. Raise the limit or make the query more specific.",
                rank=position,
                score=hit.score,
            )
    excluded = _excluded_by_scope(tables, query, memory)
    if excluded is not None:
        return verdict(*excluded)
    return _explain_low_relevance(tables, query, vector, memory, ranked.threshold, verdict)


def _excluded_by_scope(
    tables: Tables, query: ResolvedQuery, memory: Memory
) -> tuple[str, str] | None:
    if memory.scope in query.scopes and (query.owners is None or memory.owner in query.owners):
        return None
    if memory.id in cross_project.linked_ids(tables, query):
        return None
    if memory.scope not in query.scopes:
        scopes = ", ".join(sorted(query.scopes))
        return "scope", f"It is {memory.scope} memory; this search returns only {scopes} memory."
    text = f"It is {memory.scope} memory of another owner, which this search cannot see."
    if memory.scope in cross_project.CROSS_PROJECT_SCOPES and query.viewer.project_id is not None:
        if not query.cross_project:
            text += " Memories of other projects are returned only if linked"
            text += " (cross_project is off)."
        elif memory.type in cross_project.CROSS_PROJECT_TYPES:
            share = f"{constants.OTHER_MIN_COVERAGE:.0%}"
            text += f" It is not linked to this project, and does not cover {share} of the query"
            text += f" with at least {constants.OTHER_MIN_WORDS} words."
        else:
            text += f" A {memory.type} memory of another project is returned only if linked."
    return "scope", text


def _explain_low_relevance(
    tables: Tables,
    query: ResolvedQuery,
    vector: QueryVector | None,
    memory: Memory,
    threshold: Threshold,
    verdict: Callable[..., WhyNot],
) -> WhyNot:
    index_query = replace(index_query_for(query, vector), owners=[memory.owner], others=None)
    candidates = tables.search_index.match(index_query, [memory.id]).candidates
    if not candidates and not memory.is_reviewed:
        return verdict("status", "It is not reviewed, and was said in another project.")
    if not candidates:
        return verdict("index", "It is missing from the index. Run `recollect rebuild`.")
    match, vector_match = candidates[0].word_match, candidates[0].vector_match
    rule = BELOW_THRESHOLD if match else "no match"
    shared = f"It shares {'too few words' if match else 'no word'} with the query."
    if vector_match is None:
        return verdict(rule, f"{shared} Its embedding was not compared.")
    return verdict(rule, f"{shared} {threshold.describe(vector_match, candidates[0].coverage)}")


def why_nothing(tables: Tables, query: ResolvedQuery, vector: QueryVector | None) -> WhyNot:
    """Return the closest match of *query* and what it lacked, or how many memories passed."""
    ranked, loaded = rank_and_load(tables, query, vector)
    if not ranked.memories:
        return describe_closest(tables, query, ranked.closest)
    first = loaded.candidates[0].id
    text = f"{len(ranked.memories)} memories pass the relevance threshold."
    return WhyNot(memory_id=first, query=query.text, rule="returned", text=text, detail={})


def describe_closest(tables: Tables, query: ResolvedQuery, closest: ClosestMatch | None) -> WhyNot:
    """Return what the *closest* match of a search without a hit lacked."""

    def verdict(rule: str, text: str, memory_id: str = "", **detail: object) -> WhyNot:
        return WhyNot(memory_id=memory_id, query=query.text, rule=rule, text=text, detail=detail)

    if closest is None:
        return verdict("no match", "No visible memory shares a word with the query or is similar.")
    content = " ".join(tables.memories.contents([closest.id]).get(closest.id, "").split())
    return verdict(
        BELOW_THRESHOLD,
        f"The closest match is “{content[:SHOWN_CHARS]}”. Relevance {closest.score:.2f}, "
        f"threshold {closest.threshold:.2f}.{closest.reason}",
        closest.id,
        reached=closest.score,
        needed=closest.threshold,
    )
