"""Conversations with their summaries and pins, in SQLite. Messages are in messages.py."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.clock import from_micros
from recollect.domain.conversation import Conversation, Pin, Summary
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import FOREVER_AHEAD, micros_or
from recollect.store.sqlite.table import SqliteTable, field_values, row_parser

_CONVERSATION = "id agent_id project_id repo_id title metadata started_at ended_at"
_SUMMARY = "id conversation_id mode content first_position last_position tokens made_by created_at"
_conversation = row_parser(Conversation, _CONVERSATION)
_summary = row_parser(Summary, _SUMMARY)
_pin = row_parser(Pin, "id conversation_id kind content active pinned_at")


class SqliteConversationTable(SqliteTable):
    """See `recollect.store.protocol.ConversationTable`."""

    _sql = query_loader.load("conversations")

    def add(self, conversation: Conversation) -> None:
        self._run("add_conversation", **field_values(conversation))

    def set(self, conversation: Conversation) -> None:
        self._run("set_conversation", **field_values(conversation))

    def get(self, conversation_id: str) -> Conversation | None:
        return self._first(_conversation, "conversation", id=conversation_id)

    def latest(
        self,
        agent_id: str | None,
        *,
        project_id: str | None = None,
        before: datetime | None = None,
        limit: int,
        offset: int = 0,
    ) -> list[Conversation]:
        return self._all(
            _conversation,
            "conversations" if agent_id is None else "conversations_of_agent",
            agent_id=agent_id,
            project_id=project_id,
            before=micros_or(before, FOREVER_AHEAD),
            limit=limit,
            offset=offset,
        )

    def with_messages(self, agent_id: str, *, before: datetime, limit: int) -> list[Conversation]:
        values = {"agent_id": agent_id, "before": before, "limit": limit}
        return self._all(_conversation, "with_messages", **values)

    def latest_open(self, agent_id: str, *, begun_by: str) -> tuple[Conversation, datetime] | None:
        row = self._run("latest_open", agent_id=agent_id, begun_by=begun_by).fetchone()
        if row is None:
            return None
        conversation, last_at = _conversation(row[:-1]), row[-1]
        return conversation, conversation.started_at if last_at is None else from_micros(last_at)

    def own_memory_ids(self, conversation_id: str) -> list[str]:
        return self._column("own_memory_ids", id=conversation_id)

    def own_events(self, conversation_id: str) -> list[tuple[str, str | None]]:
        return self._rows("own_events", id=conversation_id)

    def delete(self, conversation_id: str) -> None:
        for step in ("delete_retrievals", "delete_conversation"):
            self._run(step, id=conversation_id)

    def add_summary(self, summary: Summary) -> None:
        self._run("add_summary", **field_values(summary))

    def summaries(self, conversation_id: str) -> list[Summary]:
        return self._all(_summary, "summaries", conversation_id=conversation_id)

    def last_summaries(self, conversation_ids: Sequence[str]) -> Mapping[str, Summary]:
        summaries = self._all(_summary, "last_summaries", ids=list(conversation_ids))
        return {summary.conversation_id: summary for summary in summaries}

    def add_pin(self, pin: Pin) -> None:
        self._run("add_pin", **field_values(pin))

    def set_pin(self, pin: Pin) -> None:
        self._run("set_pin", id=pin.id, active=pin.active)

    def pin(self, pin_id: str) -> Pin | None:
        return self._first(_pin, "pin", id=pin_id)

    def pins(self, conversation_id: str) -> list[Pin]:
        return self._all(_pin, "pins", conversation_id=conversation_id)
