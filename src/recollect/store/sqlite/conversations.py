"""Conversations with their summaries and pins, in SQLite. Messages are in messages.py."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.conversation import CompactionMode, Conversation, Pin, Summary
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import FOREVER_AHEAD, Row, fetch_all, micros_or, to_json

_SQL = query_loader.load("conversations")


class SqliteConversationTable:
    """See `recollect.store.protocol.ConversationTable`."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def add(self, conversation: Conversation) -> None:
        self._db.execute(_SQL["add_conversation"], _values(conversation))

    def set(self, conversation: Conversation) -> None:
        self._db.execute(_SQL["set_conversation"], _values(conversation))

    def get(self, conversation_id: str) -> Conversation | None:
        row = self._db.execute(_SQL["conversation"], {"id": conversation_id}).fetchone()
        return _conversation(row) if row else None

    def latest(
        self,
        agent_id: str | None,
        *,
        project_id: str | None = None,
        before: datetime | None = None,
        limit: int,
        offset: int = 0,
    ) -> list[Conversation]:
        values = {
            "agent_id": agent_id,
            "project_id": project_id,
            "before": micros_or(before, FOREVER_AHEAD),
            "limit": limit,
            "offset": offset,
        }
        query = "conversations" if agent_id is None else "conversations_of_agent"
        return [_conversation(row) for row in self._db.execute(_SQL[query], values)]

    def with_messages(self, agent_id: str, *, before: datetime, limit: int) -> list[Conversation]:
        values = {"agent_id": agent_id, "before": to_micros(before), "limit": limit}
        return [_conversation(row) for row in self._db.execute(_SQL["with_messages"], values)]

    def latest_open(self, agent_id: str, *, begun_by: str) -> tuple[Conversation, datetime] | None:
        values = {"agent_id": agent_id, "begun_by": begun_by}
        row = self._db.execute(_SQL["latest_open"], values).fetchone()
        if row is None:
            return None
        *columns, last_at = row
        conversation = _conversation(tuple(columns))
        used_at = conversation.started_at if last_at is None else from_micros(last_at)
        return conversation, used_at

    def own_memory_ids(self, conversation_id: str) -> list[str]:
        return [row[0] for row in self._db.execute(_SQL["own_memory_ids"], {"id": conversation_id})]

    def own_events(self, conversation_id: str) -> list[tuple[str, str | None]]:
        return fetch_all(self._db.execute(_SQL["own_events"], {"id": conversation_id}))

    def delete(self, conversation_id: str) -> None:
        for step in ("delete_retrievals", "delete_conversation"):
            self._db.execute(_SQL[step], {"id": conversation_id})

    def add_summary(self, summary: Summary) -> None:
        values = {
            "id": summary.id,
            "conversation_id": summary.conversation_id,
            "mode": summary.mode.value,
            "content": summary.content,
            "first_position": summary.first_position,
            "last_position": summary.last_position,
            "tokens": summary.tokens,
            "made_by": summary.made_by,
            "created_at": to_micros(summary.created_at),
        }
        self._db.execute(_SQL["add_summary"], values)

    def summaries(self, conversation_id: str) -> list[Summary]:
        rows = self._db.execute(_SQL["summaries"], {"conversation_id": conversation_id})
        return [_summary(row) for row in rows]

    def last_summaries(self, conversation_ids: Sequence[str]) -> Mapping[str, Summary]:
        rows = self._db.execute(_SQL["last_summaries"], {"ids": to_json(list(conversation_ids))})
        return {summary.conversation_id: summary for summary in map(_summary, rows)}

    def add_pin(self, pin: Pin) -> None:
        values = {
            "id": pin.id,
            "conversation_id": pin.conversation_id,
            "kind": pin.kind,
            "content": pin.content,
            "active": int(pin.active),
            "pinned_at": to_micros(pin.pinned_at),
        }
        self._db.execute(_SQL["add_pin"], values)

    def set_pin(self, pin: Pin) -> None:
        self._db.execute(_SQL["set_pin"], {"id": pin.id, "active": int(pin.active)})

    def pin(self, pin_id: str) -> Pin | None:
        row = self._db.execute(_SQL["pin"], {"id": pin_id}).fetchone()
        return _pin(row) if row else None

    def pins(self, conversation_id: str) -> list[Pin]:
        rows = self._db.execute(_SQL["pins"], {"conversation_id": conversation_id})
        return [_pin(row) for row in rows]


def _values(conversation: Conversation) -> dict[str, Any]:
    ended_at = conversation.ended_at
    return {
        "id": conversation.id,
        "agent_id": conversation.agent_id,
        "project_id": conversation.project_id,
        "repo_id": conversation.repo_id,
        "title": conversation.title,
        "metadata": to_json(dict(conversation.metadata)),
        "started_at": to_micros(conversation.started_at),
        "ended_at": None if ended_at is None else to_micros(ended_at),
    }


def _conversation(row: Row) -> Conversation:
    conversation_id, agent_id, project_id, repo_id, title, metadata, started_at, ended_at = row
    return Conversation(
        id=conversation_id,
        agent_id=agent_id,
        project_id=project_id,
        repo_id=repo_id,
        title=title,
        metadata=json.loads(metadata),
        started_at=from_micros(started_at),
        ended_at=None if ended_at is None else from_micros(ended_at),
    )


def _summary(row: Row) -> Summary:
    summary_id, conversation_id, mode, content, first, last, tokens, made_by, created_at = row
    return Summary(
        id=summary_id,
        conversation_id=conversation_id,
        mode=CompactionMode(mode),
        content=content,
        first_position=first,
        last_position=last,
        tokens=tokens,
        made_by=made_by,
        created_at=from_micros(created_at),
    )


def _pin(row: Row) -> Pin:
    pin_id, conversation_id, kind, content, active, pinned_at = row
    return Pin(
        id=pin_id,
        conversation_id=conversation_id,
        kind=kind,
        content=content,
        active=bool(active),
        pinned_at=from_micros(pinned_at),
    )
