"""Messages in SQLite. Adding one makes it findable by words at once."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from recollect.clock import from_micros, to_micros
from recollect.domain.conversation import (
    Conversation,
    Message,
    MessageFilters,
    MessageStanding,
    Role,
)
from recollect.domain.scope import ItemKind
from recollect.store.sqlite import queries
from recollect.store.sqlite.rows import FOREVER_AGO, FOREVER_AHEAD, Row, micros, rows, to_json
from recollect.store.sqlite.words import SqliteWords
from recollect.text.message import SEND_MESSAGE, sent_text

_SQL = queries.load("messages")
_SENDS = f'"{SEND_MESSAGE}"'
_ROLES = {role.value: role for role in Role}

# What a tool put out may be a whole log file; its beginning says what it is about.
INDEXED_CHARS = 100_000


class SqliteMessages:
    """See `recollect.store.protocol.Messages`."""

    def __init__(self, db: apsw.Connection, words: SqliteWords) -> None:
        self._db = db
        self._words = words

    def next_position(self, conversation_id: str) -> int:
        """Return the position after the last message of a conversation."""
        values = {"conversation_id": conversation_id}
        return int(self._db.execute(_SQL["next_position"], values).get)

    def add(self, conversation: Conversation, message: Message) -> None:
        """Keep a new message of a conversation."""
        values = _values(conversation, message)
        self._db.execute(_SQL["add_message"], values)
        if is_findable(message.content, values["tool_calls"], values["parts"]):
            text = indexed_text(message.content, values["tool_calls"], values["parts"])
            self._words.add(ItemKind.MESSAGE, conversation.owner, message.id, text)

    def get(self, message_id: str) -> Message | None:
        """Return the message with that id."""
        found = self.get_many([message_id])
        return found[0] if found else None

    def get_many(self, message_ids: Sequence[str]) -> list[Message]:
        """Return the messages with those ids, in that order; unknown ones are left out."""
        return self._messages("messages", ids=to_json(list(message_ids)))

    def page(self, conversation_id: str, *, start: int, limit: int) -> list[Message]:
        """Return messages of a conversation in order, from a position on."""
        return self._messages("page", conversation_id=conversation_id, start=start, limit=limit)

    def page_back(self, conversation_id: str, *, before: int, limit: int) -> list[Message]:
        """Return messages of a conversation, the last first, from before a position."""
        return self._messages(
            "page_back", conversation_id=conversation_id, before=before, limit=limit
        )

    def in_context(self, conversation_id: str, *, last: int | None = None) -> list[Message]:
        """Return, in order, the messages no summary stands for: all, or so many of the last."""
        if last is None:
            return self._messages("in_context", conversation_id=conversation_id)
        return self._messages("in_context_back", conversation_id=conversation_id, limit=last)[::-1]

    def latest(
        self, agent_id: str | None, filters: MessageFilters, *, limit: int, offset: int = 0
    ) -> list[Message]:
        """Return messages with words that pass *filters*, the last first."""
        values = _filter_values(filters) | {"agent_id": agent_id, "limit": limit, "offset": offset}
        by = "of_agent" if filters.conversation_id is None else "of_conversation"
        return [_message(row) for row in self._db.execute(_SQL[by], values)]

    def standings(self, seqs: Iterable[int], filters: MessageFilters) -> list[MessageStanding]:
        """Return what ranking needs of those items that are messages and pass *filters*."""
        values = _filter_values(filters) | {"seqs": to_json(list(seqs))}
        return [
            MessageStanding(seq, message_id, conversation_id, from_micros(at), _ROLES[role])
            for seq, message_id, conversation_id, at, role in self._db.execute(
                _SQL["standings"], values
            )
        ]

    def before(self, seqs: Iterable[int]) -> Mapping[int, int]:
        """Return, for some messages, the one said just before them in their conversation."""
        return dict(rows(self._db.execute(_SQL["before"], {"seqs": to_json(list(seqs))})))

    def speakers(self, agent_id: str | None, filters: MessageFilters) -> list[tuple[str, Role]]:
        """Return the id and role of every message that passes *filters*, in order of time."""
        values = _filter_values(filters) | {"agent_id": agent_id}
        by = "speakers" if filters.conversation_id is None else "speakers_in"
        return [(one, _ROLES[role]) for one, role in self._db.execute(_SQL[by], values)]

    def few(self, agent_id: str | None, filters: MessageFilters, *, most: int) -> list[int] | None:
        """Return the items that a time or a conversation leaves over; None if not so few."""
        if filters.conversation_id is not None:
            by = "few_of_conversation"
        elif agent_id is not None and (filters.since or filters.until):
            by = "few_of_agent"
        else:
            return None
        values = _filter_values(filters) | {"agent_id": agent_id, "most": most + 1}
        found = rows(self._db.execute(_SQL[by], values))
        return None if len(found) > most else [seq for (seq,) in found]

    def set_pinned(self, message_id: str, pinned: bool) -> None:
        """Keep a message in context by hand, or no longer."""
        self._db.execute(_SQL["set_pinned"], {"id": message_id, "pinned": int(pinned)})

    def bring_back(self, message_id: str) -> None:
        """Put a message that a summary stood for back into context."""
        self._db.execute(_SQL["bring_back"], {"id": message_id})

    def sum_up(self, message_ids: Sequence[str], summary_id: str) -> None:
        """Note that a summary stands for some messages."""
        values = {"ids": to_json(list(message_ids)), "summary_id": summary_id}
        self._db.execute(_SQL["sum_up"], values)

    def count(self, conversation_id: str) -> tuple[int, int]:
        """Return how many messages a conversation has, and how many are in context."""
        values = {"conversation_id": conversation_id}
        total, in_context = rows(self._db.execute(_SQL["count"], values))[0]
        return total, in_context

    def count_of_agent(self, agent_id: str) -> int:
        """Return how many messages with words an agent ever said or heard."""
        return int(self._db.execute(_SQL["count_of_agent"], {"agent_id": agent_id}).get)

    def unindex(self, conversation_id: str) -> int:
        """Take the messages of a conversation out of the indexes; return how many there were."""
        texts = self._db.execute(_SQL["texts"], {"conversation_id": conversation_id})
        found = [row for row in rows(texts) if is_findable(*row[1:])]
        for message_id, *said in found:
            self._words.remove(message_id, indexed_text(*said))
        return len(found)

    def _messages(self, query: str, **values: Any) -> list[Message]:
        return [_message(row) for row in self._db.execute(_SQL[query], values)]


def is_findable(content: str, tool_calls: str | None, parts: str | None) -> bool:
    """Say whether a message says anything; most calls of tools do not."""
    return bool(content) or _SENDS in (tool_calls or "") or _SENDS in (parts or "")


def indexed_text(content: str, tool_calls: str | None, parts: str | None) -> str:
    """Return the words under which a message can be found, sent ones included."""
    sent = ""
    if _SENDS in (tool_calls or "") or _SENDS in (parts or ""):
        sent = sent_text([*json.loads(tool_calls or "[]"), *json.loads(parts or "[]")])
    return "\n".join(text for text in (content, sent) if text)[:INDEXED_CHARS]


def _filter_values(filters: MessageFilters) -> dict[str, Any]:
    return {
        "roles": to_json(sorted(filters.roles)),
        "conversation_id": filters.conversation_id,
        "besides": filters.besides_conversation,
        "project_id": filters.project_id,
        "since": micros(filters.since, FOREVER_AGO),
        "until": micros(filters.until, FOREVER_AHEAD),
        "call": json.dumps(filters.besides_calls_of) if filters.besides_calls_of else "",
    }


def _values(conversation: Conversation, message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "conversation_id": conversation.id,
        "agent_id": conversation.agent_id,
        "position": message.position,
        "role": message.role.value,
        "content": message.content,
        "parts": None if message.parts is None else to_json(list(message.parts)),
        "tool_calls": to_json(list(message.tool_calls)) if message.tool_calls else None,
        "tool_call_id": message.tool_call_id,
        "name": message.name,
        "tokens": message.tokens,
        "pinned": int(message.pinned),
        "metadata": to_json(dict(message.metadata)),
        "created_at": to_micros(message.created_at),
    }


def _message(row: Row) -> Message:
    message_id, conversation_id, position, role, content, parts, tool_calls = row[:7]
    tool_call_id, name, tokens, pinned, summary_id, metadata, created_at = row[7:]
    return Message(
        id=message_id,
        conversation_id=conversation_id,
        position=position,
        role=_ROLES[role],
        content=content,
        parts=None if parts is None else tuple(json.loads(parts)),
        tool_calls=tuple(json.loads(tool_calls)) if tool_calls else (),
        tool_call_id=tool_call_id,
        name=name,
        tokens=tokens,
        pinned=bool(pinned),
        summary_id=summary_id,
        metadata=json.loads(metadata),
        created_at=from_micros(created_at),
    )
