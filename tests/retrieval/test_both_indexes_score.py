"""An item found by one index is scored by the other too; unknown names raise the threshold."""

from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.domain.scope import ItemKind
from recollect.retrieval.relevance_threshold import MIN_SCORE, UNKNOWN_NAMES_PENALTY
from recollect.retrieval.search_candidates import MIN_CANDIDATES
from support import open_memory

MANY = 2 * MIN_CANDIDATES
QUERY = "which lamp is in the hall"


@pytest.mark.parametrize("budget", [1, MANY, 10**6], ids=["looked up", "both", "read"])
def test_explicitly_requested_items_match_as_they_do_among_all(
    words_only: LocalRecollect, budget: int
) -> None:
    words_only.memories.ingest_many([{"content": f"the lamp {n} of the hall"} for n in range(MANY)])
    words_only.memories.ingest_many(
        [{"content": f"lamp {n} of a long row of lights"} for n in range(MANY)]
    )
    words_only.ingest("a chair")

    with words_only._services.store.read() as tables:
        partitions = tables.word_index.partitions(ItemKind.MEMORY, None)
        everything = tables.word_index.match(QUERY, partitions, limit=10**4)
        worst = [match.item_id for match in everything.matches[-3:]]
        unmatched = max(match.item_id for match in everything.matches) + 1
        result = tables.word_index.match(
            QUERY, partitions, limit=5, budget=budget, also=[*worst, unmatched, worst[0]]
        )

    assert len(everything.matches) == 2 * MANY
    assert result.matches[:5] == everything.matches[:5]
    assert set(result.matches[5:]) == set(everything.matches[-3:])


def test_a_similar_item_gets_its_word_score_though_a_hundred_others_match_more_words(
    path: Path,
) -> None:
    far = " ".join(f"other{n}" for n in range(20))
    with open_memory(path, synonyms={"corridor": "hall"}) as rec:
        rec.memories.ingest_many([{"content": f"lamp hall {n} {far}"} for n in range(MANY)])
        target = rec.ingest("a lamp, " + "corridor " * 30)
        rec.drain()

        hits = rec.search("lamp hall", limit=5)

    [target_hit] = [hit for hit in hits if hit.memory.id == target.id]
    assert target_hit.matched_words == ("lamp",)
    assert target_hit.parts.keyword > 0


def test_names_that_occur_nowhere_raise_the_threshold_and_are_named(rec: LocalRecollect) -> None:
    rec.ingest("Anna feeds the cat.")
    rec.drain()

    def threshold_and_text(query: str) -> tuple[float, str]:
        verdict = rec.why_nothing(query)
        assert verdict.rule == "bar"
        return float(str(verdict.detail["needed"])), verdict.text

    threshold, text = threshold_and_text("who of us collects rare stamps of Bolivia and Chile?")
    assert threshold == pytest.approx(MIN_SCORE + UNKNOWN_NAMES_PENALTY)
    assert text.endswith(
        "threshold 0.45. The threshold is higher because “Bolivia”, “Chile” occur in no memory."
    )
    threshold, text = threshold_and_text(
        "why would Anna collect old stamps of Chile, coins, keys and toys?"
    )
    assert threshold == pytest.approx(MIN_SCORE)
    assert text.endswith(", threshold 0.39.")
