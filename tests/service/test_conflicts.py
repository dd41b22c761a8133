"""Contradicting memories are listed in pairs, and a person settles them."""

import pytest

from recollect import IllegalTransition, InvalidInput, LocalRecollect, Memory
from support import FakeClock


@pytest.fixture
def pair(words_only: LocalRecollect, clock: FakeClock) -> tuple[Memory, Memory]:
    older = words_only.ingest("The port is 8080.", project="site")
    clock.advance(hours=1)
    newer = words_only.ingest("The port is 9090.", project="site")
    words_only.link(newer.id, "contradicts", older.id)
    words_only.link(older.id, "contradicts", newer.id)
    return older, newer


def test_a_pair_is_listed_once_the_older_memory_first(
    words_only: LocalRecollect, pair: tuple[Memory, Memory]
) -> None:
    (conflict,) = words_only.memories.conflicts()

    assert (conflict.memory.id, conflict.other.id) == (pair[0].id, pair[1].id)


def test_one_is_kept_and_the_other_superseded_until_undone(
    words_only: LocalRecollect, pair: tuple[Memory, Memory]
) -> None:
    older, newer = pair

    settled = words_only.memories.settle_conflict(newer.id, older.id, reason="moved")

    assert [memory.status for memory in settled] == ["active", "superseded"]
    assert words_only.memories.conflicts() == []
    words_only.undo(older.id)
    assert len(words_only.memories.conflicts()) == 1


def test_a_candidate_that_wins_becomes_active(words_only: LocalRecollect) -> None:
    active = words_only.ingest("The port is 8080.")
    candidate = words_only.ingest("The port is 9090.", status="inbox")
    words_only.link(candidate.id, "contradicts", active.id)

    words_only.memories.settle_conflict(candidate.id, active.id)

    assert words_only.memories.get(candidate.id).status == "active"
    assert words_only.memories.get(active.id).status == "superseded"


def test_both_can_be_true(words_only: LocalRecollect, pair: tuple[Memory, Memory]) -> None:
    words_only.memories.settle_conflict(pair[0].id, pair[1].id, both=True)

    assert words_only.memories.conflicts() == []
    assert words_only.maintenance.status().contradictions == 0
    assert [words_only.memories.get(memory.id).status for memory in pair] == ["active", "active"]


def test_a_conflict_that_is_settled_cannot_be_settled_again(
    words_only: LocalRecollect, pair: tuple[Memory, Memory]
) -> None:
    older, newer = pair
    other = words_only.ingest("Unrelated.")
    words_only.memories.settle_conflict(newer.id, older.id)

    with pytest.raises(IllegalTransition, match="superseded by now; the conflict is settled"):
        words_only.memories.settle_conflict(older.id, newer.id)
    with pytest.raises(IllegalTransition, match="do not contradict each other"):
        words_only.memories.settle_conflict(newer.id, other.id)
    with pytest.raises(InvalidInput, match="does not contradict itself"):
        words_only.memories.settle_conflict(newer.id, newer.id)
