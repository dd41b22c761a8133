"""Verbs of the person who decides: what waits, what becomes of it, what to look at again."""

from collections.abc import Mapping, Sequence
from typing import Unpack

from recollect.app.given import Asked, Verbs, one_id, question_of
from recollect.domain.memory import Memory, Status
from recollect.domain.upkeep import Maintenance, Waiting
from recollect.service import inbox, maintenance, read, review


class Reviewing(Verbs):
    """Verbs of the person who decides: what waits, what becomes of it, what to look at again."""

    def inbox(self, *, limit: int = 50, **asked: Unpack[Asked]) -> list[Memory]:
        """Return the candidates that wait for a decision, newest first, of every owner."""
        return read.newest(self._deps, _candidates(asked, limit))

    def waiting(self, *, limit: int = 50, **asked: Unpack[Asked]) -> list[Waiting]:
        """
        Return the candidates as a reviewer wants them: grouped, the most certain first, folded.

        Each says why it waits, what it speaks against, who said it, and which others say the same
        (`also`). *limit* counts the leads; `number` and `of` say how many more there are.
        """
        return inbox.waiting(self._deps, _candidates(asked, limit))

    def decide(
        self,
        memory_id: str | Sequence[str],
        verdict: str,
        *,
        reason: str = "",
        by: str = "user",
    ) -> list[Memory]:
        """
        Decide over a candidate, or several, and all that is folded into it: all or none.

        *verdict* is `keep` (active), `replace` (active, and what it speaks against is superseded)
        or `reject` (archived). Returns every memory that changed, first the one named; `undo` of
        that one takes it all back. *by* is user or agent, for the history.
        """
        return review.decide(self._deps, memory_id, verdict, reason=reason, by=by)

    def twins(self, memory_id: str) -> list[Memory]:
        """Return the candidates that are folded with one: `decide` settles them along with it."""
        return review.twins(self._deps, memory_id)

    def promote(self, memory_id: str, *, reason: str = "", replaces: bool = False) -> Memory:
        """Make a candidate active; *replaces*: what it speaks against is superseded by it."""
        return review.promote(self._deps, one_id(memory_id), reason=reason, replaces=replaces)[0]

    def promote_many(
        self, memory_ids: Sequence[str], *, reason: str = "", replaces: bool = False
    ) -> list[Memory]:
        """Make candidates active, all or none."""
        return review.promote(self._deps, memory_ids, reason=reason, replaces=replaces)

    def reject(self, memory_id: str, reason: str = "") -> Memory:
        """Turn a candidate down; it is archived with the reason."""
        return review.reject(self._deps, one_id(memory_id), reason=reason)[0]

    def reject_many(self, memory_ids: Sequence[str], reason: str = "") -> list[Memory]:
        """Turn candidates down, all or none."""
        return review.reject(self._deps, memory_ids, reason=reason)

    def undo(self, memory_id: str) -> Memory:
        """Take back the last change of a memory's status, and what it changed along with it."""
        return review.undo(self._deps, one_id(memory_id))[0]

    def undo_many(self, memory_ids: Sequence[str]) -> list[Memory]:
        """Take back the last change of each, all or none."""
        return review.undo(self._deps, memory_ids)

    def consolidate(self, ids: Sequence[str] | None = None) -> Mapping[str, int]:
        """Compare candidates with what is known and apply policy; return what became of them."""
        return review.consolidate(self._deps, ids)

    def maintain(self, *, limit: int = 100) -> Maintenance:
        """Do scheduled maintenance; return what it leaves to a person."""
        return maintenance.maintain(self._deps, limit=limit)

    def confirm(self, memory_id: str) -> Memory:
        """Note that a memory is still true: it counts as fresh again."""
        return maintenance.confirm(self._deps, memory_id)


def _candidates(asked: Mapping[str, object], limit: int) -> read.Question:
    where = {"everywhere": True, **asked, "statuses": [Status.INBOX], "limit": limit}
    return question_of("", where)
