"""Rank items that have nothing but a text (blocks, files): by words and meaning, above the bar."""

from collections.abc import Sequence

from recollect.retrieval.bar import Bar
from recollect.retrieval.candidates import Admit, Candidate, Meaning, S, gather
from recollect.retrieval.fuse import fuse
from recollect.store.protocol import Tables
from recollect.store.values import Shelf


def rank_plain(
    tables: Tables,
    query: str,
    shelves: Sequence[Shelf],
    admit: Admit[S],
    meaning: Meaning | None,
    *,
    limit: int,
) -> list[tuple[float, Candidate[S]]]:
    """Return the best *limit* items with their scores, best first, the newest of equals first."""
    gathered = gather(tables, query, shelves, admit, meaning, limit=limit)
    relevances = fuse(gathered.candidates, gathered.backdrop)
    bar = Bar.over(gathered, query, documents=True)
    scored = [
        (round(relevance.fused, 6), candidate)
        for candidate, relevance in zip(gathered.candidates, relevances, strict=True)
        if bar.admits(candidate)
    ]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].standing.seq))
    return scored[:limit]
