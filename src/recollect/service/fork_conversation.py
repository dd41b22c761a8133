"""Copy a conversation up to a message, so that two can go on from there."""

from dataclasses import replace

from recollect.domain import limits
from recollect.domain.conversation import Conversation
from recollect.errors import AlreadyExists, NotFound
from recollect.service import validate
from recollect.service.block_lookup import require_conversation
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests.conversations import ForkConversationRequest

ALL = 2**53  # more than there can be
FORKED_FROM = "forked_from"  # in the metadata of the copy: the id of the original


def fork_conversation(services: Services, request: ForkConversationRequest) -> Conversation:
    """Copy messages, summaries and pins to a new conversation of the same agent."""
    key = validate.key_of("key", request.key)
    title = request.title
    if title is not None:
        title = validate.plain_text_of("title", title, limits.MAX_TITLE)

    def write(tables: Tables) -> Conversation:
        original = require_conversation(tables, request.conversation)
        if key and tables.conversations.with_key(key, original.agent_id):
            raise AlreadyExists(f"there is a conversation with the key {key!r}; choose another")
        fork = replace(
            original,
            id=services.clock.new_id(),
            title=original.title if title is None else title,
            key=key,
            revision=0,
            metadata={**original.metadata, FORKED_FROM: original.id},
            started_at=services.clock.now(),
            ended_at=None,
        )
        tables.conversations.add(fork)
        _copy(tables, services, original, fork, _last_position(tables, original, request.at))
        return fork

    return services.store.write(write)


def _last_position(tables: Tables, original: Conversation, message_id: str | None) -> int:
    if message_id is None:
        return ALL
    message = tables.messages.get(message_id)
    if message is None or message.conversation_id != original.id:
        raise NotFound(f"conversation {original.id} has no message {message_id!r}")
    return message.position


def _copy(
    tables: Tables, services: Services, original: Conversation, fork: Conversation, last: int
) -> None:
    copied_ids: dict[str, str] = {}  # of the summaries
    for summary in tables.conversations.summaries(original.id):
        if summary.last_position <= last:  # a later one would tell what was said after the fork
            copied_ids[summary.id] = services.clock.new_id()
            copy = replace(summary, id=copied_ids[summary.id], conversation_id=fork.id)
            tables.conversations.add_summary(copy)
    summarized: dict[str, list[str]] = {}
    for message in tables.messages.page(original.id, start=0, limit=ALL):
        if message.position > last:
            break
        new_id = services.clock.new_id()
        copied = replace(message, id=new_id, conversation_id=fork.id, summary_id=None)
        tables.messages.add(fork, copied)
        if message.summary_id in copied_ids:
            summarized.setdefault(copied_ids[message.summary_id], []).append(new_id)
    for summary_id, message_ids in summarized.items():
        tables.messages.mark_summarized(message_ids, summary_id)
    for pin in tables.conversations.pins(original.id):
        pin = replace(pin, id=services.clock.new_id(), conversation_id=fork.id)
        tables.conversations.add_pin(pin)
