"""Of what one leg finds the other has its say, and what no item has of a question is known."""

from pathlib import Path

import pytest

from recollect import Recollect
from recollect.domain.scope import ItemKind
from recollect.retrieval.bar import LEAST, UNHEARD_OF
from recollect.retrieval.candidates import LEAST_WANTED
from support import open_memory

MANY = 2 * LEAST_WANTED
QUERY = "which lamp is in the hall"


@pytest.mark.parametrize("budget", [1, MANY, 10**6], ids=["looked up", "both", "read"])
def test_items_that_are_asked_for_match_as_they_do_among_all(
    words_only: Recollect, budget: int
) -> None:
    words_only.ingest_many([{"content": f"the lamp {n} of the hall"} for n in range(MANY)])
    words_only.ingest_many([{"content": f"lamp {n} of a long row of lights"} for n in range(MANY)])
    words_only.ingest("a chair")

    with words_only._deps.store.read() as tables:
        shelves = tables.words.shelves(ItemKind.MEMORY, None)
        everything = tables.words.match(QUERY, shelves, limit=10**4)
        worst = [one.seq for one in everything.matches[-3:]]
        unmatched = max(one.seq for one in everything.matches) + 1
        told = tables.words.match(
            QUERY, shelves, limit=5, budget=budget, also=[*worst, unmatched, worst[0]]
        )

    assert len(everything.matches) == 2 * MANY
    assert told.matches[:5] == everything.matches[:5]
    assert set(told.matches[5:]) == set(everything.matches[-3:])


def test_what_is_near_has_its_words_though_a_hundred_others_have_more_of_them(
    path: Path,
) -> None:
    far = " ".join(f"other{n}" for n in range(20))
    with open_memory(path, synonyms={"corridor": "hall"}) as memory:
        memory.ingest_many([{"content": f"lamp hall {n} {far}"} for n in range(MANY)])
        kept = memory.ingest("a lamp, " + "corridor " * 30)
        memory.drain()

        hits = memory.search("lamp hall", limit=5)

    [it] = [hit for hit in hits if hit.memory.id == kept.id]
    assert it.matched_words == ("lamp",)
    assert it.parts.keyword > 0


def test_names_that_occur_nowhere_raise_the_bar_and_are_named(memory: Recollect) -> None:
    memory.ingest("Anna feeds the cat.")
    memory.drain()

    def told(query: str) -> tuple[float, str]:
        verdict = memory.why_nothing(query)
        assert verdict.rule == "bar"
        return float(str(verdict.detail["needed"])), verdict.text

    unheard_of, why = told("who of us collects rare stamps of Bolivia and Chile?")
    assert unheard_of == pytest.approx(LEAST + UNHEARD_OF)
    assert "is needed, since “Bolivia”, “Chile” occur nowhere here." in why
    known, why = told("why would Anna collect old stamps of Chile, coins, keys and toys?")
    assert known == pytest.approx(LEAST)
    assert why.endswith("is needed.")
