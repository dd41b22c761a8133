"""What becomes of a record that two machines changed: tables of cases, and laws."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.change import ChangeKind
from recollect.domain.memory import Status
from recollect.domain.merge import (
    ChangeMark,
    MergeOutcome,
    VersionMark,
    merge_block,
    merge_lines,
    merge_memory,
)

CREATED = ChangeMark(
    id="0", kind=ChangeKind.CREATED, after=Status.INBOX, by="engine", reason="", at=0
)


def decided(number: int, kind: ChangeKind, by: str = "user", reason: str = "") -> ChangeMark:
    after = Status.ACTIVE if kind is ChangeKind.PROMOTED else Status.ARCHIVED
    return ChangeMark(id=str(number), kind=kind, after=after, by=by, reason=reason, at=number)


def version(value: str, number: int) -> VersionMark:
    return VersionMark(value=value, by="user", reason="", changed_at=number)


def test_the_side_that_has_seen_more_counts_and_persons_beat_the_engine() -> None:
    promoted, rejected = ChangeKind.PROMOTED, ChangeKind.REJECTED
    by_user, by_engine = decided(1, promoted), decided(2, rejected, by="engine")
    cases = [
        ([], [], MergeOutcome.OURS),
        ([], [by_user], MergeOutcome.THEIRS),
        ([by_user], [], MergeOutcome.OURS),
        ([by_user], [by_engine], MergeOutcome.OURS),
        ([by_engine], [by_user], MergeOutcome.THEIRS),
        ([by_user], [decided(3, promoted)], MergeOutcome.OURS),
        ([by_user], [decided(3, rejected)], MergeOutcome.UNDECIDED),
        ([by_engine], [decided(3, promoted, by="engine")], MergeOutcome.THEIRS),
        ([by_engine], [decided(1, promoted, by="engine")], MergeOutcome.OURS),
    ]
    for ours, theirs, outcome in cases:
        assert merge_memory([CREATED, *ours], [CREATED, *theirs]).outcome is outcome


def test_two_decisions_that_disagree_give_both_reasons_in_the_same_order_everywhere() -> None:
    ours = [CREATED, decided(1, ChangeKind.PROMOTED, reason="we use it daily")]
    theirs = [CREATED, decided(2, ChangeKind.REJECTED, reason="out of date")]

    here, there = merge_memory(ours, theirs), merge_memory(theirs, ours)

    assert here == there
    assert here.reason == (
        "two decisions disagree: promoted (we use it daily); rejected (out of date)"
    )


def test_blocks_fast_forward_merge_line_by_line_or_wait_for_a_person() -> None:
    base = version("a\nb\nc\n", 1)
    ours, theirs = version("A\nb\nc\n", 2), version("a\nb\nC\n", 3)

    assert merge_block([base], [base, theirs]).outcome is MergeOutcome.THEIRS
    assert merge_block([base, ours], [base]).outcome is MergeOutcome.OURS
    merged = merge_block([base, ours], [base, theirs])
    assert (merged.outcome, merged.value) == (MergeOutcome.MERGED, "A\nb\nC\n")
    assert merged.added == (theirs,)
    conflict = merge_block([base, ours], [base, version("X\nb\nc\n", 3)])
    assert conflict.outcome is MergeOutcome.UNDECIDED
    assert (conflict.value, conflict.proposed) == ("A\nb\nc\n", "X\nb\nc\n")
    strangers = merge_block([version("one", 1)], [version("two", 2)])
    assert strangers.outcome is MergeOutcome.UNDECIDED


LINES = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(base=LINES, ours=LINES, theirs=LINES)
def test_merging_lines_is_symmetric_and_keeps_what_one_side_changed(
    base: str, ours: str, theirs: str
) -> None:
    merged = merge_lines(base, ours, theirs)

    assert merged == merge_lines(base, theirs, ours)
    assert merge_lines(base, ours, base) == ours
    assert merge_lines(base, base, theirs) == theirs
    assert merge_lines(base, ours, ours) == ours
    if merged is not None:
        kept = set((ours + theirs).splitlines())
        assert set(merged.splitlines()) <= kept


@given(edits=st.lists(st.tuples(st.booleans(), LINES), max_size=6))
def test_after_merging_both_ways_both_machines_have_seen_everything(
    edits: list[tuple[bool, str]],
) -> None:
    start = version("start\n", 0)
    ours, theirs = [start], [start]
    for number, (is_ours, value) in enumerate(edits, start=1):
        (ours if is_ours else theirs).append(version(value, number))

    merged = merge_block(ours, theirs)
    here = [*ours, *merged.added]
    if here[-1].value != merged.value:
        here.append(version(merged.value, 99))
    back = merge_block(theirs, here)

    assert set(theirs) <= set(here)
    assert back.outcome in (MergeOutcome.OURS, MergeOutcome.THEIRS)
    assert back.value == merged.value
