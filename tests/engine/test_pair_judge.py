"""
The judge of pairs: a later statement that changes an earlier one is linked, and replaces nothing.

The statements here are not among those that the judge was trained on.
"""

from datetime import timedelta

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.memory import Status
from recollect.engine.judges import pairs
from recollect.engine.judges.linear_model import read_heads
from recollect.engine.judges.neighbourhood_features import NEIGHBOURHOOD_NAMES, EarlierStatement
from recollect.engine.judges.pair_features import BUCKET_BITS, DENSE_NAMES
from recollect.engine.judges.pairs import (
    CHANGE,
    MIN_CHANGE,
    WEIGHTS,
    change_probabilities,
    features_of_pairs,
)
from support import START
from tables import each_row

BEFORE = "the newsletter goes out every Friday at noon"
AFTER = "the newsletter goes out on Tuesdays now, not Fridays anymore"


def change_probability(earlier: str, later: str, similarity: float | None = None) -> float:
    return change_probabilities(later, [EarlierStatement(earlier, similarity)])[0]


@each_row(
    ("earlier", "later"),
    [
        (BEFORE, AFTER),
        (
            "the choir meets in the parish hall",
            "choir has moved to the school, not the hall anymore",
        ),
        (
            "invoices are kept for six years",
            "turns out invoices have to be kept ten years, not six",
        ),
    ],
)
def test_an_update_or_a_correction_is_a_likely_change(earlier: str, later: str) -> None:
    assert change_probability(earlier, later) >= MIN_CHANGE


@each_row(
    ("earlier", "later"),
    [
        ("the newsletter goes out every Friday at noon", "my sister plays the cello"),
        ("Leo's teacher is Mr Varga", "the dentist moved to Elm Street, not Oak Street anymore"),
    ],
)
def test_statements_about_different_things_do_not_change_each_other(
    earlier: str, later: str
) -> None:
    assert change_probability(earlier, later, 0.1) < MIN_CHANGE


def test_the_weights_fit_the_features() -> None:
    heads, about = read_heads(WEIGHTS)

    count = len(DENSE_NAMES) + len(NEIGHBOURHOOD_NAMES)
    assert set(heads) == {CHANGE}
    assert len(heads[CHANGE].dense) == count
    assert len(heads[CHANGE].buckets) == 1 << BUCKET_BITS
    assert len(features_of_pairs("b", [EarlierStatement("a", None)])[0].dense) == count
    assert about["data"]


def test_of_several_statements_about_one_thing_the_one_that_is_meant_is_the_likeliest() -> None:
    earlier = [
        "the newsletter is written by Ada and proofread by Ben",
        BEFORE,
        "readers can leave the newsletter with one click",
        "the printer of the newsletter is in Leith",
    ]

    probabilities = change_probabilities(AFTER, [EarlierStatement(text, None) for text in earlier])

    assert max(probabilities) == probabilities[earlier.index(BEFORE)] >= MIN_CHANGE


def test_a_likely_change_is_linked_and_neither_statement_becomes_active_or_superseded(
    rec: LocalRecollect,
) -> None:
    for days, text in enumerate((BEFORE, AFTER)):
        message = {"role": "user", "content": text, "created_at": START + timedelta(days=days)}
        rec.capture_session([message], project="paper")
        rec.drain()

    entries = rec.inbox.list(project="paper", grouped=False)
    linked = [
        {entry.memory.content, *(memory.content for memory in entry.conflicts)}
        for entry in entries
        if entry.conflicts
    ]

    assert {BEFORE, AFTER} in linked
    assert {entry.memory.status for entry in entries} == {Status.INBOX}
    assert {entry.memory.content for entry in entries} >= {BEFORE, AFTER}


def test_the_weights_are_read_when_a_pair_is_judged() -> None:
    pairs._heads.cache_clear()

    change_probability(BEFORE, AFTER)

    assert pairs._heads.cache_info().currsize == 1


@each_row(
    ("earlier", "later"),
    [
        ("we keep the receipts for 5 years", "turns out the receipts must be kept for 7 years"),
        ("the shop opens at 9:00", "we open at 8:30 now, the early customers asked for it"),
        ("wir bestellen das Mehl bei Kern", "das Mehl kommt jetzt von Adler statt von Kern"),
    ],
)
def test_a_change_of_one_value_reaches_the_threshold(earlier: str, later: str) -> None:
    assert change_probability(earlier, later) >= MIN_CHANGE


@each_row(
    ("earlier", "later"),
    [
        ("the shop opens at 9:00", "my sister Ana lives in Ghent"),
        ("wir bestellen das Mehl bei Kern", "die Rechnungen liegen im zweiten Schrank"),
        ("the staging server is called heron", "the novel is set in Trieste"),
    ],
)
def test_statements_about_different_things_do_not(earlier: str, later: str) -> None:
    assert change_probability(earlier, later) < MIN_CHANGE


def test_what_changes_a_fact_of_the_project_is_a_candidate_of_the_project(
    rec: LocalRecollect,
) -> None:
    flour = "We get the flour from Kern, they deliver on Mondays."
    change = "I get my flour from Adler now, not from Kern anymore."
    for days, text in enumerate((flour, change)):
        message = {"role": "user", "content": text, "created_at": START + timedelta(days=days)}
        rec.capture_session([message], project="bakery", agent="till")
        rec.drain()

    scopes = {item.memory.content: item.memory.scope for item in rec.inbox.list(grouped=False)}
    assert scopes == {flour: "project", change: "project"}
    for item in rec.inbox.list():
        assert {item.memory.content, *(other.content for other in item.conflicts)} == {
            flour,
            change,
        }
    assert rec.maintenance.verify().ok
