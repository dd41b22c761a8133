"""
Store the items of a task as messages of conversations with an agent.

Each project is an agent and each session a conversation, in the order of their times. Speakers
called user or assistant have that role; everybody else is a user.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import recollect
from benchmarks.metrics import DEPTH
from benchmarks.question_rounds import PlacedItem, PlacedQuery
from benchmarks.tasks import Task, TaskItem
from recollect.domain.limits import MAX_CONTENT
from recollect.wire.requests.conversations import MAX_MESSAGES

ROLES = ("user", "assistant")


def has_sessions(task: Task) -> bool:
    """Return whether *task* can be stored as conversations: sessions of more than one item."""
    sessions = {(item.scope, item.session) for item in task.items}
    return all(item.session for item in task.items) and len(sessions) < len(task.items)


class MessageAdapter:
    """Stores items as messages, and maps results back to items."""

    def __init__(self) -> None:
        self._item_of: dict[str, str] = {}
        self._conversations: dict[tuple[str, str], str] = {}

    def store(self, rec: recollect.LocalRecollect, placed: Sequence[PlacedItem]) -> None:
        """Store all of *placed*; the word index is up to date when this returns."""
        sessions: dict[tuple[str, str], list[TaskItem]] = {}
        for placed_item in placed:
            sessions.setdefault((placed_item.project, placed_item.item.session), []).append(
                placed_item.item
            )
        for key, items in sorted(sessions.items(), key=lambda pair: _time(pair[1][0].at)):
            conversation = self._open_conversation(rec, key, items[0].at)
            for start in range(0, len(items), MAX_MESSAGES):
                part = items[start : start + MAX_MESSAGES]
                messages = rec.conversations.append_many(
                    conversation, [_message(item) for item in part]
                )
                ids = (item.id for item in part)
                self._item_of.update(zip((message.id for message in messages), ids, strict=True))
            rec.conversations.end(conversation, ended_at=items[-1].at)

    def ask(self, rec: recollect.LocalRecollect, placed: PlacedQuery) -> list[recollect.MessageHit]:
        """Search; nothing else is done here, since this is timed."""
        query = placed.query
        return rec.conversations.search(
            query.text, agent=placed.project, asked_at=query.asked_at, limit=DEPTH
        )

    def items(self, hits: Sequence[recollect.MessageHit]) -> tuple[str, ...]:
        """Return the item ids of *hits*, in order."""
        return tuple(self._item_of[hit.message.id] for hit in hits)

    def _open_conversation(
        self, rec: recollect.LocalRecollect, key: tuple[str, str], at: datetime | None
    ) -> str:
        conversation_id = self._conversations.get(key)
        if conversation_id is not None:  # it continues in this round
            rec.conversations.resume(conversation_id)
            return conversation_id
        begun = rec.conversations.start(agent=key[0], started_at=at)
        self._conversations[key] = begun.id
        return begun.id


def _message(item: TaskItem) -> dict[str, Any]:
    role = item.speaker.lower()
    return {
        "role": role if role in ROLES else "user",
        "content": item.text[:MAX_CONTENT],
        "created_at": item.at,
    }


def _time(at: datetime | None) -> float:
    return float("inf") if at is None else at.timestamp()
