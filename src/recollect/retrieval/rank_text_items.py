"""Rank items that are only a text (blocks, files) by words and vectors, above the threshold."""

from collections.abc import Sequence

from recollect.retrieval.relevance_threshold import Threshold
from recollect.retrieval.score_fusion import fuse_scores
from recollect.retrieval.search_candidates import Admit, Candidate, QueryVector, S, find_candidates
from recollect.store.protocol import Tables
from recollect.store.values import Partition


def rank_text_items(
    tables: Tables,
    query: str,
    partitions: Sequence[Partition],
    admit: Admit[S],
    vector: QueryVector | None,
    *,
    limit: int,
) -> list[tuple[float, Candidate[S]]]:
    """Return the best *limit* items with their scores, best first; ties go to the newer item."""
    pool = find_candidates(tables, query, partitions, admit, vector, limit=limit)
    relevances = fuse_scores(pool.candidates, pool.similarity_stats)
    threshold = Threshold.for_candidates(pool, query, has_documents=True)
    ranked = [
        (round(relevance.fused, 6), candidate)
        for candidate, relevance in zip(pool.candidates, relevances, strict=True)
        if threshold.admits(candidate)
    ]
    ranked.sort(key=lambda pair: (-pair[0], -pair[1].item.item_id))
    return ranked[:limit]
