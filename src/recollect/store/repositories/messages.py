"""Messages. Adding and deleting them updates the word index."""

import json
from collections.abc import Sequence
from typing import Any

from recollect.domain.conversation import (
    Conversation,
    Message,
    MessageFilters,
    Role,
)
from recollect.domain.document import passes_filter
from recollect.domain.scope import ItemKind
from recollect.store.database_connection import any_json, record_shape, value_shape
from recollect.store.repositories.repository import (
    EARLIEST,
    LATEST,
    IndexedRepository,
    field_values,
)
from recollect.text.message_text import SEND_MESSAGE, send_message_text
from recollect.text.token_counter import estimate_tokens

_MESSAGE = """
id conversation_id position role content parts tool_calls tool_call_id name tokens pinned summary_id
metadata payload created_at
"""
_message = record_shape(Message, _MESSAGE)
_SENDS = f'"{SEND_MESSAGE}"'
_texts = value_shape(str, str, str | None, str | None)

LAST_ID = "~"  # sorts after every id

# The output of a tool may be a whole log file; its beginning is enough to find it.
INDEXED_CHARS = 100_000


class MessageRepository(IndexedRepository):
    """Messages. Adding and deleting them updates the word index."""

    _statements = "messages"

    def next_position(self, conversation_id: str) -> int:
        """Return the position after the last message of a conversation."""
        return int(self._value("next_position", conversation_id=conversation_id))

    def add(self, conversation: Conversation, message: Message) -> None:
        """Store a new message of a conversation and index its words."""
        fields = field_values(message) | {
            "agent_id": conversation.agent_id,
            "conversation_id": conversation.id,
            "tool_calls": message.tool_calls or None,
            "payload": None if message.payload is None else any_json(message.payload),
        }
        self._run("add_message", **fields)
        tool_calls, parts = _as_json(message.tool_calls), _as_json(message.parts)
        if is_searchable(message.content, tool_calls, parts):
            text = indexed_text(message.content, tool_calls, parts)
            self._index.add(ItemKind.MESSAGE, conversation.owner, message.id, text)

    def get(self, message_id: str) -> Message | None:
        """Return the message with that id, or None."""
        messages = self.get_many([message_id])
        return messages[0] if messages else None

    def get_many(self, message_ids: Sequence[str]) -> list[Message]:
        """Return the messages with those ids, in that order; unknown ids are left out."""
        return self._all(_message, "messages", ids=list(message_ids))

    def page(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        """Return messages of a conversation in order, from a position on."""
        values = {"conversation_id": conversation_id, "start": start, "limit": limit}
        return self._all(_message, "page", **values)

    def openings(self, conversation_ids: Sequence[str], *, limit: int) -> list[Message]:
        """Return the first messages of each of some conversations, in order."""
        return self._all(_message, "openings", ids=list(conversation_ids), limit=limit)

    def page_back(self, conversation_id: str, *, before: int, limit: int) -> list[Message]:
        """Return messages of a conversation before a position, the last first."""
        values = {"conversation_id": conversation_id, "before": before, "limit": limit}
        return self._all(_message, "page_back", **values)

    def in_context(self, conversation_id: str, *, last: int | None = None) -> list[Message]:
        """Return, in order, all or the last messages that are not replaced by a summary."""
        if last is None:
            return self._all(_message, "in_context", conversation_id=conversation_id)
        values = {"conversation_id": conversation_id, "limit": last}
        return self._all(_message, "in_context_back", **values)[::-1]

    def in_context_from(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        """Return, in order, messages from a position on that are not replaced by a summary."""
        values = {"conversation_id": conversation_id, "start": start, "limit": limit}
        return self._all(_message, "in_context_from", **values)

    def context_size(self, conversation_id: str) -> tuple[int, int]:
        """Return how many messages are not replaced by a summary, and their tokens."""
        count, counted = self._rows("context_size", conversation_id=conversation_id)[0]
        uncounted = self._column("uncounted_in_context", conversation_id=conversation_id)
        return count, counted + sum(map(estimate_tokens, uncounted))

    def latest(
        self, agent_id: str | None, filters: MessageFilters, *, limit: int, offset: int = 0
    ) -> list[Message]:
        """Return messages with text that pass *filters*, the latest first."""
        values = {"agent_id": agent_id, "limit": limit, "offset": offset}
        name = "of_agent" if filters.conversation_id is None else "of_conversation"
        return self._all(_message, name, **_filter_values(filters), **values)

    def stored(
        self, agent_id: str | None, *, after: str, before: str, limit: int, newest_first: bool
    ) -> list[Message]:
        """Return messages of an agent, or of everybody, with ids between two ids, by their ids."""
        values = {"after": after, "before": before or LAST_ID, "limit": limit}
        back = "_back" if newest_first else ""
        if agent_id is None:
            return self._all(_message, f"stored{back}", **values)
        return self._all(_message, f"stored_of_agent{back}", agent_id=agent_id, **values)

    def speakers(self, agent_id: str | None, filters: MessageFilters) -> list[tuple[str, Role]]:
        """Return id and role of every message that passes *filters*, in order of time."""
        name = "speakers" if filters.conversation_id is None else "speakers_in"
        values = {"with_metadata": bool(filters.metadata), "agent_id": agent_id}
        rows = self._rows(name, **_filter_values(filters), **values)
        return [
            (message_id, Role(role))
            for message_id, role, metadata in rows
            if not filters.metadata or passes_filter(json.loads(metadata), filters.metadata)
        ]

    def set_pinned(self, message_id: str, pinned: bool) -> None:
        """Pin a message to the context, or unpin it."""
        self._run("set_pinned", id=message_id, pinned=pinned)

    def restore_to_context(self, message_id: str) -> None:
        """Put a message that a summary replaced back into the context."""
        self._run("restore_to_context", id=message_id)

    def mark_summarized(self, message_ids: Sequence[str], summary_id: str) -> None:
        """Mark some messages as replaced by a summary."""
        self._run("mark_summarized", ids=list(message_ids), summary_id=summary_id)

    def count(self, conversation_id: str) -> tuple[int, int]:
        """Return how many messages a conversation has, and how many are in context."""
        total, in_context = self._rows("count", conversation_id=conversation_id)[0]
        return total, in_context

    def delete(self, message: Message) -> None:
        """Delete one message and remove it from the index."""
        tool_calls, parts = _as_json(message.tool_calls), _as_json(message.parts)
        if is_searchable(message.content, tool_calls, parts):
            self._index.remove(message.id, indexed_text(message.content, tool_calls, parts))
        self._run("delete_message", id=message.id)

    def delete_some(self, conversation_id: str, *, rows: int, chars: int) -> tuple[int, int]:
        """Delete the first messages of a conversation; return how many, and their characters."""
        texts: dict[str, str] = {}
        message_ids: list[str] = []
        read_chars = 0
        for message_id, *stored in self._stream(_texts, "texts", conversation_id=conversation_id):
            message_ids.append(message_id)
            if is_searchable(*stored):
                texts[message_id] = indexed_text(*stored)
            read_chars += sum(len(text or "") for text in stored)
            if len(message_ids) >= rows or read_chars >= chars:
                break
        self._index.remove_many(texts)
        self._run("delete_messages", ids=message_ids)
        return len(message_ids), read_chars


def is_searchable(content: str, tool_calls: str | None, parts: str | None) -> bool:
    """Tell whether a message has text to index; most tool calls have none."""
    return bool(content) or _SENDS in (tool_calls or "") or _SENDS in (parts or "")


def indexed_text(content: str, tool_calls: str | None, parts: str | None) -> str:
    """Return the text of a message that is indexed, including what a tool call sends."""
    sent = ""
    if _SENDS in (tool_calls or "") or _SENDS in (parts or ""):
        sent = send_message_text([*json.loads(tool_calls or "[]"), *json.loads(parts or "[]")])
    return "\n".join(text for text in (content, sent) if text)[:INDEXED_CHARS]


def _filter_values(filters: MessageFilters) -> dict[str, Any]:
    return {
        "roles": sorted(filters.roles),
        "conversation_id": filters.conversation_id,
        "besides": filters.besides_conversation,
        "project_id": filters.project_id,
        "since": filters.since or EARLIEST,
        "until": filters.until or LATEST,
        "call": json.dumps(filters.besides_calls_of) if filters.besides_calls_of else "",
    }


def _as_json(values: Sequence[Any] | None) -> str | None:
    return json.dumps(values) if values else None
