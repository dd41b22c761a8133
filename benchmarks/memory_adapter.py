"""
Store the items of a task as memories: each one an episode of a project.

Questions are asked in their project without cross-project search, so nothing outside of the scope
is returned. Only text, time, project and a number for the session are passed on.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import recollect
from benchmarks.metrics import DEPTH
from benchmarks.question_rounds import PlacedItem, PlacedQuery
from recollect.domain.limits import MAX_CONTENT

BATCH = 500


class MemoryAdapter:
    """Stores items as memories, and maps results back to items."""

    def __init__(self) -> None:
        self._item_of: dict[str, str] = {}
        self._sessions: dict[tuple[str, str], str] = {}

    def store(self, rec: recollect.LocalRecollect, placed: Sequence[PlacedItem]) -> None:
        """Store all of *placed*; the word index is up to date when this returns."""
        for batch in _batches(placed):
            written = rec.memories.ingest_many([self._draft(item) for item in batch])
            ids = (item.item.id for item in batch)
            self._item_of.update(zip((memory.id for memory in written), ids, strict=True))

    def ask(self, rec: recollect.LocalRecollect, placed: PlacedQuery) -> list[recollect.Hit]:
        """Search; nothing else is done here, since this is timed."""
        query = placed.query
        return rec.search(query.text, project=placed.project, asked_at=query.asked_at, limit=DEPTH)

    def items(self, hits: Sequence[recollect.Hit]) -> tuple[str, ...]:
        """Return the item ids of *hits*, in order."""
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
