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

from recollect.domain.memory import MemoryType
from recollect.domain.retrieval import ResolvedQuery
from recollect.domain.scope import ItemKind, Scope
from recollect.retrieval.rank import MemoryCandidate
from recollect.retrieval.search_candidates import (
    Candidate,
    QueryVector,
    coverage,
    vector_matches_of,
)
from recollect.store.protocol import Tables
from recollect.store.values import Partition

CROSS_PROJECT_SCOPES = frozenset({Scope.PROJECT, Scope.REPO})
CROSS_PROJECT_TYPES = frozenset({MemoryType.DECISION, MemoryType.ARTIFACT})
MIN_COVERAGE = 0.75  # of the query's word weight
MIN_WORDS = 3
MIN_SIMILARITY = 0.45
MAX_MATCHES = 50
# Enough: what covers the query has its rarest words, and their postings are read first.
POSTINGS_BUDGET = 3_000


def linked_items(tables: Tables, query: ResolvedQuery) -> frozenset[int]:
    """Return the items of other projects that are linked to the project of *query*."""
    if query.viewer.project_id is None or query.owners is None:
        return frozenset()
    return frozenset(tables.links.item_ids_linked_to(query.viewer.project_id))


def linked_candidates(
    tables: Tables, query: ResolvedQuery, partitions: list[Partition], vector: QueryVector | None
) -> list[MemoryCandidate]:
    """Return linked memories of other projects, each with its match in both indexes."""
    item_ids = linked_items(tables, query)
    if not item_ids:
        return []
    visible = set(query.owners or ())
    vector_matches = vector_matches_of(tables, vector, item_ids)
    candidates = []
    for row in tables.memories.candidate_rows(sorted(item_ids), query.filters):
        if row.owner in visible or row.owner.scope not in query.scopes:
            continue
        searched = partitions + tables.word_index.partitions(ItemKind.MEMORY, [row.owner])
        result = tables.word_index.match_item(query.text, searched, row.item_id)
        match = result.matches[0] if result.matches else None
        share = coverage(match, result.query_weight)
        candidates.append(Candidate(row, match, vector_matches.get(row.item_id), share, "linked"))
    return candidates


def relevant_candidates(
    tables: Tables, query: ResolvedQuery, vector: QueryVector | None
) -> list[MemoryCandidate]:
    """Return memories of other projects that clearly answer the query."""
    if not query.cross_project or query.viewer.project_id is None or query.owners is None:
        return []
    visible = set(query.owners)
    scopes = CROSS_PROJECT_SCOPES & query.scopes
    partitions = [
        partition
        for partition in tables.word_index.partitions(ItemKind.MEMORY, None)
        if partition.owner not in visible and partition.owner.scope in scopes
    ]
    if not partitions:
        return []
    index = tables.word_index
    result = index.match(query.text, partitions, limit=MAX_MATCHES, budget=POSTINGS_BUDGET)
    shares = {match.item_id: coverage(match, result.query_weight) for match in result.matches}
    strong = {
        match.item_id: match
        for match in result.matches
        if len(match.words) >= MIN_WORDS and shares[match.item_id] >= MIN_COVERAGE
    }
    if not strong:
        return []
    vectors = vector_matches_of(tables, vector, strong)
    candidates = []
    for row in tables.memories.candidate_rows(strong, query.filters):
        id_ = row.item_id
        candidate = Candidate(row, strong[id_], vectors.get(id_), shares[id_], "relevant")
        if row.type in CROSS_PROJECT_TYPES and _is_similar_enough(candidate):
            candidates.append(candidate)
    return candidates


def _is_similar_enough(candidate: MemoryCandidate) -> bool:
    return candidate.vector_match is None or candidate.vector_match.similarity >= MIN_SIMILARITY
