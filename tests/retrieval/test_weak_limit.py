"""A search that has nothing better returns a few weak matches, however many there are."""

from pathlib import Path

from recollect.retrieval.ranking_constants import MAX_WEAK_MATCHES
from support import open_memory

FACTS = 12


def test_a_search_returns_few_weak_matches_unless_all_are_wanted() -> None:
    with open_memory(Path(":memory:")) as rec:
        for number in range(FACTS):
            rec.ingest(f"The {number} red lamps of hall {number} are green at night.")
        rec.drain()
        query = "green bulbs?"

        weak = rec.search(query, limit=FACTS)
        everything = rec.search(query, limit=FACTS, below_threshold=True)

    assert all(hit.is_weak for hit in weak)
    assert 0 < len(weak) <= MAX_WEAK_MATCHES
    assert len(everything) == FACTS
