"""Conversations with their summaries and pins. Messages are in messages.py."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.domain.conversation import Conversation, Pin, Summary
from recollect.store.database_connection import pair_shape, record_shape
from recollect.store.repositories.repository import LATEST, Repository, field_values

_CONVERSATION = "id agent_id project_id repo_id title key revision metadata started_at ended_at"
_SUMMARY = "id conversation_id mode content first_position last_position tokens made_by created_at"
_conversation = record_shape(Conversation, _CONVERSATION)
_open_conversation = pair_shape(Conversation, _CONVERSATION, datetime | None)
_summary = record_shape(Summary, _SUMMARY)
_pin = record_shape(Pin, "id conversation_id kind content active pinned_at")

LAST_CHARACTER = "\U0010ffff"  # texts with a prefix are between it and it with this character


class ConversationRepository(Repository):
    """Conversations, their summaries and pins."""

    _statements = "conversations"

    def add(self, conversation: Conversation) -> None:
        """Store a new conversation."""
        self._run("add_conversation", **field_values(conversation))

    def set(self, conversation: Conversation) -> None:
        """Store a conversation's title, metadata and end."""
        self._run("set_conversation", **field_values(conversation))

    def get(self, conversation_id: str) -> Conversation | None:
        """Return the conversation with that id, or None."""
        return self._first(_conversation, "conversation", id=conversation_id)

    def latest(
        self,
        agent_id: str | None,
        *,
        project_id: str | None = None,
        before: datetime | None = None,
        key_prefix: str = "",
        limit: int,
        offset: int = 0,
    ) -> list[Conversation]:
        """Return the conversations of an agent or, if None, of all agents, the latest first."""
        return self._all(
            _conversation,
            "conversations" if agent_id is None else "conversations_of_agent",
            agent_id=agent_id,
            project_id=project_id,
            before=before or LATEST,
            first_key=key_prefix,
            last_key=key_prefix + LAST_CHARACTER,
            limit=limit,
            offset=offset,
        )

    def with_key(self, key: str, agent_id: str | None) -> Conversation | None:
        """Return the conversation that an agent, or nobody, has under that key, or None."""
        return self._first(_conversation, "with_key", key=key, agent_id=agent_id)

    def advance_revision(self, conversation_id: str) -> None:
        """Add one to the revision of a conversation whose messages change."""
        self._run("advance_revision", id=conversation_id)

    def release_key(self, conversation_id: str) -> None:
        """Take the key from a conversation, so that another one may have it."""
        self._run("release_key", id=conversation_id)

    def with_messages(self, agent_id: str, *, before: datetime, limit: int) -> list[Conversation]:
        """Return an agent's conversations that have messages, the latest first."""
        values = {"agent_id": agent_id, "before": before, "limit": limit}
        return self._all(_conversation, "with_messages", **values)

    def latest_open(self, agent_id: str, *, begun_by: str) -> tuple[Conversation, datetime] | None:
        """Return an agent's latest open conversation begun that way, and when it was last used."""
        row = self._first(_open_conversation, "latest_open", agent_id=agent_id, begun_by=begun_by)
        if row is None:
            return None
        conversation, last_at = row
        return conversation, last_at or conversation.started_at

    def own_memory_ids(self, conversation_id: str) -> list[str]:
        """Return the ids of the memories scoped to a conversation."""
        return self._column("own_memory_ids", id=conversation_id)

    def own_events(self, conversation_id: str) -> list[tuple[str, str | None]]:
        """Return the captures made for a conversation: the id of each event and of its source."""
        return self._rows("own_events", id=conversation_id)

    def delete(self, conversation_id: str) -> None:
        """Delete a conversation and its logged retrievals; unindex its messages first."""
        for step in ("delete_retrievals", "delete_conversation"):
            self._run(step, id=conversation_id)

    def add_summary(self, summary: Summary) -> None:
        """Store a new summary; earlier summaries stay."""
        self._run("add_summary", **field_values(summary))

    def summaries(self, conversation_id: str) -> list[Summary]:
        """Return the summaries of a conversation, oldest first."""
        return self._all(_summary, "summaries", conversation_id=conversation_id)

    def last_summaries(self, conversation_ids: Sequence[str]) -> Mapping[str, Summary]:
        """Return the newest summary of each of some conversations, by conversation id."""
        summaries = self._all(_summary, "last_summaries", ids=list(conversation_ids))
        return {summary.conversation_id: summary for summary in summaries}

    def add_pin(self, pin: Pin) -> None:
        """Store a new pin."""
        self._run("add_pin", **field_values(pin))

    def set_pin(self, pin: Pin) -> None:
        """Store whether a pin is active."""
        self._run("set_pin", id=pin.id, active=pin.active)

    def pin(self, pin_id: str) -> Pin | None:
        """Return the pin with that id, or None."""
        return self._first(_pin, "pin", id=pin_id)

    def pins(self, conversation_id: str) -> list[Pin]:
        """Return the pins of a conversation, oldest first."""
        return self._all(_pin, "pins", conversation_id=conversation_id)
