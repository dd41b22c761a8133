"""Handlers of the requests for conversations, their messages, pins and summaries."""

from collections.abc import Mapping
from typing import Any

from recollect.domain.conversation import (
    Compacted,
    Conversation,
    ConversationReceipt,
    Message,
    MessageHit,
    Pin,
    Summary,
)
from recollect.errors import InvalidInput
from recollect.service import compaction, conversations, ending, recall, running
from recollect.service.handlers.table import Handlers
from recollect.service.places import Where
from recollect.service.services import Services
from recollect.wire.requests.conversations import (
    AddMessageRequest,
    AddPinRequest,
    AppendMessageRequest,
    AppendMessagesRequest,
    CompactConversationRequest,
    DeleteConversationRequest,
    EndConversationRequest,
    GetConversationRequest,
    ListAgentMessagesRequest,
    ListConversationsRequest,
    ListMessagesInContextRequest,
    ListMessagesRequest,
    ListPinsRequest,
    ListSummariesRequest,
    PinMessageRequest,
    RemovePinRequest,
    RenameConversationRequest,
    ResumeConversationRequest,
    SearchForLettaRequest,
    SearchMessagesRequest,
    StartConversationRequest,
)


def start_conversation(services: Services, request: StartConversationRequest) -> Conversation:
    where = Where.of(request.project, request.repo, request.agent, None)
    return conversations.start(
        services,
        where,
        title=request.title,
        metadata=request.metadata,
        started_at=request.started_at,
    )


def get_conversation(services: Services, request: GetConversationRequest) -> Conversation:
    return conversations.get(services, request.conversation)


def list_conversations(services: Services, request: ListConversationsRequest) -> list[Conversation]:
    where = Where.of(request.project, None, request.agent, None)
    return conversations.latest(
        services, where, before=request.before, limit=request.limit, offset=request.offset
    )


def end_conversation(services: Services, request: EndConversationRequest) -> Conversation:
    return ending.end(
        services, request.conversation, ended_at=request.ended_at, capture=request.capture
    )


def resume_conversation(services: Services, request: ResumeConversationRequest) -> Conversation:
    return conversations.resume(services, request.conversation)


def rename_conversation(services: Services, request: RenameConversationRequest) -> Conversation:
    return conversations.rename(services, request.conversation, request.title)


def delete_conversation(
    services: Services, request: DeleteConversationRequest
) -> ConversationReceipt:
    return conversations.delete(services, request.conversation)


def append_message(services: Services, request: AppendMessageRequest) -> Message:
    return conversations.append(services, request.conversation, [_draft(request)])[0]


def append_messages(services: Services, request: AppendMessagesRequest) -> list[Message]:
    drafts = [
        _draft(AppendMessageRequest.of({**_message(message), "conversation": ""}))
        for message in request.messages
    ]
    return conversations.append(services, request.conversation, drafts)


def add_message(services: Services, request: AddMessageRequest) -> Message:
    wanted = conversations.draft(
        request.role, request.content, metadata=request.metadata, created_at=request.created_at
    )
    return running.add_message(services, request.agent, wanted)


def list_messages(services: Services, request: ListMessagesRequest) -> list[Message]:
    return conversations.page(
        services,
        request.conversation,
        start=request.start,
        limit=request.limit,
        newest_first=request.newest_first,
        before=request.before,
    )


def list_agent_messages(services: Services, request: ListAgentMessagesRequest) -> list[Message]:
    return recall.latest(
        services, request.agent, limit=request.limit, offset=request.offset, roles=request.roles
    )


def list_messages_in_context(
    services: Services, request: ListMessagesInContextRequest
) -> list[Message]:
    return conversations.in_context(services, request.conversation)


def list_summaries(services: Services, request: ListSummariesRequest) -> list[Summary]:
    return conversations.summaries(services, request.conversation)


def pin_message(services: Services, request: PinMessageRequest) -> Message:
    return conversations.pin_message(services, request.message, pinned=request.pinned)


def add_pin(services: Services, request: AddPinRequest) -> Pin:
    return conversations.add_pin(services, request.conversation, request.content, kind=request.kind)


def remove_pin(services: Services, request: RemovePinRequest) -> Pin:
    return conversations.unpin(services, request.pin)


def list_pins(services: Services, request: ListPinsRequest) -> list[Pin]:
    return conversations.pins(services, request.conversation)


def search_messages(services: Services, request: SearchMessagesRequest) -> list[MessageHit]:
    asked = recall.question(
        request.query,
        agent=request.agent,
        conversation=request.conversation,
        asked_in=request.asked_in,
        roles=request.roles,
        since=request.since,
        until=request.until,
        asked_at=request.asked_at,
        mode=request.mode,
        limit=request.limit,
    )
    return recall.search(services, asked)


def search_for_letta(services: Services, request: SearchForLettaRequest) -> Mapping[str, Any]:
    asked = recall.question(
        request.query,
        agent=request.agent,
        asked_in=request.asked_in,
        roles=request.roles,
        since=request.start_date,
        until=request.end_date,
        asked_at=request.asked_at,
        limit=request.limit,
    )
    return recall.conversation_search(services, asked)


def compact_conversation(
    services: Services, request: CompactConversationRequest
) -> Compacted | None:
    return compaction.compact(
        services,
        request.conversation,
        window_tokens=request.window_tokens,
        mode=request.mode,
        keep_last=request.keep_last,
        threshold=request.threshold,
        target=request.target,
        summary_tokens=request.summary_tokens,
        force=request.force,
    )


def _message(message: object) -> Mapping[str, Any]:
    if not isinstance(message, Mapping):
        raise InvalidInput("each message must be a dict of what `append` takes")
    return message


def _draft(request: AppendMessageRequest) -> conversations.Draft:
    return conversations.draft(
        request.role,
        request.content,
        created_at=request.created_at,
        metadata=request.metadata,
        tool_calls=request.tool_calls,
        tool_call_id=request.tool_call_id,
        name=request.name,
        tokens=request.tokens,
        pinned=request.pinned,
    )


HANDLERS: Handlers = {
    StartConversationRequest: start_conversation,
    GetConversationRequest: get_conversation,
    ListConversationsRequest: list_conversations,
    EndConversationRequest: end_conversation,
    ResumeConversationRequest: resume_conversation,
    RenameConversationRequest: rename_conversation,
    DeleteConversationRequest: delete_conversation,
    AppendMessageRequest: append_message,
    AppendMessagesRequest: append_messages,
    AddMessageRequest: add_message,
    ListMessagesRequest: list_messages,
    ListAgentMessagesRequest: list_agent_messages,
    ListMessagesInContextRequest: list_messages_in_context,
    ListSummariesRequest: list_summaries,
    PinMessageRequest: pin_message,
    AddPinRequest: add_pin,
    RemovePinRequest: remove_pin,
    ListPinsRequest: list_pins,
    SearchMessagesRequest: search_messages,
    SearchForLettaRequest: search_for_letta,
    CompactConversationRequest: compact_conversation,
}
