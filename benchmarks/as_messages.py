"""
Put items to Recollect as messages: what people say to an agent in real use.

Each project is an agent, each session a conversation of it, begun in the order of their times and
ended when all of it is said. Speakers called user or assistant have that role; anybody else is a
user, with the name in the text where the task has it there.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import recollect
from benchmarks.metrics import DEPTH
from benchmarks.rounds import Asked, Placed
from benchmarks.tasks import Item, Task
from recollect.service.conversations import MAX_MESSAGES
from recollect.service.inputs import MAX_CONTENT

ROLES = ("user", "assistant")


def has_sessions(task: Task) -> bool:
    """Say whether *task* can be told as conversations: sessions of more than one item."""
    sessions = {(item.scope, item.session) for item in task.items}
    return all(item.session for item in task.items) and len(sessions) < len(task.items)


class AsMessages:
    """Items on their way in and back: it knows which message is which item."""

    def __init__(self) -> None:
        self._item_of: dict[str, str] = {}
        self._conversations: dict[tuple[str, str], str] = {}

    def store(self, memory: recollect.LocalRecollect, placed: Sequence[Placed]) -> None:
        """Write all of *placed*, found by words when this returns."""
        sessions: dict[tuple[str, str], list[Item]] = {}
        for one in placed:
            sessions.setdefault((one.project, one.item.session), []).append(one.item)
        for key, items in sorted(sessions.items(), key=lambda pair: _time(pair[1][0].at)):
            conversation = self._begun(memory, key, items[0].at)
            for start in range(0, len(items), MAX_MESSAGES):
                part = items[start : start + MAX_MESSAGES]
                said = memory.conversations.append_many(conversation, [_message(item) for item in part])
                ids = (item.id for item in part)
                self._item_of.update(zip((message.id for message in said), ids, strict=True))
            memory.conversations.end(conversation, ended_at=items[-1].at)

    def ask(self, memory: recollect.LocalRecollect, asked: Asked) -> list[recollect.MessageHit]:
        """Return what the door answers; nothing else is done, since this is timed."""
        query = asked.query
        return memory.conversations.search(
            query.text, agent=asked.project, asked_at=query.asked_at, limit=DEPTH
        )

    def items(self, hits: Sequence[recollect.MessageHit]) -> tuple[str, ...]:
        """Return the items of an answer, in its order."""
        return tuple(self._item_of[hit.message.id] for hit in hits)

    def _begun(self, memory: recollect.LocalRecollect, key: tuple[str, str], at: datetime | None) -> str:
        known = self._conversations.get(key)
        if known is not None:  # more was said in it since the last round
            memory.conversations.resume(known)
            return known
        begun = memory.conversations.start(agent=key[0], started_at=at)
        self._conversations[key] = begun.id
        return begun.id


def _message(item: Item) -> dict[str, Any]:
    role = item.speaker.lower()
    return {
        "role": role if role in ROLES else "user",
        "content": item.text[:MAX_CONTENT],
        "created_at": item.at,
    }


def _time(at: datetime | None) -> float:
    return float("inf") if at is None else at.timestamp()
