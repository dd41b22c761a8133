"""
End a conversation and, if the caller asks for it, capture its messages for the engine.

Preparing the capture takes time, so it is done before the transaction, which then only checks that
no message was added in the meantime. Ending and capturing are one write: a conversation is never
ended without its capture.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.domain.capture_event import Trigger
from recollect.domain.conversation import Conversation, Message
from recollect.domain.sleeptime import SleeptimeTrigger
from recollect.errors import InvalidInput
from recollect.service.block_lookup import require_conversation
from recollect.service.capture import Capture, parse_captures, store_capture
from recollect.service.services import Services
from recollect.service.sleeptime_requests import request_if_due
from recollect.store.protocol import Tables
from recollect.wire.requests.conversations import EndConversationRequest
from recollect.wire.requests.shared import CaptureFields

MAX_MESSAGES = 100_000


class _MessageAdded(Exception):
    """A message was added while the capture was prepared."""


def end_conversation(services: Services, request: EndConversationRequest) -> Conversation:
    """End a conversation. Ending it again changes nothing."""
    ended_at = request.ended_at or services.clock.now()
    while True:
        prepared, count = _prepare_captures(services, request) if request.capture else ([], None)

        def write(
            tables: Tables, prepared: Sequence[Capture] = prepared, count: int | None = count
        ) -> Conversation:
            conversation = require_conversation(tables, request.conversation)
            if count is not None and tables.messages.count(conversation.id)[0] != count:
                raise _MessageAdded
            for capture in prepared:
                store_capture(services, tables, capture)
            if conversation.ended_at is not None:
                return conversation
            ended = replace(conversation, ended_at=max(ended_at, conversation.started_at))
            tables.conversations.set(ended)
            request_if_due(tables, services, ended, SleeptimeTrigger.END)
            return ended

        try:
            return services.store.write(write)
        except _MessageAdded:
            continue


def _prepare_captures(
    services: Services, request: EndConversationRequest
) -> tuple[list[Capture], int]:
    """Return the captures of a conversation, and how many messages it has."""
    with services.store.read() as tables:
        conversation = require_conversation(tables, request.conversation)
        messages = tables.messages.page(conversation.id, start=0, limit=MAX_MESSAGES)
        count = tables.messages.count(conversation.id)[0]
    fields = CaptureFields(
        project=conversation.project_id,
        agent=conversation.agent_id,
        session=conversation.id,
        title=conversation.title,
    )
    transcript = [transcript_message(message) for message in messages]
    try:
        return parse_captures(transcript, fields, trigger=Trigger.CONVERSATION), count
    except InvalidInput:
        return [], count  # nothing to learn from: no text, or all of it was private


def transcript_message(message: Message) -> dict[str, Any]:
    """Return a message as a capture reads it."""
    fields: dict[str, Any] = {
        "role": message.role.value,
        "content": message.content,
        "created_at": message.created_at.isoformat(),
    }
    voice = message.metadata.get("voice")
    optional = {"name": message.name, "voice": voice if isinstance(voice, str) else ""}
    return {**fields, **{key: value for key, value in optional.items() if value}}
