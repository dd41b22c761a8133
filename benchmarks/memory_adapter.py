"""
Put items to Recollect as memories: each an episode of a project.

A question is asked in its project with the door to other projects shut, so nothing outside its
scope can be returned. Text, time, project and a bare number for the session are handed over; no
category, no gold, and no name in which either might show.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import recollect
from benchmarks.metrics import DEPTH
from benchmarks.question_rounds import PlacedItem, PlacedQuery
from recollect.domain.limits import MAX_CONTENT

BATCH = 500


class MemoryAdapter:
    """Items on their way in and back: it knows which memory is which item."""

    def __init__(self) -> None:
        self._item_of: dict[str, str] = {}
        self._sessions: dict[tuple[str, str], str] = {}

    def store(self, rec: recollect.LocalRecollect, placed: Sequence[PlacedItem]) -> None:
        """Write all of *placed*, found by words when this returns."""
        for batch in _batches(placed):
            written = rec.memories.ingest_many([self._draft(item) for item in batch])
            ids = (item.item.id for item in batch)
            self._item_of.update(zip((memory.id for memory in written), ids, strict=True))

    def ask(self, rec: recollect.LocalRecollect, placed: PlacedQuery) -> list[recollect.Hit]:
        """Return what the door answers; nothing else is done, since this is timed."""
        query = placed.query
        return rec.search(query.text, project=placed.project, asked_at=query.asked_at, limit=DEPTH)

    def items(self, hits: Sequence[recollect.Hit]) -> tuple[str, ...]:
        """Return the items of an answer, in its order."""
        return tuple(self._item_of[hit.memory.id] for hit in hits)

    def _draft(self, placed: PlacedItem) -> dict[str, Any]:
        item = placed.item
        draft: dict[str, Any] = {
            "content": item.text[:MAX_CONTENT],
            "type": "episode",
            "scope": "project",
            "project": placed.project,
            "title": "",
            "observed_at": item.at,
        }
        if item.session:
            key = placed.project, item.session
            draft["session"] = self._sessions.setdefault(key, f"session {len(self._sessions) + 1}")
        return draft


def _batches(placed: Sequence[PlacedItem]) -> Iterator[Sequence[PlacedItem]]:
    for start in range(0, len(placed), BATCH):
        yield placed[start : start + BATCH]
