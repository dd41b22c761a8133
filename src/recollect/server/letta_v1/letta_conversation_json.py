"""Conversations as Letta's JSON, and Letta's fields of them in their metadata. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.domain.agent_transfer import LETTA
from recollect.domain.conversation import Conversation
from recollect.domain.limits import MAX_TITLE
from recollect.server.letta_v1.letta_ids import letta_id

FIELDS = "letta_conversation"  # in the metadata of a conversation: what a Letta client gave


def conversation_fields(conversation: Conversation) -> dict[str, Any]:
    """Return Letta's fields of a conversation."""
    fields = conversation.metadata.get(FIELDS)
    return dict(fields) if isinstance(fields, Mapping) else {}


def with_fields(metadata: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a conversation with Letta's *fields*."""
    return {**metadata, FIELDS: dict(fields)}


def title_of(fields: Mapping[str, Any]) -> str:
    """Return the title under which other programs show a conversation."""
    return " ".join(str(fields.get("summary") or "").split())[:MAX_TITLE]


def is_imported(conversation: Conversation) -> bool:
    """Return whether a conversation came with an agent file."""
    return conversation.metadata.get(LETTA) is True


def conversation_json(
    conversation: Conversation,
    *,
    last_message_at: datetime | None,
    in_context: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return a conversation as Letta shows it; *in_context* are the ids of its messages there."""
    fields = conversation_fields(conversation)
    last = fields.get("last_message_at") or (last_message_at and last_message_at.isoformat())
    ids = (
        None
        if in_context is None
        else [letta_id("message", message_id) for message_id in in_context]
    )
    return {
        "id": letta_id("conv", conversation.id),
        "agent_id": ""
        if conversation.agent_id is None
        else letta_id("agent", conversation.agent_id),
        "summary": fields.get("summary", conversation.title or None),
        "description": fields.get("description"),
        "archived": bool(fields.get("archived")),
        "archived_at": fields.get("archived_at"),
        "model": fields.get("model"),
        "model_settings": fields.get("model_settings"),
        "context_window_limit": fields.get("context_window_limit"),
        "in_context_message_ids": ids,
        "created_at": conversation.started_at.isoformat(),
        "updated_at": last or conversation.started_at.isoformat(),
        "last_message_at": last,
    }
