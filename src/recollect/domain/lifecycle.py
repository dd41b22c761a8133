"""
The states of a memory and the allowed transitions.

                 ┌────────── undo ──────────┐
                 ▼                          │
    (new) ──► inbox ──── promote ───────► active ──► superseded ─┐
                 │                          │   └──► contradicted ┤  (and back to active)
                 ├── reject ──► archived ◄──┴─────────────────────┘
                 └── corrected before review ──► superseded

Rule 1: every change of status passes through `advance`.
Rule 2: nothing is active without evidence; the database enforces it too.
"""

from dataclasses import replace
from datetime import datetime

from recollect.domain.memory import Memory, Status
from recollect.errors import EvidenceMissing, IllegalTransition

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.INBOX: frozenset(
        {Status.ACTIVE, Status.SUPERSEDED, Status.CONTRADICTED, Status.ARCHIVED}
    ),
    Status.ACTIVE: frozenset(
        {Status.INBOX, Status.SUPERSEDED, Status.CONTRADICTED, Status.ARCHIVED}
    ),
    Status.SUPERSEDED: frozenset({Status.INBOX, Status.ACTIVE, Status.ARCHIVED}),
    Status.CONTRADICTED: frozenset(
        {Status.INBOX, Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED}
    ),
    Status.ARCHIVED: frozenset({Status.INBOX, Status.ACTIVE}),
}


def advance(memory: Memory, to: Status, *, at: datetime) -> Memory:
    """Return *memory* with status *to*, or raise `IllegalTransition` or `EvidenceMissing`."""
    if to not in TRANSITIONS[memory.status]:
        allowed = ", ".join(sorted(TRANSITIONS[memory.status]))
        raise IllegalTransition(
            f"memory {memory.id} is {memory.status} and cannot become {to}; it may become {allowed}"
        )
    if to is Status.ACTIVE and not memory.evidence:
        raise EvidenceMissing(
            f"memory {memory.id} has no evidence and cannot become active; "
            "capture the source it came from first"
        )
    confirmed_at = at if to is Status.ACTIVE else memory.confirmed_at
    return replace(memory, status=to, updated_at=at, confirmed_at=confirmed_at)
