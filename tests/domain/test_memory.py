"""What a memory knows about itself: its owner, its evidence, and how fresh it is."""

from dataclasses import FrozenInstanceError, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.memory import HALF_LIFE, Memory, MemoryType, Status
from recollect.domain.scope import Owner, Scope
from recollect.domain.source import Evidence
from support import START
from tables import each_row

PLACED = Memory(
    id="m1",
    type=MemoryType.DECISION,
    scope=Scope.GLOBAL,
    status=Status.ACTIVE,
    content="We use Postgres.",
    project_id="p",
    repo_id="r",
    agent_id="a",
    session_id="s",
    observed_at=START,
    confirmed_at=START,
    created_at=START,
    updated_at=START,
)

ages = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=3650))


def quote(evidence_id: str, source_id: str) -> Evidence:
    return Evidence(
        id=evidence_id,
        memory_id="m1",
        source_id=source_id,
        start=0,
        end=2,
        quote="We",
        created_at=START,
    )


@each_row(
    ("scope", "owner_id"),
    [
        (Scope.GLOBAL, ""),
        (Scope.PROJECT, "p"),
        (Scope.REPO, "r"),
        (Scope.AGENT, "a"),
        (Scope.SESSION, "s"),
    ],
)
def test_the_owner_is_the_scope_and_that_scopes_id(scope: Scope, owner_id: str) -> None:
    assert replace(PLACED, scope=scope).owner == Owner(scope, owner_id)


def test_the_owner_of_a_memory_without_that_place_has_an_empty_id() -> None:
    unplaced = replace(PLACED, scope=Scope.PROJECT, project_id=None)

    assert unplaced.owner == Owner(Scope.PROJECT, "")


def test_the_first_evidence_names_the_source() -> None:
    rested = replace(PLACED, evidence=(quote("e1", "s1"), quote("e2", "s2")))

    assert rested.source_ref == "s1"
    assert rested.evidence_ref == ("e1", "e2")


def test_a_memory_without_evidence_has_no_source() -> None:
    assert PLACED.source_ref is None
    assert PLACED.evidence_ref == ()


def test_a_memory_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        PLACED.content = "We use MySQL."  # type: ignore[misc]


@each_row(
    ("type_", "days"),
    [
        (MemoryType.PROFILE, 730),
        (MemoryType.PROJECT, 180),
        (MemoryType.DECISION, 365),
        (MemoryType.ARTIFACT, 365),
        (MemoryType.EPISODE, 30),
        (MemoryType.TASK_HINT, 60),
    ],
)
def test_a_memory_is_half_as_fresh_after_the_half_life_of_its_type(
    type_: MemoryType, days: int
) -> None:
    aged = replace(PLACED, type=type_)

    assert aged.freshness(START) == 1.0
    assert aged.freshness(START + timedelta(days=days)) == pytest.approx(0.5)
    assert aged.freshness(START + timedelta(days=2 * days)) == pytest.approx(0.25)


def test_every_type_has_a_half_life() -> None:
    assert set(HALF_LIFE) == set(MemoryType)


def test_a_memory_confirmed_in_the_future_counts_as_fresh_and_no_more() -> None:
    assert PLACED.freshness(START - timedelta(days=400)) == 1.0


def test_freshness_counts_from_the_last_confirmation_not_from_creation() -> None:
    renewed = replace(PLACED, confirmed_at=START + timedelta(days=365))

    assert renewed.freshness(START + timedelta(days=365)) == 1.0


def test_freshness_can_be_asked_for_the_end_of_time() -> None:
    assert PLACED.freshness(datetime.max.replace(tzinfo=START.tzinfo)) >= 0.0


@given(st.sampled_from(MemoryType), ages, ages)
def test_freshness_never_rises_with_age_and_stays_within_bounds(
    type_: MemoryType, one: timedelta, other: timedelta
) -> None:
    aged = replace(PLACED, type=type_)
    younger, older = sorted((one, other))

    assert 0.0 <= aged.freshness(START + older) <= aged.freshness(START + younger) <= 1.0
