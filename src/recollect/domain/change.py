"""
Changes of memories: what happened, what it did besides, who did it, when and why.

`kind` and `effects` are data: `undo` reverses the effects. `reason` is text for people: it is
shown, and no decision depends on it.
"""

from datetime import datetime
from enum import StrEnum

from recollect.domain.memory import Status
from recollect.lazy_dataclass import dataclass


class ChangeKind(StrEnum):
    """What happened to a memory. Which moves of status each kind makes is in lifecycle.py."""

    CREATED = "created"
    HELD = "held"  # the promotion policy leaves it in the inbox
    PROMOTED = "promoted"
    REJECTED = "rejected"
    MERGED = "merged"  # another memory says it, and has its evidence now
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    ARCHIVED = "archived"
    WITHDRAWN = "withdrawn"  # put back into the inbox
    UNDONE = "undone"


@dataclass(frozen=True, kw_only=True)
class ConfirmationChange:
    """Confidence and freshness of one memory, before and after a change."""

    memory_id: str
    confidence_before: float
    confidence_after: float
    confirmed_before: datetime
    confirmed_after: datetime


@dataclass(frozen=True, kw_only=True)
class ChangeEffects:
    """What caused a change, and what it did besides changing the status of its memory."""

    caused_by: str = ""  # id of the memory whose change caused this one
    superseded: tuple[str, ...] = ()  # ids of the memories it superseded
    merged: tuple[str, ...] = ()  # ids of the duplicates that were decided with it
    evidence: tuple[str, ...] = ()  # ids of the evidence it copied to another memory
    links: tuple[str, ...] = ()  # ids of the links it added
    confirmations: tuple[ConfirmationChange, ...] = ()
    policy_rule: str = ""  # the row of the promotion policy that decided


NO_EFFECTS = ChangeEffects()


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of a memory."""

    id: str
    memory_id: str
    kind: ChangeKind
    before: Status | None
    after: Status
    by: str
    reason: str
    at: datetime
    effects: ChangeEffects = NO_EFFECTS

    @property
    def description(self) -> str:
        """What happened, in words, and the reason."""
        return f"{self.action}: {self.reason}" if self.reason else self.action

    @property
    def action(self) -> str:
        """What happened, in words: the kind, and the other memories it was about."""
        what = _WORDS.get(self.kind, self.kind.value)
        if self.effects.caused_by:
            what = f"{what} {_CAUSES.get(self.kind, 'because of')} {self.effects.caused_by}"
        if self.effects.superseded:
            what = f"{what} in place of {', '.join(self.effects.superseded)}"
        return what


_WORDS = {ChangeKind.WITHDRAWN: "put back into the inbox"}
_CAUSES = {
    ChangeKind.CREATED: "as a copy of",
    ChangeKind.REJECTED: "as a duplicate of",
    ChangeKind.MERGED: "into",
    ChangeKind.SUPERSEDED: "by",
    ChangeKind.UNDONE: "with",
}
