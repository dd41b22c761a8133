"""
Conversations: begin, go on, end; append messages, list them, pin what must stay in view.

A message is stored with its text, its original parts and tool calls, secrets taken out; it is found
by words when this returns. Once said it never changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.context.history_window import message_size
from recollect.context.tool_call_groups import answered_call_ids, tool_calls_of
from recollect.domain.conversation import (
    Conversation,
    ConversationReceipt,
    Message,
    Pin,
    Role,
    Summary,
)
from recollect.domain.scope import Owner, Scope
from recollect.errors import IllegalTransition, InvalidInput, NotFound
from recollect.service import inputs
from recollect.service.block_target import known_conversation
from recollect.service.forget import delete_captures, drop_shelves, forget_in, shrunk
from recollect.service.places import Where, find, settle
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.text.clean_text import clean
from recollect.text.message_text import parts_text
from recollect.text.redact import redact
from recollect.text.token_counter import TokenCounter, counter_for

MAX_MESSAGES = 10_000  # appended at once
MAX_PIN = 20_000
PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A message as its writer gave it: checked and without secrets, not yet placed."""

    role: Role
    content: str
    parts: tuple[Any, ...] | None
    tool_calls: tuple[Any, ...]
    tool_call_id: str
    name: str
    tokens: int | None
    pinned: bool
    metadata: Mapping[str, Any]
    created_at: datetime | None


def draft(
    role: object,
    content: object = "",
    *,
    tool_calls: object = None,
    tool_call_id: object = "",
    name: object = "",
    tokens: object = None,
    pinned: bool = False,
    metadata: object = None,
    created_at: object = None,
) -> Draft:
    """Check and redact a message."""
    calls = _many("tool_calls", tool_calls)
    parts: tuple[Any, ...] | None = None
    if content is None:
        text = ""
    elif isinstance(content, str):
        text = redact(inputs.text_of("content", content, most=inputs.MAX_CONTENT)).text
    else:
        parts = _many("content", content)
        text = parts_text(parts, tool=role == Role.TOOL)
        text = inputs.text_of("content", text, most=inputs.MAX_CONTENT)
    if not text.strip() and not calls and not parts:
        raise InvalidInput("the message is empty: it has neither words nor a tool call")
    return Draft(
        role=inputs.one_of("role", Role, role),
        content=text,
        parts=parts,
        tool_calls=calls,
        tool_call_id=inputs.plain_text_of("tool_call_id", tool_call_id, inputs.MAX_NAME),
        name=inputs.plain_text_of("name", name, inputs.MAX_NAME),
        tokens=None if tokens is None else inputs.count_of("tokens", tokens, least=0, most=10**9),
        pinned=bool(pinned),
        metadata=inputs.json_object_of("metadata", metadata),
        created_at=inputs.moment_of("created_at", created_at),
    )


def start(
    services: Services,
    where: Where,
    *,
    title: object = "",
    metadata: object = None,
    started_at: object = None,
) -> Conversation:
    """Begin a conversation of an agent, which is made if there is none of that name."""
    begun = Conversation(
        id=services.clock.new_id(),
        title=redact(inputs.text_of("title", title, most=inputs.MAX_TITLE)).text,
        metadata=inputs.json_object_of("metadata", metadata),
        started_at=inputs.moment_of("started_at", started_at) or services.clock.now(),
    )

    def write(tables: Tables) -> Conversation:
        places = settle(tables, where, services.clock)
        placed = replace(
            begun,
            agent_id=places.agent_id,
            project_id=places.project_id,
            repo_id=places.repo_id,
        )
        tables.conversations.add(placed)
        return placed

    return services.store.write(write)


def get(services: Services, conversation: object) -> Conversation:
    """Return one conversation."""
    with services.store.read() as tables:
        return known_conversation(tables, conversation)


def latest(
    services: Services,
    where: Where,
    *,
    before: object = None,
    limit: object = 50,
    offset: object = 0,
) -> list[Conversation]:
    """Return conversations, the latest first."""
    most = inputs.count_of("limit", limit, most=inputs.MAX_LIMIT)
    skip = inputs.count_of("offset", offset, least=0, most=10**9)
    moment = inputs.moment_of("before", before)
    with services.store.read() as tables:
        viewer = find(tables, where)
        return tables.conversations.latest(
            viewer.agent_id, project_id=viewer.project_id, before=moment, limit=most, offset=skip
        )


def resume(services: Services, conversation: object) -> Conversation:
    """Open an ended conversation again."""

    def write(tables: Tables) -> Conversation:
        found = replace(known_conversation(tables, conversation), ended_at=None)
        tables.conversations.set(found)
        return found

    return services.store.write(write)


def rename(services: Services, conversation: object, title: object) -> Conversation:
    """Give a conversation another title."""
    named = redact(inputs.text_of("title", title, most=inputs.MAX_TITLE)).text

    def write(tables: Tables) -> Conversation:
        found = replace(known_conversation(tables, conversation), title=named)
        tables.conversations.set(found)
        return found

    return services.store.write(write)


def delete(services: Services, conversation: object) -> ConversationReceipt:
    """Remove a conversation with its messages, summaries, pins, blocks and memories."""
    receipt = services.store.write(
        lambda tables: _delete(tables, known_conversation(tables, conversation), services)
    )
    return replace(receipt, kept=(*receipt.kept, *shrunk(services)))


def _delete(tables: Tables, found: Conversation, services: Services) -> ConversationReceipt:
    own = Owner(Scope.SESSION, found.id)
    blocks = tables.blocks.of_owner(own)
    removed = {
        "conversations": 1,
        "messages": tables.messages.count(found.id)[0],
        "summaries": len(tables.conversations.summaries(found.id)),
        "pins": len(tables.conversations.pins(found.id)),
        "blocks": len(blocks),
    }
    kept: list[str] = []
    for memory_id in tables.conversations.own_memory_ids(found.id):
        gone = forget_in(tables, memory_id, services.clock)
        kept += gone.kept
        for name, count in gone.removed.items():
            removed[name] = removed.get(name, 0) + count
    removed["captures"] = delete_captures(tables, tables.conversations.own_events(found.id))
    if found.agent_id is not None:
        tables.messages.remove_from_index(found.id)
    for block in blocks:
        tables.blocks.delete(block)
    drop_shelves(tables, own)
    tables.conversations.delete(found.id)
    return ConversationReceipt(
        conversation_id=found.id,
        deleted_at=services.clock.now(),
        removed={name: count for name, count in removed.items() if count},
        kept=tuple(dict.fromkeys(kept)),
    )


def append(services: Services, conversation: object, drafts: Sequence[Draft]) -> list[Message]:
    """Add messages to the end of a conversation, all or none."""
    if len(drafts) > MAX_MESSAGES:
        raise InvalidInput(f"{len(drafts)} messages at once; append at most {MAX_MESSAGES:,}")

    def write(tables: Tables) -> list[Message]:
        found = known_conversation(tables, conversation)
        if found.ended_at is not None:
            raise IllegalTransition(
                f"conversation {found.id} ended on {found.ended_at:%Y-%m-%d %H:%M}; "
                "resume it first, or start another"
            )
        return add_to(tables, services, found, drafts)

    return services.store.write(write)


def add_to(
    tables: Tables, services: Services, conversation: Conversation, drafts: Sequence[Draft]
) -> list[Message]:
    """Write messages at the end of a conversation, inside the transaction that chose it."""
    agent = tables.agents.get(conversation.agent_id) if conversation.agent_id else None
    counter = counter_for(agent.model if agent else "")
    at = tables.messages.next_position(conversation.id)
    added = []
    for position, wanted in enumerate(drafts, start=at):
        message = _message(services, conversation, position, wanted, counter)
        tables.messages.add(conversation, message)
        added.append(message)
    return added


def page(
    services: Services,
    conversation: object,
    *,
    start: object = 0,
    limit: object = PAGE,
    newest_first: bool = False,
    before: object = None,
) -> list[Message]:
    """Return messages of a conversation: in order from a position, or the last ones first."""
    most = inputs.count_of("limit", limit, most=MAX_MESSAGES)
    first = inputs.count_of("start", start, least=0, most=2**53)
    last = 2**53 if before is None else inputs.count_of("before", before, least=0, most=2**53)
    with services.store.read() as tables:
        found = known_conversation(tables, conversation)
        if newest_first or before is not None:
            return tables.messages.page_back(found.id, before=last, limit=most)
        return tables.messages.page(found.id, start=first, limit=most)


def in_context(services: Services, conversation: object) -> list[Message]:
    """Return the messages no summary stands for, in order."""
    with services.store.read() as tables:
        return tables.messages.in_context(known_conversation(tables, conversation).id)


def summaries(services: Services, conversation: object) -> list[Summary]:
    """Return the summaries of a conversation, oldest first."""
    with services.store.read() as tables:
        return tables.conversations.summaries(known_conversation(tables, conversation).id)


def pin_message(services: Services, message_id: object, *, pinned: bool) -> Message:
    """Keep a message in context whatever is compacted, bringing it back if it left; or let go."""

    def write(tables: Tables) -> Message:
        found = tables.messages.get(clean(message_id)) if isinstance(message_id, str) else None
        if found is None:
            raise NotFound(f"there is no message {message_id!r} in this store")
        if pinned and found.summary_id is not None:
            if list(tool_calls_of(found)) or answered_call_ids(found):
                raise InvalidInput(
                    f"message {found.position} belongs to a tool call that was summed up; "
                    "pin what it says instead: memory.pin(conversation, text)"
                )
            tables.messages.restore_to_context(found.id)
        tables.messages.set_pinned(found.id, pinned)
        return replace(found, pinned=pinned, summary_id=None if pinned else found.summary_id)

    return services.store.write(write)


def add_pin(
    services: Services, conversation: object, content: object, *, kind: object = "note"
) -> Pin:
    """Fix a piece of context to a conversation: a ticket, a debug note, a decision."""
    said = redact(inputs.text_of("content", content, most=MAX_PIN)).text
    if not said.strip():
        raise InvalidInput("there is nothing to pin: the content is empty")
    named = inputs.name_of("kind", kind)

    def write(tables: Tables) -> Pin:
        pin = Pin(
            id=services.clock.new_id(),
            conversation_id=known_conversation(tables, conversation).id,
            kind=named,
            content=said,
            pinned_at=services.clock.now(),
        )
        tables.conversations.add_pin(pin)
        return pin

    return services.store.write(write)


def unpin(services: Services, pin_id: object) -> Pin:
    """Take a pin out of context; it stays listed."""

    def write(tables: Tables) -> Pin:
        found = tables.conversations.pin(clean(pin_id)) if isinstance(pin_id, str) else None
        if found is None:
            raise NotFound(f"there is no pin {pin_id!r} in this store")
        kept = replace(found, active=False)
        tables.conversations.set_pin(kept)
        return kept

    return services.store.write(write)


def pins(services: Services, conversation: object) -> list[Pin]:
    """Return the pins of a conversation, oldest first, those out of use too."""
    with services.store.read() as tables:
        return tables.conversations.pins(known_conversation(tables, conversation).id)


def _message(
    services: Services,
    conversation: Conversation,
    position: int,
    wanted: Draft,
    counter: TokenCounter,
) -> Message:
    message = Message(
        id=services.clock.new_id(),
        conversation_id=conversation.id,
        position=position,
        role=wanted.role,
        content=wanted.content,
        parts=wanted.parts,
        tool_calls=wanted.tool_calls,
        tool_call_id=wanted.tool_call_id,
        name=wanted.name,
        tokens=wanted.tokens or 0,
        pinned=wanted.pinned,
        metadata=wanted.metadata,
        created_at=wanted.created_at or services.clock.now(),
    )
    if wanted.tokens is None:
        return replace(message, tokens=message_size(message, counter.count))
    return message


def _many(field: str, value: object) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list | tuple):
        raise InvalidInput(f"{field} must be a list of objects, not {type(value).__name__}")
    return tuple(inputs.json_of(field, list(value)))
