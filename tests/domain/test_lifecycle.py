"""The moves of a memory: every pair of states is either allowed here or refused here."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from recollect.domain.change import ChangeKind
from recollect.domain.lifecycle import advance, kind_of_move
from recollect.domain.memory import Memory, MemoryType, Status
from recollect.domain.scope import Scope
from recollect.domain.source import Evidence
from recollect.errors import EvidenceMissing, IllegalTransition
from support import START
from tables import each_row

LATER = START + timedelta(hours=1)

# Written out again on purpose: a change of the table must be made twice, by someone who means it.
MADE = {
    ("promoted", "stated", "active"),
    ("promoted", "inbox", "active"),
    ("promoted", "superseded", "active"),
    ("promoted", "contradicted", "active"),
    ("promoted", "archived", "active"),
    ("rejected", "stated", "archived"),
    ("rejected", "inbox", "archived"),
    ("merged", "inbox", "archived"),
    ("merged", "inbox", "superseded"),
    ("superseded", "stated", "superseded"),
    ("superseded", "inbox", "superseded"),
    ("superseded", "active", "superseded"),
    ("superseded", "contradicted", "superseded"),
    ("contradicted", "active", "contradicted"),
    ("archived", "active", "archived"),
    ("archived", "superseded", "archived"),
    ("archived", "contradicted", "archived"),
    ("withdrawn", "active", "inbox"),
}
UNDONE = {("undone", after, before) for _, before, after in MADE}
ALLOWED = MADE | UNDONE
EVERY = set(product(ChangeKind, Status, Status))
REFUSED = EVERY - {(ChangeKind(kind), Status(a), Status(b)) for kind, a, b in ALLOWED}

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


@each_row(("kind", "before", "after"), sorted(ALLOWED))
def test_an_allowed_move_changes_the_status_and_notes_the_time(
    kind: str, before: str, after: str
) -> None:
    moved = advance(memory(before), Status(after), ChangeKind(kind), at=LATER)

    assert moved.status is Status(after)
    assert moved.updated_at == LATER


@each_row(("kind", "before", "after"), sorted(REFUSED))
def test_any_other_move_is_refused_with_the_moves_there_are(
    kind: ChangeKind, before: Status, after: Status
) -> None:
    with pytest.raises(IllegalTransition, match=f"m1 is {before} and cannot become {after}") as e:
        advance(memory(before), after, kind, at=LATER)

    possible = str(e.value).partition("it may become ")[2].split(", ")
    assert set(possible) == {after for _, earlier, after in MADE if earlier == before}


@each_row(("before", "after"), sorted({(before, after) for _, before, after in MADE}))
def test_a_person_who_moves_a_memory_makes_a_change_of_one_kind(before: str, after: str) -> None:
    kind = kind_of_move(Status(before), Status(after))

    assert (kind.value, before, after) in MADE
    assert kind is not ChangeKind.MERGED


def test_a_person_cannot_make_a_move_that_only_undo_makes() -> None:
    with pytest.raises(IllegalTransition, match="is superseded and cannot become inbox"):
        kind_of_move(Status.SUPERSEDED, Status.INBOX)


@each_row(("kind", "before"), sorted((kind, a) for kind, a, b in ALLOWED if b == "active"))
def test_nothing_becomes_active_without_evidence(kind: str, before: str) -> None:
    with pytest.raises(EvidenceMissing, match=r"m1 has no evidence.*capture the source"):
        advance(memory(before, evidence=()), Status.ACTIVE, ChangeKind(kind), at=LATER)


@each_row(("kind", "before", "after"), sorted(move for move in ALLOWED if move[2] != "active"))
def test_a_move_to_any_other_status_needs_no_evidence(kind: str, before: str, after: str) -> None:
    moved = advance(memory(before, evidence=()), Status(after), ChangeKind(kind), at=LATER)

    assert moved.status is Status(after)


def test_a_refused_move_is_refused_before_its_evidence_is_looked_at() -> None:
    with pytest.raises(IllegalTransition):
        advance(memory("active", evidence=()), Status.ACTIVE, ChangeKind.PROMOTED, at=LATER)


def test_becoming_active_confirms_a_memory() -> None:
    moved = advance(memory("inbox"), Status.ACTIVE, ChangeKind.PROMOTED, at=LATER)

    assert moved.confirmed_at == LATER


def test_becoming_active_again_by_undo_does_not_confirm_a_memory() -> None:
    moved = advance(memory("archived"), Status.ACTIVE, ChangeKind.UNDONE, at=LATER)

    assert moved.confirmed_at == START


@each_row(("kind", "after"), sorted((kind, b) for kind, a, b in MADE if a == "active"))
def test_leaving_active_does_not_confirm_a_memory(kind: str, after: str) -> None:
    moved = advance(memory("active"), Status(after), ChangeKind(kind), at=LATER)

    assert moved.confirmed_at == START


def test_a_move_changes_nothing_but_status_and_times() -> None:
    before = memory("inbox")

    moved = advance(before, Status.ARCHIVED, ChangeKind.REJECTED, at=LATER)

    assert moved == replace(before, status=Status.ARCHIVED, updated_at=LATER)
    assert before == memory("inbox")
