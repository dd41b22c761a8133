"""Messages in SQLite. Adding one updates the word index."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recollect.clock import from_micros
from recollect.domain.conversation import (
    Conversation,
    Message,
    MessageCandidateRow,
    MessageFilters,
    Role,
)
from recollect.domain.scope import ItemKind
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.row_conversion import FOREVER_AGO, FOREVER_AHEAD, micros_or, to_json
from recollect.store.sqlite.table import SqliteIndexedTable, field_values, row_parser
from recollect.text.message_text import SEND_MESSAGE, send_message_text
from recollect.text.token_counter import estimate_tokens

_MESSAGE = """
id conversation_id position role content parts tool_calls tool_call_id name tokens pinned summary_id
metadata created_at
"""
_message = row_parser(Message, _MESSAGE)
_SENDS = f'"{SEND_MESSAGE}"'
_ROLES = {role.value: role for role in Role}

# The output of a tool may be a whole log file; its beginning is enough to find it.
INDEXED_CHARS = 100_000


class SqliteMessageTable(SqliteIndexedTable):
    """See `recollect.store.protocol.MessageTable`."""

    _sql = query_loader.load("messages")

    def next_position(self, conversation_id: str) -> int:
        return int(self._run("next_position", conversation_id=conversation_id).get)

    def add(self, conversation: Conversation, message: Message) -> None:
        values = _values(conversation, message)
        self._run("add_message", **values)
        if is_searchable(message.content, values["tool_calls"], values["parts"]):
            text = indexed_text(message.content, values["tool_calls"], values["parts"])
            self._word_index.add(ItemKind.MESSAGE, conversation.owner, message.id, text)

    def get(self, message_id: str) -> Message | None:
        messages = self.get_many([message_id])
        return messages[0] if messages else None

    def get_many(self, message_ids: Sequence[str]) -> list[Message]:
        return self._all(_message, "messages", ids=list(message_ids))

    def page(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        values = {"conversation_id": conversation_id, "start": start, "limit": limit}
        return self._all(_message, "page", **values)

    def page_back(self, conversation_id: str, *, before: int, limit: int) -> list[Message]:
        values = {"conversation_id": conversation_id, "before": before, "limit": limit}
        return self._all(_message, "page_back", **values)

    def in_context(self, conversation_id: str, *, last: int | None = None) -> list[Message]:
        if last is None:
            return self._all(_message, "in_context", conversation_id=conversation_id)
        values = {"conversation_id": conversation_id, "limit": last}
        return self._all(_message, "in_context_back", **values)[::-1]

    def in_context_from(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        values = {"conversation_id": conversation_id, "start": start, "limit": limit}
        return self._all(_message, "in_context_from", **values)

    def context_size(self, conversation_id: str) -> tuple[int, int]:
        count, counted = self._rows("context_size", conversation_id=conversation_id)[0]
        uncounted = self._run("uncounted_in_context", conversation_id=conversation_id)
        return count, counted + sum(estimate_tokens(content) for (content,) in uncounted)

    def latest(
        self, agent_id: str | None, filters: MessageFilters, *, limit: int, offset: int = 0
    ) -> list[Message]:
        values = {"agent_id": agent_id, "limit": limit, "offset": offset}
        name = "of_agent" if filters.conversation_id is None else "of_conversation"
        return self._all(_message, name, **_filter_values(filters), **values)

    def candidate_rows(
        self, item_ids: Iterable[int], filters: MessageFilters
    ) -> list[MessageCandidateRow]:
        rows = self._run("candidate_rows", **_filter_values(filters), item_ids=list(item_ids))
        return [
            MessageCandidateRow(item_id, message_id, conversation_id, from_micros(at), _ROLES[role])
            for item_id, message_id, conversation_id, at, role in rows
        ]

    def preceding(self, item_ids: Iterable[int]) -> Mapping[int, int]:
        return dict(self._rows("preceding", item_ids=list(item_ids)))

    def speakers(self, agent_id: str | None, filters: MessageFilters) -> list[tuple[str, Role]]:
        name = "speakers" if filters.conversation_id is None else "speakers_in"
        rows = self._run(name, **_filter_values(filters), agent_id=agent_id)
        return [(message_id, _ROLES[role]) for message_id, role in rows]

    def item_ids_if_few(
        self, agent_id: str | None, filters: MessageFilters, *, limit: int
    ) -> list[int] | None:
        if filters.conversation_id is not None:
            name = "few_of_conversation"
        elif agent_id is not None and (filters.since or filters.until):
            name = "few_of_agent"
        else:
            return None
        values = _filter_values(filters) | {"agent_id": agent_id, "limit": limit + 1}
        item_ids = self._column(name, **values)
        return None if len(item_ids) > limit else item_ids

    def set_pinned(self, message_id: str, pinned: bool) -> None:
        self._run("set_pinned", id=message_id, pinned=pinned)

    def restore_to_context(self, message_id: str) -> None:
        self._run("restore_to_context", id=message_id)

    def mark_summarized(self, message_ids: Sequence[str], summary_id: str) -> None:
        self._run("mark_summarized", ids=list(message_ids), summary_id=summary_id)

    def count(self, conversation_id: str) -> tuple[int, int]:
        total, in_context = self._rows("count", conversation_id=conversation_id)[0]
        return total, in_context

    def count_of_agent(self, agent_id: str) -> int:
        return int(self._run("count_of_agent", agent_id=agent_id).get)

    def delete_some(self, conversation_id: str, *, rows: int, chars: int) -> tuple[int, int]:
        texts: dict[str, str] = {}
        message_ids: list[str] = []
        read_chars = 0
        for message_id, *stored in self._run("texts", conversation_id=conversation_id):
            message_ids.append(message_id)
            if is_searchable(*stored):
                texts[message_id] = indexed_text(*stored)
            read_chars += sum(len(text or "") for text in stored)
            if len(message_ids) >= rows or read_chars >= chars:
                break
        self._word_index.remove_many(texts)
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
        "roles": to_json(sorted(filters.roles)),
        "conversation_id": filters.conversation_id,
        "besides": filters.besides_conversation,
        "project_id": filters.project_id,
        "since": micros_or(filters.since, FOREVER_AGO),
        "until": micros_or(filters.until, FOREVER_AHEAD),
        "call": json.dumps(filters.besides_calls_of) if filters.besides_calls_of else "",
    }


def _values(conversation: Conversation, message: Message) -> dict[str, Any]:
    stored = {
        "agent_id": conversation.agent_id,
        "conversation_id": conversation.id,
        "parts": None if message.parts is None else to_json(message.parts),
        "tool_calls": to_json(message.tool_calls) if message.tool_calls else None,
    }
    return field_values(message) | stored
