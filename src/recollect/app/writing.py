"""Verbs that write by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.app.given import Moment, Place, Texts, Verbs, draft_of, path_of
from recollect.domain.block import By
from recollect.domain.link import Link
from recollect.domain.memory import Memory, Status
from recollect.domain.upkeep import Receipt
from recollect.service import inputs, write
from recollect.service.forget import forget
from recollect.service.places import Where


class Writing(Verbs):
    """Verbs that write by hand."""

    def ingest(
        self,
        content: str,
        *,
        type: str | None = None,
        scope: str | None = None,
        project: Place = None,
        repo: Place = None,
        agent: str | None = None,
        session: str | None = None,
        title: str = "",
        summary: str = "",
        tags: Texts = (),
        confidence: float = 1.0,
        observed_at: Moment = None,
        rationale: str = "",
        alternatives: Sequence[str] = (),
        status: str = "active",
        by: str = "user",
    ) -> Memory:
        """
        Remember something: stored, with evidence, and found by words when this returns.

        *by* is user or agent: what an agent wrote is never taken for the user's own word.
        """
        wanted = write.draft(
            content,
            where=Where.of(path_of(project), path_of(repo), agent, session),
            type=type,
            scope=scope,
            status=status,
            title=title,
            summary=summary,
            tags=tags,
            confidence=confidence,
            observed_at=observed_at,
            rationale=rationale,
            alternatives=alternatives,
            by=by,
        )
        return write.ingest(self._deps, wanted)

    def ingest_many(self, items: Sequence[Mapping[str, Any]]) -> list[Memory]:
        """Remember several things in one transaction, all or none; each a dict for `ingest`."""
        return write.ingest_many(self._deps, [draft_of(item) for item in items])

    def upsert_profile_fact(self, key: str, value: str) -> Memory:
        """Set a named fact about the user; its former value stays readable as superseded."""
        return write.upsert_profile_fact(self._deps, key, value)

    def set_status(
        self, memory_id: str, status: str, *, reason: str = "", by: str = "user"
    ) -> Memory:
        """Move a memory along its lifecycle: to inbox, active, superseded, …"""
        to = inputs.one_of("status", Status, status)
        return write.move(self._deps, memory_id, to, by=inputs.one_of("by", By, by), reason=reason)

    def link(self, a: str, relation: str, b: str, *, note: str = "") -> Link:
        """Link memory *a* to memory *b*, or to a project written as `project:NAME`."""
        return write.link(self._deps, a, relation, b, note=note)

    def forget(self, memory_id: str) -> Receipt:
        """Remove a memory from every table and index; return a receipt."""
        return forget(self._deps, memory_id)
