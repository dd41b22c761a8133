"""The newer of two statements stands first, and a link brings it along."""

from datetime import timedelta

import pytest

import recollect
from recollect import LocalRecollect
from recollect.domain.scope import Owner, Scope
from recollect.retrieval.pipeline import RankedCandidate
from recollect.retrieval.prefer_newer import with_newer_sides
from recollect.store.search_index import IndexedRecord, SearchCandidate, VectorMatch, WordMatch
from recollect.text.change_cues import announces_change
from support import START, FakeClock
from tables import each_row


def candidate(name: str, day: int) -> SearchCandidate:
    at = START + timedelta(days=day)
    return SearchCandidate(
        IndexedRecord(id=name, sequence=day, owner=Owner(Scope.GLOBAL, ""), at=at)
    )


def test_a_linked_statement_that_is_newer_is_shown_with_the_older_one() -> None:
    title, renamed, oldest, other = (
        candidate(name, day) for name, day in (("title", 2), ("bora", 9), ("first", 1), ("tea", 3))
    )
    ranked = [RankedCandidate(other, 0.5), RankedCandidate(title, 0.4)]
    links = {"title": ("bora", "first", "gone"), "tea": ()}

    everything = [title, renamed, oldest, other]

    complete = with_newer_sides(ranked, links, everything, usual_similarity=0.2)

    assert [memory.id for memory in complete] == ["tea", "title", "bora"]
    assert complete[2].replaces_id == "title"
    again = [*ranked, RankedCandidate(renamed, 0.1)]
    assert with_newer_sides(again, links, [title, renamed], usual_similarity=0.2) == again


def test_a_linked_statement_with_nothing_of_the_query_is_not_shown() -> None:
    demo, invoices = candidate("demo", 2), candidate("invoices", 9)
    demo.vector_match, invoices.vector_match = VectorMatch(0.5, 1), VectorMatch(0.02, 1)
    ranked = [RankedCandidate(demo, 0.5)]
    links = {"demo": ("invoices",)}

    assert with_newer_sides(ranked, links, [demo, invoices], usual_similarity=0.2) == ranked
    invoices.word_match = WordMatch(1.0, ("opera",), 1.0)
    both = with_newer_sides(ranked, links, [demo, invoices], usual_similarity=0.2)
    assert [memory.id for memory in both] == ["demo", "invoices"]


def test_a_search_returns_the_newer_side_of_a_conflict_first(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    older = words_only.ingest("The detective is called Ilse Brandt.", project="novel")
    clock.advance(hours=1)
    newer = words_only.ingest("Ilse becomes Marta everywhere.", project="novel")
    words_only.link(newer.id, "contradicts", older.id)

    now = words_only.search("detective Ilse", project="novel", limit=2)
    before = words_only.search("what was the detective called before?", project="novel")

    assert [hit.memory.id for hit in now] == [newer.id, older.id]
    assert before[0].memory.id == older.id


def test_the_older_of_two_conflicting_hits_is_shown_as_earlier(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    older = words_only.ingest("The detective is called Ilse Brandt.", project="novel")
    clock.advance(days=3)
    newer = words_only.ingest("Ilse becomes Marta everywhere.", project="novel")
    words_only.link(newer.id, "contradicts", older.id)
    text = f"earlier; a newer memory contradicts it: {newer.id} of {newer.observed_at:%Y-%m-%d}"

    first, second = words_only.search("detective Ilse", project="novel")
    past = words_only.search("what was the detective called before?", project="novel")

    assert (first.memory.id, first.contradicted_by) == (newer.id, None)
    assert "earlier" not in first.explanation
    assert second.contradicted_by is not None
    assert (second.contradicted_by.id, second.contradicted_by.at) == (newer.id, newer.observed_at)
    assert second.explanation.endswith(f"; {text}.")
    assert [hit.contradicted_by for hit in past] == [None] * len(past)


def test_the_line_of_the_older_fact_in_a_bundle_names_the_line_of_the_newer_one(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    older = words_only.ingest("The detective is called Ilse Brandt.", project="novel")
    clock.advance(days=3)
    newer = words_only.ingest("The detective Ilse becomes Marta.", project="novel")
    words_only.link(newer.id, "contradicts", older.id)

    bundle = words_only.context_for("what is the detective Ilse called?", project="novel")

    [first, second] = [line for line in bundle.text.splitlines() if line.startswith("- [m")]
    assert newer.content in first
    assert "earlier" not in first
    assert older.content in second
    assert f"earlier; a newer memory contradicts it: m1 of {newer.observed_at:%Y-%m-%d}" in second


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("Swimming is on Wednesdays.", "swimming has moved to Mondays", "swimming"),
        ("The draft is due in January.", "The draft has time until March.", "draft"),
        ("Polars makes features.", "Polars is gone, features come from DuckDB", "Polars features"),
    ],
)
def test_the_newer_of_two_unlinked_statements_with_another_value_comes_first(
    words_only: LocalRecollect, clock: FakeClock, older: str, newer: str, question: str
) -> None:
    words_only.ingest(older, project="p")
    clock.advance(days=3)
    words_only.ingest(newer, project="p")

    hits = words_only.search(question, project="p")

    assert [hit.memory.content for hit in hits] == [newer, older]


@each_row(
    ("text", "expected"),
    [
        ("swimming has moved to Mondays", True),
        ("it's Zettle now", True),
        ("SumUp is gone", True),
        ("Wir nehmen ab jetzt Vitest, weil Jest Probleme macht.", True),
        ("the gate code is 4711", False),
        ("I know a good bakery", False),
    ],
)
def test_a_change_is_announced_by_its_words(text: str, expected: bool) -> None:
    assert announces_change(text) is expected


def test_a_newer_statement_about_something_else_does_not_stand_first(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    ana = words_only.ingest("Ana's flight is on Monday.")
    room = words_only.ingest("Room 12 is painted blue for 3 days.")
    clock.advance(days=1)
    words_only.ingest("Bob's flight is on Tuesday.")
    words_only.ingest("Room 16 is painted blue for 5 days.")

    assert words_only.search("when is Ana's flight?")[0].memory.id == ana.id
    assert words_only.search("Room 12")[0].memory.id == room.id


@pytest.mark.parametrize(
    ("query", "older", "newer"),
    [
        (
            "What position does Tony Parker play?",
            "Tony Parker plays the position of shooting guard.",
            "Nate Robinson plays the position of point guard.",
        ),
        (
            "Which sport is FC Slutsk associated with?",
            "FC Slutsk is associated with the sport of association football.",
            "Al-Ahli Saudi FC is associated with the sport of baseball.",
        ),
    ],
)
def test_a_newer_fact_about_another_name_does_not_stand_first(
    query: str, older: str, newer: str
) -> None:
    with recollect.open(":memory:") as rec:  # by words alone the two facts are not alike enough
        asked = rec.ingest(older, observed_at="2026-05-01")
        rec.ingest(newer, observed_at="2026-05-02")

        assert rec.search(query)[0].memory.id == asked.id
