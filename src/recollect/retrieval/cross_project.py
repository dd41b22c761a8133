"""
The two ways in which a search may return a memory of another project.

A search sees only the scopes of its caller. Only memories of project or repo scope can be returned
to another project, and only in two ways:

linked    a person or the engine linked the memory to this project, or to a memory of it. It must
          also share a word with the query.
relevant  a decision or an artifact, knowledge made to be reused, that covers nearly all of the
          query's word weight with several words, and is similar if vectors can be compared.
          Conventions, episodes and hints are never returned this way.

Agent and session memories are never returned to another owner.
"""

from collections.abc import Sequence
from dataclasses import replace

from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import ResolvedQuery
from recollect.domain.scope import Scope
from recollect.retrieval import ranking_constants as constants
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery, OtherOwners, SearchCandidate

CROSS_PROJECT_SCOPES = frozenset({Scope.PROJECT, Scope.REPO})
CROSS_PROJECT_TYPES = frozenset({MemoryType.DECISION, MemoryType.ARTIFACT})


def linked_ids(tables: Tables, query: ResolvedQuery) -> frozenset[str]:
    """Return the memories of other projects that are linked to the project of *query*."""
    if query.viewer.project_id is None or query.owners is None:
        return frozenset()
    return frozenset(tables.links.ids_linked_to(query.viewer.project_id))


def linked_candidates(
    tables: Tables, query: ResolvedQuery, index_query: IndexQuery
) -> list[SearchCandidate]:
    """Return linked memories of other projects, each with its match in both indexes."""
    ids = linked_ids(tables, query)
    if not ids:
        return []
    visible = set(query.owners or ())
    return [
        replace(candidate, reached="linked")
        for candidate in tables.search_index.match(index_query, ids).candidates
        if (owner := candidate.record.owner) is not None
        and owner not in visible
        and owner.scope in query.scopes
    ]


def other_owners(query: ResolvedQuery) -> OtherOwners | None:
    """Return which memories of other projects the index looks for; None if it does not."""
    if not query.cross_project or query.viewer.project_id is None or query.owners is None:
        return None
    return OtherOwners(
        scopes=CROSS_PROJECT_SCOPES & query.scopes,
        min_coverage=constants.OTHER_MIN_COVERAGE,
        min_words=constants.OTHER_MIN_WORDS,
        max_matches=constants.OTHER_MAX_MATCHES,
        max_postings=constants.OTHER_MAX_POSTINGS,
    )


def relevant_candidates(others: Sequence[SearchCandidate]) -> list[SearchCandidate]:
    """Return those of other projects' memories that clearly answer the query."""
    return [
        replace(candidate, reached="relevant")
        for candidate in others
        if candidate.record.type in CROSS_PROJECT_TYPES and _is_similar_enough(candidate)
    ]


def _is_similar_enough(candidate: SearchCandidate) -> bool:
    match = candidate.vector_match
    return match is None or match.similarity >= constants.OTHER_MIN_SIMILARITY
