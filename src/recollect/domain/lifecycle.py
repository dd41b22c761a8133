"""
The states of a memory, and the moves between them.

`MOVES` says which kinds of change lead from which status to which; `undo` reverses any of them.
There is no other way: every change of status passes through `advance`. Nothing is active without
evidence; the database enforces it too.

docs/how-it-works/learning-pipeline.md has a drawing of the table (scripts/draw_lifecycle.py).
"""

from dataclasses import replace
from datetime import datetime

from recollect.domain.change import ChangeKind
from recollect.domain.memory import Memory, Status
from recollect.errors import EvidenceMissing, IllegalTransition

Move = tuple[Status, Status]

MOVES: dict[ChangeKind, frozenset[Move]] = {
    ChangeKind.PROMOTED: frozenset(
        {
            (Status.STATED, Status.ACTIVE),
            (Status.INBOX, Status.ACTIVE),
            (Status.SUPERSEDED, Status.ACTIVE),
            (Status.CONTRADICTED, Status.ACTIVE),
            (Status.ARCHIVED, Status.ACTIVE),
        }
    ),
    ChangeKind.REJECTED: frozenset(
        {(Status.STATED, Status.ARCHIVED), (Status.INBOX, Status.ARCHIVED)}
    ),
    ChangeKind.MERGED: frozenset(
        {(Status.INBOX, Status.ARCHIVED), (Status.INBOX, Status.SUPERSEDED)}
    ),
    ChangeKind.SUPERSEDED: frozenset(
        {
            (Status.STATED, Status.SUPERSEDED),
            (Status.INBOX, Status.SUPERSEDED),
            (Status.ACTIVE, Status.SUPERSEDED),
            (Status.CONTRADICTED, Status.SUPERSEDED),
        }
    ),
    ChangeKind.CONTRADICTED: frozenset({(Status.ACTIVE, Status.CONTRADICTED)}),
    ChangeKind.ARCHIVED: frozenset(
        {
            (Status.ACTIVE, Status.ARCHIVED),
            (Status.SUPERSEDED, Status.ARCHIVED),
            (Status.CONTRADICTED, Status.ARCHIVED),
        }
    ),
    ChangeKind.WITHDRAWN: frozenset({(Status.ACTIVE, Status.INBOX)}),
}
_MADE = frozenset(move for moves in MOVES.values() for move in moves)
MOVES[ChangeKind.UNDONE] = frozenset((after, before) for before, after in _MADE)


def kind_of_move(before: Status, after: Status) -> ChangeKind:
    """Return what kind of change a person makes who moves a memory from *before* to *after*."""
    by_hand = (kind for kind in MOVES if kind not in (ChangeKind.MERGED, ChangeKind.UNDONE))
    kind = next((kind for kind in by_hand if (before, after) in MOVES[kind]), None)
    if kind is None:
        raise IllegalTransition(_describe_refusal("a memory", before, after))
    return kind


def allowed_statuses(status: Status) -> frozenset[Status]:
    """Return the statuses that a person can move a memory of *status* to."""
    by_hand = (kind for kind in MOVES if kind not in (ChangeKind.MERGED, ChangeKind.UNDONE))
    return frozenset(after for kind in by_hand for before, after in MOVES[kind] if before is status)


def advance(memory: Memory, to: Status, kind: ChangeKind, *, at: datetime) -> Memory:
    """Return *memory* with status *to*, or raise `IllegalTransition` or `EvidenceMissing`."""
    if (memory.status, to) not in MOVES.get(kind, ()):
        raise IllegalTransition(_describe_refusal(f"memory {memory.id}", memory.status, to))
    if to is Status.ACTIVE and not memory.evidence:
        raise EvidenceMissing(
            f"memory {memory.id} has no evidence and cannot become active; "
            "capture the source it came from first"
        )
    # Undoing a change is no confirmation.
    is_confirmed = to is Status.ACTIVE and kind is not ChangeKind.UNDONE
    confirmed_at = at if is_confirmed else memory.confirmed_at
    return replace(memory, status=to, updated_at=at, confirmed_at=confirmed_at)


def _describe_refusal(what: str, before: Status, after: Status) -> str:
    allowed = sorted({later for earlier, later in _MADE if earlier is before})
    return f"{what} is {before} and cannot become {after}; it may become {', '.join(allowed)}"
