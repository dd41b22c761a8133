"""Search records that are only a text (blocks, files, documents) by words and vectors."""

from recollect.retrieval.pipeline import RankedCandidate, fuse, rank
from recollect.retrieval.relevance_threshold import Threshold
from recollect.retrieval.signals import index_signals
from recollect.store.protocol import Tables
from recollect.store.search_index import IndexQuery


def rank_texts(
    tables: Tables, query: IndexQuery, *, use_threshold: bool = True
) -> list[RankedCandidate]:
    """Return the best records of *query*, best first; ties go to the newer record."""
    result = tables.search_index.search(query)
    threshold = Threshold.for_candidates(result, query.text, has_documents=True)
    signals = index_signals(result.candidates, result.similarity_stats)
    relevances = fuse(result.candidates, signals)
    admits = threshold.admits if use_threshold else lambda _: True
    ranked = rank(result.candidates, signals, admits=admits, relevances=relevances)
    return ranked[: query.limit]
