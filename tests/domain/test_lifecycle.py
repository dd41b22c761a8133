"""The moves of a memory: every pair of states is either allowed here or refused here."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from recollect.domain.lifecycle import TRANSITIONS, advance
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence
from recollect.errors import EvidenceMissing, IllegalTransition
from support import START
from tables import each_row

LATER = START + timedelta(hours=1)

# Written out again on purpose: a change of the table must be made twice, by someone who means it.
ALLOWED = {
    ("inbox", "active"),
    ("inbox", "superseded"),
    ("inbox", "contradicted"),
    ("inbox", "archived"),
    ("active", "inbox"),
    ("active", "superseded"),
    ("active", "contradicted"),
    ("active", "archived"),
    ("superseded", "inbox"),
    ("superseded", "active"),
    ("superseded", "archived"),
    ("contradicted", "inbox"),
    ("contradicted", "active"),
    ("contradicted", "superseded"),
    ("contradicted", "archived"),
    ("archived", "inbox"),
    ("archived", "active"),
}
REFUSED = set(product(Status, Status)) - {(Status(a), Status(b)) for a, b in ALLOWED}

QUOTE = Evidence(
    id="e1", memory_id="m1", source_id="s1", start=0, end=3, quote="abc", created_at=START
)


def memory(status: str, *, evidence: tuple[Evidence, ...] = (QUOTE,)) -> Memory:
    return Memory(
        id="m1",
        type=MemoryType.DECISION,
        scope=Scope.GLOBAL,
        status=Status(status),
        content="abc",
        observed_at=START,
        confirmed_at=START,
        created_at=START,
        updated_at=START,
        evidence=evidence,
    )


@each_row(("before", "after"), sorted(ALLOWED))
def test_an_allowed_move_changes_the_status_and_notes_the_time(before: str, after: str) -> None:
    moved = advance(memory(before), Status(after), at=LATER)

    assert moved.status is Status(after)
    assert moved.updated_at == LATER


@each_row(("before", "after"), sorted(REFUSED))
def test_any_other_move_is_refused_with_the_moves_there_are(before: Status, after: Status) -> None:
    with pytest.raises(IllegalTransition, match=f"m1 is {before} and cannot become {after}") as e:
        advance(memory(before), after, at=LATER)

    possible = str(e.value).partition("it may become ")[2].split(", ")
    assert {(before, one) for one in possible} == {pair for pair in ALLOWED if pair[0] == before}


def test_every_status_has_its_moves() -> None:
    assert set(TRANSITIONS) == set(Status)


@each_row("before", sorted(a for a, b in ALLOWED if b == "active"))
def test_nothing_becomes_active_without_evidence(before: str) -> None:
    with pytest.raises(EvidenceMissing, match=r"m1 has no evidence.*capture the source"):
        advance(memory(before, evidence=()), Status.ACTIVE, at=LATER)


@each_row(("before", "after"), sorted(pair for pair in ALLOWED if "active" not in pair[1]))
def test_a_move_to_any_other_status_needs_no_evidence(before: str, after: str) -> None:
    moved = advance(memory(before, evidence=()), Status(after), at=LATER)

    assert moved.status is Status(after)


def test_a_refused_move_is_refused_before_its_evidence_is_looked_at() -> None:
    with pytest.raises(IllegalTransition):
        advance(memory("active", evidence=()), Status.ACTIVE, at=LATER)


def test_becoming_active_confirms_a_memory() -> None:
    moved = advance(memory("inbox"), Status.ACTIVE, at=LATER)

    assert moved.confirmed_at == LATER


@each_row("after", ["inbox", "superseded", "contradicted", "archived"])
def test_leaving_active_does_not_confirm_a_memory(after: str) -> None:
    moved = advance(memory("active"), Status(after), at=LATER)

    assert moved.confirmed_at == START


def test_a_move_changes_nothing_but_status_and_times() -> None:
    before = memory("inbox")

    moved = advance(before, Status.ARCHIVED, at=LATER)

    assert moved == replace(before, status=Status.ARCHIVED, updated_at=LATER)
    assert before == memory("inbox")
