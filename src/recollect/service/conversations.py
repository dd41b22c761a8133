"""
Start, find, resume and rename conversations; append messages, list them, and pin context.

A message is stored with its text, its original parts and its tool calls, without secrets. It can
be found by words at once, and it never changes. Its payload is the caller's own and stored as it is
(docs/adr/0044): it is neither indexed nor shown, only returned with the message.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.calling_client import LIBRARY, calling_client
from recollect.clock import Clock
from recollect.context.history_window import message_size
from recollect.context.tool_call_groups import answered_call_ids, tool_calls_of
from recollect.domain import limits
from recollect.domain.conversation import (
    Conversation,
    Message,
    Pin,
    Role,
    Summary,
)
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.errors import IllegalTransition, InvalidInput, NotFound, RevisionConflict
from recollect.service import validate
from recollect.service.agents import require_agent
from recollect.service.block_lookup import require_conversation
from recollect.service.compaction import compact_if_full
from recollect.service.place_lookup import RequestPlace, ensure_place, find_viewer
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.message_text import parts_text
from recollect.text.token_counter import counter_for
from recollect.wire.fields import parse_text
from recollect.wire.requests import conversations as requests

MAX_PIN = 20_000
UNCOUNTED = -1  # tokens of a draft; the model of the agent, which decides, is not known yet


def start_conversation(
    services: Services, request: requests.StartConversationRequest
) -> Conversation:
    """Start a conversation of an agent, which is created if the name is new."""
    where = RequestPlace.of(request.project, request.repo, request.agent, None)
    draft = Conversation(
        id=services.clock.new_id(),
        key=validate.key_of("key", request.key),
        title=validate.plain_text_of("title", request.title, limits.MAX_TITLE),
        metadata=validate.json_object_of("metadata", request.metadata),
        started_at=request.started_at or services.clock.now(),
    )

    def write(tables: Tables) -> Conversation:
        places = ensure_place(tables, where, services.clock)
        if draft.key and (existing := tables.conversations.with_key(draft.key, places.agent_id)):
            return existing
        conversation = replace(
            draft, agent_id=places.agent_id, project_id=places.project_id, repo_id=places.repo_id
        )
        tables.conversations.add(conversation)
        return conversation

    return services.store.write(write)


def get_conversation(services: Services, request: requests.GetConversationRequest) -> Conversation:
    """Return one conversation."""
    with services.store.read() as tables:
        return require_conversation(tables, request.conversation)


def find_conversation(
    services: Services, request: requests.FindConversationRequest
) -> Conversation | None:
    """Return the conversation of an agent, or of nobody, with that key."""
    with services.store.read() as tables:
        agent_id = None if request.agent is None else require_agent(tables, request.agent).id
        return tables.conversations.with_key(request.key, agent_id)


def list_conversations(
    services: Services, request: requests.ListConversationsRequest
) -> list[Conversation]:
    """Return conversations, newest first."""
    with services.store.read() as tables:
        viewer = find_viewer(tables, RequestPlace.of(request.project, None, request.agent, None))
        return tables.conversations.latest(
            viewer.agent_id,
            project_id=viewer.project_id,
            before=request.before,
            key_prefix=request.key_prefix,
            limit=request.limit,
            offset=request.offset,
        )


def resume_conversation(
    services: Services, request: requests.ResumeConversationRequest
) -> Conversation:
    """Open an ended conversation again."""
    return _change(services, request.conversation, ended_at=None)


def rename_conversation(
    services: Services, request: requests.RenameConversationRequest
) -> Conversation:
    """Change the title of a conversation."""
    title = validate.plain_text_of("title", request.title, limits.MAX_TITLE)
    return _change(services, request.conversation, title=title)


def set_conversation_metadata(
    services: Services, request: requests.SetConversationMetadataRequest
) -> Conversation:
    """Replace the metadata of a conversation."""
    metadata = validate.json_object_of("metadata", request.metadata)
    return _change(services, request.conversation, metadata=metadata)


def _change(services: Services, conversation_id: str, **changes: Any) -> Conversation:
    def write(tables: Tables) -> Conversation:
        conversation = replace(require_conversation(tables, conversation_id), **changes)
        tables.conversations.set(conversation)
        return conversation

    return services.store.write(write)


def append_message(services: Services, request: requests.AppendMessageRequest) -> Message:
    """Append a message to a conversation."""
    draft = draft_message(services, request)
    return _append(services, request.conversation, [draft], request.expected_revision)[0]


def append_messages(services: Services, request: requests.AppendMessagesRequest) -> list[Message]:
    """Append messages to a conversation, all or none."""
    messages = request.messages
    for number, message in enumerate(messages):
        for name in ("conversation", "expected_revision"):
            if name in message:
                raise InvalidInput(
                    f"messages[{number}] has the field {name!r}; pass it once as an argument of "
                    "append_many"
                )
    if (count := len(messages)) > requests.MAX_MESSAGES:
        raise InvalidInput(f"{count} messages at once; append at most {requests.MAX_MESSAGES:,}")
    drafts = [
        draft_message(services, requests.AppendMessageRequest.of({**message, "conversation": ""}))
        for message in messages
    ]
    return _append(services, request.conversation, drafts, request.expected_revision)


def draft_message(services: Services, request: requests.AppendMessageRequest) -> Message:
    """Return a message without secrets; its ids, position and tokens are set when it is added."""
    tool_calls = _json_list("tool_calls", request.tool_calls)
    parts: tuple[Any, ...] | None = None
    text = request.content
    if text is None:
        text = ""
    elif isinstance(text, str):
        text = validate.plain_text_of("content", text)
    else:
        parts = _json_list("content", text)
        text = parts_text(parts, tool=request.role is Role.TOOL)
        text = parse_text("content", text, max_chars=limits.MAX_CONTENT)
    payload = request.payload
    if payload is not None:
        validate.check_json_size("payload", payload)
    elif not text.strip() and not tool_calls and not parts:
        raise InvalidInput(
            "the message is empty: it has neither text nor a tool call, and no payload"
        )
    return Message(
        id="",
        conversation_id="",
        position=0,
        role=request.role,
        content=text,
        parts=parts,
        tool_calls=tool_calls,
        tool_call_id=validate.plain_text_of("tool_call_id", request.tool_call_id, limits.MAX_NAME),
        name=validate.plain_text_of("name", request.name, limits.MAX_NAME),
        tokens=UNCOUNTED if request.tokens is None else request.tokens,
        pinned=request.pinned,
        metadata=validate.json_object_of("metadata", request.metadata),
        payload=payload,
        created_at=request.created_at or services.clock.now(),
    )


def _json_list(field: str, value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{field} must be a list of objects, not {type(value).__name__}")
    return tuple(validate.json_of(field, list(value)))


def _append(
    services: Services,
    conversation_id: str,
    drafts: Sequence[Message],
    expected_revision: int | None = None,
) -> list[Message]:
    def write(tables: Tables) -> list[Message]:
        conversation = require_conversation(tables, conversation_id)
        check_revision(conversation, expected_revision)
        if conversation.ended_at is not None:
            raise IllegalTransition(
                f"conversation {conversation.id} ended on "
                f"{conversation.ended_at:%Y-%m-%d %H:%M}; resume it first, or start another"
            )
        return add_to(tables, services, conversation, drafts)

    messages = services.store.write(write)
    compact_if_full(services, messages)
    return messages


def add_to(
    tables: Tables, services: Services, conversation: Conversation, drafts: Sequence[Message]
) -> list[Message]:
    """Write messages at the end of a conversation, inside the transaction that chose it."""
    agent = tables.agents.get(conversation.agent_id) if conversation.agent_id else None
    counter = counter_for(agent.model if agent else "")
    messages = []
    for position, draft in enumerate(drafts, tables.messages.next_position(conversation.id)):
        new_id = services.clock.new_id()
        message = replace(draft, id=new_id, conversation_id=conversation.id, position=position)
        if message.tokens == UNCOUNTED:
            message = replace(message, tokens=message_size(message, counter.count))
        tables.messages.add(conversation, message)
        messages.append(message)
    if messages:
        tables.conversations.advance_revision(conversation.id)
        tables.clients.count_write(calling_client() or LIBRARY, at=services.clock.now())
    return messages


def check_revision(conversation: Conversation, expected: int | None) -> None:
    """Raise `RevisionConflict` if a conversation does not have the expected revision."""
    if expected is not None and conversation.revision != expected:
        raise RevisionConflict(
            f"conversation {conversation.id} has revision {conversation.revision}, not {expected}: "
            "it was changed in the meantime. Read it again, and repeat the change",
            revision=conversation.revision,
        )


def get_message(services: Services, request: requests.GetMessageRequest) -> Message:
    """Return one message."""
    with services.store.read() as tables:
        return _require_message(tables, request.message)


def delete_message(services: Services, request: requests.DeleteMessageRequest) -> Message:
    """Delete one message."""

    def write(tables: Tables) -> Message:
        message = _require_message(tables, request.message)
        conversation = require_conversation(tables, message.conversation_id)
        check_revision(conversation, request.expected_revision)
        return _delete(tables, message, services.clock)

    return services.store.write(write)


def pop_message(services: Services, request: requests.PopMessageRequest) -> Message | None:
    """Delete the last message of a conversation, if it has one."""

    def write(tables: Tables) -> Message | None:
        conversation = require_conversation(tables, request.conversation)
        check_revision(conversation, request.expected_revision)
        last = tables.messages.page_back(conversation.id, before=2**53, limit=1)
        return _delete(tables, last[0], services.clock) if last else None

    return services.store.write(write)


def _delete(tables: Tables, message: Message, clock: Clock) -> Message:
    tables.messages.delete(message)
    tables.tombstones.add(
        Tombstone(kind=DeletedKind.MESSAGE, id=message.id, deleted_at=clock.now())
    )
    tables.conversations.advance_revision(message.conversation_id)
    return message


def _require_message(tables: Tables, message_id: str) -> Message:
    message = tables.messages.get(message_id)
    if message is None:
        raise NotFound(f"there is no message {message_id!r} in this store")
    return message


def list_messages(services: Services, request: requests.ListMessagesRequest) -> list[Message]:
    """Return a page of messages: in order from a position, or newest first."""
    with services.store.read() as tables:
        conversation = require_conversation(tables, request.conversation)
        if request.newest_first or request.before is not None:
            before = 2**53 if request.before is None else request.before
            return tables.messages.page_back(conversation.id, before=before, limit=request.limit)
        return tables.messages.page(conversation.id, start=request.start, limit=request.limit)


def list_all_messages(
    services: Services, request: requests.ListAllMessagesRequest
) -> list[Message]:
    """
    Return messages of an agent, or of everybody, in the order in which they were stored.

    *after* and *before* are messages in that order, or in the reverse one if *newest_first*. With
    *before* alone the page is the one that ends there.
    """
    first, last = request.after or "", request.before or ""
    low, high = (last, first) if request.newest_first else (first, last)
    ends_there = bool(last) and not first
    with services.store.read() as tables:
        agent_id = None if request.agent is None else require_agent(tables, request.agent).id
        messages = tables.messages.stored(
            agent_id,
            after=low,
            before=high,
            limit=request.limit,
            newest_first=request.newest_first is not ends_there,
        )
    return messages[::-1] if ends_there else messages


def list_messages_in_context(
    services: Services, request: requests.ListMessagesInContextRequest
) -> list[Message]:
    """Return the messages that no summary replaces, in order."""
    with services.store.read() as tables:
        return tables.messages.in_context(require_conversation(tables, request.conversation).id)


def list_summaries(services: Services, request: requests.ListSummariesRequest) -> list[Summary]:
    """Return the summaries of a conversation, oldest first."""
    with services.store.read() as tables:
        return tables.conversations.summaries(require_conversation(tables, request.conversation).id)


def pin_message(services: Services, request: requests.PinMessageRequest) -> Message:
    """Pin a message, bringing it back into context if a summary replaced it; or unpin it."""
    is_pinned = request.pinned

    def write(tables: Tables) -> Message:
        message = _require_message(tables, request.message)
        if is_pinned and message.summary_id is not None:
            if list(tool_calls_of(message)) or answered_call_ids(message):
                raise InvalidInput(
                    f"message {message.position} belongs to a tool call that was summarized; "
                    "pin its text instead: conversations.pin(conversation, text)"
                )
            tables.messages.restore_to_context(message.id)
        tables.messages.set_pinned(message.id, is_pinned)
        summary_id = None if is_pinned else message.summary_id
        return replace(message, pinned=is_pinned, summary_id=summary_id)

    return services.store.write(write)


def add_pin(services: Services, request: requests.AddPinRequest) -> Pin:
    """Pin a text to a conversation: a ticket, a debug note, a decision."""
    content = validate.plain_text_of("content", request.content, MAX_PIN)
    if not content.strip():
        raise InvalidInput("there is nothing to pin: the content is empty")
    kind = validate.name_of("kind", request.kind)

    def write(tables: Tables) -> Pin:
        pin = Pin(
            id=services.clock.new_id(),
            conversation_id=require_conversation(tables, request.conversation).id,
            kind=kind,
            content=content,
            pinned_at=services.clock.now(),
        )
        tables.conversations.add_pin(pin)
        return pin

    return services.store.write(write)


def remove_pin(services: Services, request: requests.RemovePinRequest) -> Pin:
    """Remove a pin from context; it stays in the list, inactive."""

    def write(tables: Tables) -> Pin:
        pin = tables.conversations.pin(request.pin)
        if pin is None:
            raise NotFound(f"there is no pin {request.pin!r} in this store")
        pin = replace(pin, active=False)
        tables.conversations.set_pin(pin)
        return pin

    return services.store.write(write)


def list_pins(services: Services, request: requests.ListPinsRequest) -> list[Pin]:
    """Return the pins of a conversation, oldest first, inactive ones included."""
    with services.store.read() as tables:
        return tables.conversations.pins(require_conversation(tables, request.conversation).id)
