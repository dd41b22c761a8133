"""What is linked to a hit is returned after the hits, if a caller asks for it."""

import pytest

from recollect import LocalRecollect
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit


def shown(hits: list[Hit]) -> list[tuple[str, str]]:
    return [(hit.memory.content, hit.reached) for hit in hits]


@pytest.fixture
def decision(words_only: LocalRecollect) -> Memory:
    """A decision and what is linked to it, in a project."""
    ingest = words_only.ingest
    decision = ingest("We deploy on Fly.io.", project="site")
    reason = ingest("Heroku raised its prices.", project="site")
    measured = ingest("A month costs nine euros.", project="site")
    words_only.link(reason.id, "supports", decision.id)
    words_only.link(decision.id, "derived_from", measured.id)
    ingest("The cat is called Minka.", project="site")
    return decision


@pytest.mark.usefixtures("decision")
def test_related_memories_follow_the_hits_only_if_asked_for(words_only: LocalRecollect) -> None:
    plain = words_only.search("where do we deploy?", project="site")
    related = words_only.search("where do we deploy?", project="site", related=True)

    assert shown(plain) == [("We deploy on Fly.io.", "visible")]
    assert shown(related) == [
        ("We deploy on Fly.io.", "visible"),
        ("Heroku raised its prices.", "related"),
        ("A month costs nine euros.", "related"),
    ]


def test_a_related_memory_says_how_it_is_linked(
    words_only: LocalRecollect, decision: Memory
) -> None:
    _, reason, measured = words_only.search("where do we deploy?", project="site", related=True)

    assert reason.explanation == f"Linked to a hit: it supports {decision.id}."
    assert measured.explanation == f"Linked to a hit: {decision.id} is derived from it."
    assert (reason.score, reason.matched_words) == (0, ())


def test_a_related_memory_never_stands_above_a_hit(words_only: LocalRecollect) -> None:
    best = words_only.ingest("The deploy window of the shop is Friday evening.")
    other = words_only.ingest("The deploy log is in the bucket.")
    words_only.ingest("Evening guests get tea.")
    words_only.link(best.id, "related_to", other.id)
    linked = words_only.ingest("Ana is on call.")
    words_only.link(linked.id, "applies_to", best.id)

    hits = words_only.search("deploy window on Friday evening", related=True)

    assert hits[0].memory.id == best.id
    assert hits[-1].memory.id == linked.id
    assert [hit.reached for hit in hits].count("related") == 1  # a hit stays a hit
    assert len({hit.memory.id for hit in hits}) == len(hits)


def test_related_memories_are_only_those_that_the_search_may_see(
    words_only: LocalRecollect, decision: Memory
) -> None:
    elsewhere = words_only.ingest("The bank ships by hand.", project="bank")
    archived = words_only.ingest("Netlify had no cron.", project="site")
    hint = words_only.ingest("Try it on staging.", type="task_hint", project="site")
    for other in (elsewhere, archived, hint):
        words_only.link(decision.id, "related_to", other.id)
    words_only.memories.set_status(archived.id, "archived")

    hits = words_only.search(
        "where do we deploy?", project="site", types=["project", "decision"], related=True
    )

    assert not {elsewhere.id, archived.id, hint.id} & {hit.memory.id for hit in hits}
    assert [hit.reached for hit in hits] == ["visible", "related", "related"]


def test_a_page_has_what_is_related_to_its_own_hits(
    words_only: LocalRecollect, decision: Memory
) -> None:
    second = words_only.ingest("Deploy notes are in the wiki of the team.", project="site")
    linked = words_only.ingest("Its address is wiki.example.org.", project="site")
    words_only.link(second.id, "related_to", linked.id)

    first_page = words_only.search("deploy", project="site", limit=1, related=True)
    second_page = words_only.search("deploy", project="site", limit=1, offset=1, related=True)

    direct = [page[0].memory.id for page in (first_page, second_page)]
    assert sorted(direct) == sorted([decision.id, second.id])
    of_second = second_page if direct[1] == second.id else first_page
    assert [hit.memory.id for hit in of_second[1:]] == [linked.id]
