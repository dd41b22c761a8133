"""Requests for conversations, their messages, pins and summaries."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from recollect.domain import conversation as domain
from recollect.domain import limits
from recollect.errors import InvalidInput
from recollect.wire import fields
from recollect.wire.fields import option
from recollect.wire.request import VerbRequest
from recollect.wire.to_json import to_json

MAX_MESSAGES = 10_000  # in one request
RoleName = Annotated[domain.Role, fields.member(domain.Role, "role")]
ConversationKey = Annotated[str, fields.text(limits.MAX_KEY)]
PageSize = Annotated[int, fields.whole_number(1, MAX_MESSAGES)]


def _message_list(value: object, info: ValidationInfo) -> Any:
    """Return a list of messages as JSON; their payloads stay exactly as they are."""
    if not isinstance(value, Sequence) or not all(isinstance(item, Mapping) for item in value):
        raise InvalidInput("messages must be a list, each message a dict of what `append` takes")
    return [
        {
            name: fields.exact_json(item, info) if name == "payload" else to_json(item, name=name)
            for name, item in message.items()
        }
        for message in value
    ]


MessageList = Annotated[list[dict[str, Any]], BeforeValidator(_message_list)]


class StartConversationRequest(VerbRequest[domain.Conversation], route="POST /conversations"):
    """Start a conversation, or return the one that the agent has under *key*."""

    agent: fields.Id | None = None
    project: fields.Place | None = None
    repo: fields.Place | None = None
    key: ConversationKey = ""
    title: fields.Text = ""
    metadata: fields.Json = None
    started_at: fields.Moment | None = None


class GetConversationRequest(
    VerbRequest[domain.Conversation], route="GET /conversations/{conversation}"
):
    """Return one conversation."""

    conversation: fields.Id


class FindConversationRequest(
    VerbRequest[domain.Conversation | None], route="GET /conversation-keys/{key}"
):
    """Return the conversation that an agent, or nobody, has under *key*; None if there is none."""

    key: ConversationKey
    agent: fields.Id | None = None


class ForkConversationRequest(
    VerbRequest[domain.Conversation], route="POST /conversations/{conversation}/fork"
):
    """Copy a conversation up to the message *at*, or all of it, to a new one."""

    conversation: fields.Id
    at: fields.Id | None = None
    key: ConversationKey = ""
    title: fields.Text | None = None


class ListConversationsRequest(VerbRequest[list[domain.Conversation]], route="GET /conversations"):
    """Return conversations, newest first."""

    agent: fields.Id | None = option(None, "Only of this agent.")
    project: fields.Place | None = option(None, "Only in this project.")
    before: fields.Moment | None = option(None, "Only those started before then (2026-05-08).")
    key_prefix: ConversationKey = option("", "Only conversations whose key starts with this.")
    limit: fields.Limit = option(50, "Maximum number of results.")
    offset: fields.Offset = option(0, "How many to skip.")


class EndConversationRequest(
    VerbRequest[domain.Conversation], route="POST /conversations/{conversation}/end"
):
    """End a conversation. Ending it again changes nothing."""

    conversation: fields.Id
    ended_at: fields.Moment | None = None
    capture: fields.Flag = False


class ResumeConversationRequest(
    VerbRequest[domain.Conversation], route="POST /conversations/{conversation}/resume"
):
    """Open an ended conversation again."""

    conversation: fields.Id


class RenameConversationRequest(
    VerbRequest[domain.Conversation], route="PATCH /conversations/{conversation}"
):
    """Change the title of a conversation."""

    conversation: fields.Id
    title: fields.Text


class SetConversationMetadataRequest(
    VerbRequest[domain.Conversation], route="PUT /conversations/{conversation}/metadata"
):
    """Replace the metadata of a conversation."""

    conversation: fields.Id
    metadata: fields.Json


class DeleteConversationRequest(
    VerbRequest[domain.ConversationReceipt], route="DELETE /conversations/{conversation}"
):
    """Delete a conversation with everything in it, and return a receipt."""

    conversation: fields.Id


class AppendMessageRequest(
    VerbRequest[domain.Message], route="POST /conversations/{conversation}/messages"
):
    """Append a message: text, or parts in the format of OpenAI or Anthropic."""

    conversation: fields.Id
    role: RoleName
    content: fields.Json = ""
    created_at: fields.Moment | None = None
    metadata: fields.Json = None
    tool_calls: fields.Json = None
    tool_call_id: fields.Text = ""
    name: fields.Text = ""
    tokens: fields.Offset | None = None
    pinned: fields.Flag = False
    payload: fields.ExactJson = None
    expected_revision: fields.Position | None = None


class AppendMessagesRequest(
    VerbRequest[list[domain.Message]], route="POST /conversations/{conversation}/messages/batch"
):
    """Append several messages, all or none; each a dict of what `append` takes."""

    conversation: fields.Id
    messages: MessageList
    expected_revision: fields.Position | None = None


class GetMessageRequest(VerbRequest[domain.Message], route="GET /messages/{message}"):
    """Return one message."""

    message: fields.Id


class DeleteMessageRequest(VerbRequest[domain.Message], route="DELETE /messages/{message}"):
    """Delete one message and return it."""

    message: fields.Id
    expected_revision: fields.Position | None = None


class PopMessageRequest(
    VerbRequest[domain.Message | None], route="POST /conversations/{conversation}/pop"
):
    """Delete the last message of a conversation and return it; None if there is none."""

    conversation: fields.Id
    expected_revision: fields.Position | None = None


class AddMessageRequest(VerbRequest[domain.Message], route="POST /agents/{agent}/messages"):
    """Append a message to the current conversation of an agent."""

    agent: fields.Id
    role: RoleName
    content: fields.Json
    metadata: fields.Json = None
    created_at: fields.Moment | None = None


class ListMessagesRequest(
    VerbRequest[list[domain.Message]], route="GET /conversations/{conversation}/messages"
):
    """Return a page of messages: in order from position *start*, or newest first."""

    conversation: fields.Id
    start: fields.Position = 0
    limit: PageSize = 100
    newest_first: fields.Flag = False
    before: fields.Position | None = None


class ListAgentMessagesRequest(
    VerbRequest[list[domain.Message]], route="GET /agents/{agent}/messages"
):
    """Return the messages of all conversations of an agent, newest first."""

    agent: fields.Id
    limit: PageSize = 100
    offset: fields.Offset = 0
    roles: fields.Roles | None = None


class ListAllMessagesRequest(VerbRequest[list[domain.Message]], route="GET /messages"):
    """Return a page of the messages of an agent, or of everybody, as they were stored."""

    agent: fields.Id | None = None
    after: fields.Id | None = None
    before: fields.Id | None = None
    newest_first: fields.Flag = False
    limit: PageSize = 100


class ListMessagesInContextRequest(
    VerbRequest[list[domain.Message]], route="GET /conversations/{conversation}/context"
):
    """Return the messages that no summary replaces, in order."""

    conversation: fields.Id


class ListSummariesRequest(
    VerbRequest[list[domain.Summary]], route="GET /conversations/{conversation}/summaries"
):
    """Return the summaries of a conversation, oldest first."""

    conversation: fields.Id


class PinMessageRequest(VerbRequest[domain.Message], route="PUT /messages/{message}/pin"):
    """Pin a message, so that compaction leaves it in context; or unpin it."""

    message: fields.Id
    pinned: fields.Flag = True


class AddPinRequest(VerbRequest[domain.Pin], route="POST /conversations/{conversation}/pins"):
    """Pin a text to a conversation: a ticket, a debug note, a decision."""

    conversation: fields.Id
    content: fields.Text
    kind: fields.Text = "note"


class RemovePinRequest(VerbRequest[domain.Pin], route="DELETE /pins/{pin}"):
    """Remove a pin from context."""

    pin: fields.Id


class ListPinsRequest(
    VerbRequest[list[domain.Pin]], route="GET /conversations/{conversation}/pins"
):
    """Return the pins of a conversation, oldest first."""

    conversation: fields.Id


class SearchMessagesRequest(VerbRequest[list[domain.MessageHit]], route="POST /messages/search"):
    """Return the messages that match *query*, best first, each with an explanation."""

    query: fields.Text
    agent: fields.Id | None = None
    conversation: fields.Id | None = None
    asked_in: fields.Id | None = None
    roles: fields.Roles | None = option(None, "Only messages of this role. Repeatable.")
    since: fields.Moment | None = option(None, "Only what was said since then (2026-05-08).")
    until: fields.EndMoment | None = option(None, "Only what was said until then.")
    asked_at: fields.ZonedMoment | None = option(None, "The time of the question. Default: now.")
    mode: Annotated[str, fields.choice("hybrid", "fts", "vector")] = "hybrid"
    filter: fields.Json = None
    below_threshold: fields.Flag = option(
        False, "Return the best matches even if they are below the threshold."
    )
    limit: fields.Limit = option(10, "Maximum number of results.")
    offset: fields.SearchOffset = option(0, "How many to skip.")


class SearchForLettaRequest(
    VerbRequest[Mapping[str, Any]], route="POST /agents/{agent}/conversation-search"
):
    """Search an agent's messages; return what Letta's conversation_search returns."""

    agent: fields.Id
    project: fields.Place | None = None
    query: fields.Text = ""
    roles: fields.Roles | None = None
    limit: fields.Limit = 10
    start_date: fields.Moment | None = None
    end_date: fields.EndMoment | None = None
    asked_at: fields.ZonedMoment | None = None
    asked_in: fields.Id | None = None


class CompactConversationRequest(
    VerbRequest[domain.Compacted | None], route="POST /conversations/{conversation}/compact"
):
    """Replace older messages by a summary once *threshold* of the window is used."""

    conversation: fields.Id
    window_tokens: fields.WindowTokens | None = None
    mode: Annotated[domain.CompactionMode, fields.member(domain.CompactionMode, "mode")] = (
        domain.CompactionMode.SLIDING_WINDOW
    )
    keep_last: Annotated[int, fields.whole_number(0, 10**6)] = 10
    threshold: fields.Share = 0.8
    target: fields.Share = 0.5
    summary_tokens: Annotated[int, fields.whole_number(20, 10**6)] | None = None
    force: fields.Flag = False
