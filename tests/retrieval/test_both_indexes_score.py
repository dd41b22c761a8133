"""An item found by one index is scored by the other too; unknown names raise the threshold."""

from pathlib import Path
from typing import cast

import pytest

from recollect import LocalRecollect
from recollect.domain.scope import Owner, Scope
from recollect.retrieval.ranking_constants import (
    MIN_SCORE,
    MIN_WEAK_SCORE,
    SMALL_STORE_DISCOUNT,
    UNKNOWN_NAMES_PENALTY,
    WEAK_DISCOUNT,
)
from recollect.store.indexes.hybrid_search_index import MIN_CANDIDATES
from recollect.store.sqlite.store import SqliteTables
from recollect.store.values import Partition
from support import open_memory

MANY = 2 * MIN_CANDIDATES
GLOBAL = Owner(Scope.GLOBAL, "")
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
        index = cast(SqliteTables, tables).word_index
        [words] = index.find_query_words(QUERY, [[Partition(1, GLOBAL, 2 * MANY + 1, 999, 0)]])
        every_posting = index.read_postings([(words, 10**6)])
        everything = index.match(words, every_posting, limit=10**4, budget=10**6).matches
        worst = list(everything)[-3:]
        unmatched = max(everything) + 1
        postings = index.read_postings([(words, budget)])
        result = index.match(
            words, postings, limit=5, budget=budget, also=[*worst, unmatched, worst[0]]
        )

    assert len(everything) == 2 * MANY
    assert list(result.matches.items()) == list(everything.items())[:5]
    assert result.match_of([*worst, unmatched]) == {id_: everything[id_] for id_ in worst}


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
    usual = MIN_SCORE - SMALL_STORE_DISCOUNT - WEAK_DISCOUNT
    assert usual < MIN_WEAK_SCORE
    assert threshold == pytest.approx(usual + UNKNOWN_NAMES_PENALTY)
    assert text.endswith(
        "threshold 0.19. The threshold is higher because “Bolivia”, “Chile” occur in no memory."
    )
    threshold, text = threshold_and_text(
        "why would Anna collect old stamps of Chile, coins, keys and toys?"
    )
    assert threshold == pytest.approx(MIN_WEAK_SCORE)
    assert text.endswith(", threshold 0.17.")
