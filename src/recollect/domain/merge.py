"""
Merge what two machines did to the same record. Pure: histories in, a decision out.

A history is a list of marks, each made once on one machine and copied to others. So it tells what a
side has seen: if one side has every mark of the other, it is ahead, and the other is fast-forwarded
to it. If each has marks that the other lacks, both changed it:

- a memory: a person's decision beats the engine's. Two persons' decisions that disagree put it back
  into the inbox, with both reasons. Of two decisions of the engine the later one counts.
- a block: both texts are merged line by line with the last common version as the base. If the same
  lines were changed, ours stays, and theirs becomes a version and a proposal.

No mark is dropped, whatever is decided.
"""

import difflib
from collections.abc import Hashable, Sequence
from enum import StrEnum
from typing import TypeVar

from recollect.domain.change import ChangeKind
from recollect.domain.memory import Status
from recollect.lazy_dataclass import dataclass

PERSON = "user"  # the author of a change that a person made
_NOTES = frozenset({ChangeKind.CREATED, ChangeKind.HELD})  # they decide nothing
Mark = TypeVar("Mark", bound=Hashable)


class MergeOutcome(StrEnum):
    """What becomes of a record that differs on two machines."""

    OURS = "ours"  # nothing new, or ours counts
    THEIRS = "theirs"
    MERGED = "merged"  # a block whose texts were merged
    UNDECIDED = "undecided"  # a person decides


@dataclass(frozen=True, kw_only=True)
class ChangeMark:
    """A change of a memory, as far as a merge needs it."""

    id: str
    kind: ChangeKind
    after: Status
    by: str
    reason: str
    at: int  # microseconds

    @property
    def is_decision(self) -> bool:
        """Whether it decided about the status."""
        return self.kind not in _NOTES


@dataclass(frozen=True, kw_only=True)
class MemoryMerge:
    """Which side's status counts, and why nobody's does."""

    outcome: MergeOutcome
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class VersionMark:
    """A version of a block: its value, and who set it when."""

    value: str
    by: str
    reason: str
    changed_at: int
    unconfirmed_author: str = ""


@dataclass(frozen=True, kw_only=True)
class BlockMerge:
    """What becomes of a block: the versions to add in this order, and its text after them."""

    outcome: MergeOutcome
    added: tuple[VersionMark, ...] = ()
    value: str = ""
    proposed: str = ""  # the text that a person decides about


def merge_memory(ours: Sequence[ChangeMark], theirs: Sequence[ChangeMark]) -> MemoryMerge:
    """Decide whose status of a memory counts, from the changes that each side has."""
    our_ids, their_ids = {mark.id for mark in ours}, {mark.id for mark in theirs}
    if their_ids <= our_ids:
        return MemoryMerge(outcome=MergeOutcome.OURS)
    if our_ids <= their_ids:
        return MemoryMerge(outcome=MergeOutcome.THEIRS)
    our_last = _last_decision([mark for mark in ours if mark.id not in their_ids])
    their_last = _last_decision([mark for mark in theirs if mark.id not in our_ids])
    if their_last is None:
        return MemoryMerge(outcome=MergeOutcome.OURS)
    if our_last is None:
        return MemoryMerge(outcome=MergeOutcome.THEIRS)
    if our_last.after is their_last.after:
        return MemoryMerge(outcome=MergeOutcome.OURS)
    is_ours_human, is_theirs_human = our_last.by == PERSON, their_last.by == PERSON
    if is_ours_human and is_theirs_human:
        # In the same order on every machine.
        first, second = sorted((our_last, their_last), key=lambda mark: mark.id)
        return MemoryMerge(
            outcome=MergeOutcome.UNDECIDED,
            reason=f"two decisions disagree: {_describe(first)}; {_describe(second)}",
        )
    if is_ours_human != is_theirs_human:
        return MemoryMerge(outcome=MergeOutcome.OURS if is_ours_human else MergeOutcome.THEIRS)
    is_later = (our_last.at, our_last.id) > (their_last.at, their_last.id)
    return MemoryMerge(outcome=MergeOutcome.OURS if is_later else MergeOutcome.THEIRS)


def merge_block(
    ours: Sequence[VersionMark], theirs: Sequence[VersionMark], *, limit: int | None = None
) -> BlockMerge:
    """
    Decide the text of a block and which versions its history gains, from both histories.

    A merged text that is longer than *limit* is not taken: a person decides.
    """
    our_value, their_value = _value(ours), _value(theirs)
    missing = tuple(missing_marks(ours, theirs))
    if not missing:
        return BlockMerge(outcome=MergeOutcome.OURS, value=our_value)
    if not missing_marks(theirs, ours):
        return BlockMerge(outcome=MergeOutcome.THEIRS, added=missing, value=their_value)
    if our_value == their_value:
        return BlockMerge(outcome=MergeOutcome.OURS, added=missing, value=our_value)
    known_there = set(theirs)
    base = next((mark.value for mark in reversed(ours) if mark in known_there), None)
    merged = None if base is None else merge_lines(base, our_value, their_value)
    if merged is not None and (limit is None or len(merged) <= limit):
        return BlockMerge(outcome=MergeOutcome.MERGED, added=missing, value=merged)
    return BlockMerge(
        outcome=MergeOutcome.UNDECIDED, added=missing, value=our_value, proposed=their_value
    )


def missing_marks(ours: Sequence[Mark], theirs: Sequence[Mark]) -> list[Mark]:
    """Return the marks of *theirs* that *ours* lacks, in their order."""
    our_marks = set(ours)
    return [mark for mark in theirs if mark not in our_marks]


def merge_lines(base: str, ours: str, theirs: str) -> str | None:
    """Return the text with the line changes of both sides; None if they changed the same lines."""
    base_lines = base.splitlines(keepends=True)
    our_edits = _line_edits(base_lines, ours)
    edits = set(our_edits)
    for edit in _line_edits(base_lines, theirs):
        if edit not in our_edits and any(_overlap(edit, other) for other in our_edits):
            return None
        edits.add(edit)
    lines = list(base_lines)
    for start, end, replacement in sorted(edits, reverse=True):
        if replacement and start > 0 and start == len(base_lines):
            lines[start - 1] = _with_newline(lines[start - 1])
        lines[start:end] = replacement
    return "".join(_with_newline(line) for line in lines[:-1]) + "".join(lines[-1:])


_Edit = tuple[int, int, tuple[str, ...]]  # lines of the base from, to, and what replaces them


def _line_edits(base: list[str], text: str) -> list[_Edit]:
    lines = text.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(a=base, b=lines, autojunk=False)
    return [
        (start, end, tuple(lines[new_start:new_end]))
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]


def _overlap(edit: _Edit, other: _Edit) -> bool:
    """Return whether two edits touch the same or neighbouring lines: their order is a guess."""
    return edit[0] <= other[1] and other[0] <= edit[1]


def _with_newline(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n"


def _value(history: Sequence[VersionMark]) -> str:
    return history[-1].value if history else ""


def _last_decision(marks: Sequence[ChangeMark]) -> ChangeMark | None:
    """Return the decision that counts among the new ones: a person's, or else the last."""
    decisions = [mark for mark in marks if mark.is_decision]
    by_person = [mark for mark in decisions if mark.by == PERSON]
    return max(by_person or decisions, key=lambda mark: (mark.at, mark.id), default=None)


def _describe(mark: ChangeMark) -> str:
    return f"{mark.kind} ({mark.reason})" if mark.reason else str(mark.kind)
