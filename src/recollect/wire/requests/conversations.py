"""Requests for conversations, their messages, pins and summaries."""

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
from recollect.wire.fields import (
    EndMoment,
    Flag,
    Id,
    Json,
    Moment,
    Number,
    Place,
    Text,
    Texts,
    WholeNumber,
    ZonedMoment,
)
from recollect.wire.request import VerbRequest


class StartConversationRequest(VerbRequest[Conversation], route="POST /conversations"):
    """Begin a conversation; an agent of a new name is made."""

    agent: Id | None = None
    project: Place | None = None
    repo: Place | None = None
    title: Text = ""
    metadata: Json = None
    started_at: Moment | None = None


class GetConversationRequest(VerbRequest[Conversation], route="GET /conversations/{conversation}"):
    """Return one conversation."""

    conversation: Id


class ListConversationsRequest(VerbRequest[list[Conversation]], route="GET /conversations"):
    """Return conversations, the latest first."""

    agent: Id | None = None
    project: Place | None = None
    before: Moment | None = None
    limit: WholeNumber = 50
    offset: WholeNumber = 0


class EndConversationRequest(
    VerbRequest[Conversation], route="POST /conversations/{conversation}/end"
):
    """End a conversation; ending it twice is ending it once."""

    conversation: Id
    ended_at: Moment | None = None
    capture: Flag = False


class ResumeConversationRequest(
    VerbRequest[Conversation], route="POST /conversations/{conversation}/resume"
):
    """Open an ended conversation again."""

    conversation: Id


class RenameConversationRequest(
    VerbRequest[Conversation], route="PATCH /conversations/{conversation}"
):
    """Give a conversation another title."""

    conversation: Id
    title: Text


class DeleteConversationRequest(
    VerbRequest[ConversationReceipt], route="DELETE /conversations/{conversation}"
):
    """Remove a conversation with all that was said in it, and return a receipt."""

    conversation: Id


class AppendMessageRequest(
    VerbRequest[Message], route="POST /conversations/{conversation}/messages"
):
    """Add a message: text, or parts as OpenAI and Anthropic write them; found by words now."""

    conversation: Id
    role: Text
    content: Json = ""
    created_at: Moment | None = None
    metadata: Json = None
    tool_calls: Json = None
    tool_call_id: Text = ""
    name: Text = ""
    tokens: WholeNumber | None = None
    pinned: Flag = False


class AppendMessagesRequest(
    VerbRequest[list[Message]], route="POST /conversations/{conversation}/messages/batch"
):
    """Add several messages, all or none; each a dict of what `append_message` takes."""

    conversation: Id
    messages: Json


class AddMessageRequest(VerbRequest[Message], route="POST /agents/{agent}/messages"):
    """Add a message without naming a conversation: it goes to the agent's running one."""

    agent: Id
    role: Text
    content: Json
    metadata: Json = None
    created_at: Moment | None = None


class ListMessagesRequest(
    VerbRequest[list[Message]], route="GET /conversations/{conversation}/messages"
):
    """Return a page of messages: in order from position *start*, or the last ones first."""

    conversation: Id
    start: WholeNumber = 0
    limit: WholeNumber = 100
    newest_first: Flag = False
    before: WholeNumber | None = None


class ListAgentMessagesRequest(VerbRequest[list[Message]], route="GET /agents/{agent}/messages"):
    """Return what an agent said and heard in all its conversations, the last first."""

    agent: Id
    limit: WholeNumber = 100
    offset: WholeNumber = 0
    roles: Texts | None = None


class ListMessagesInContextRequest(
    VerbRequest[list[Message]], route="GET /conversations/{conversation}/context"
):
    """Return the messages no summary stands for, in order."""

    conversation: Id


class ListSummariesRequest(
    VerbRequest[list[Summary]], route="GET /conversations/{conversation}/summaries"
):
    """Return the summaries of a conversation, oldest first."""

    conversation: Id


class PinMessageRequest(VerbRequest[Message], route="PUT /messages/{message}/pin"):
    """Keep a message in context whatever is compacted, or no longer."""

    message: Id
    pinned: Flag = True


class AddPinRequest(VerbRequest[Pin], route="POST /conversations/{conversation}/pins"):
    """Fix a ticket, a debug note or a decision to a conversation."""

    conversation: Id
    content: Text
    kind: Text = "note"


class RemovePinRequest(VerbRequest[Pin], route="DELETE /pins/{pin}"):
    """Take a pin out of context."""

    pin: Id


class ListPinsRequest(VerbRequest[list[Pin]], route="GET /conversations/{conversation}/pins"):
    """Return the pins of a conversation, oldest first."""

    conversation: Id


class SearchMessagesRequest(VerbRequest[list[MessageHit]], route="POST /messages/search"):
    """Return the messages that answer *query*, best first, each with its reasons."""

    query: Text
    agent: Id | None = None
    conversation: Id | None = None
    asked_in: Id | None = None
    roles: Texts | None = None
    since: Moment | None = None
    until: EndMoment | None = None
    asked_at: ZonedMoment | None = None
    mode: Text = "hybrid"
    limit: WholeNumber = 10


class SearchForLettaRequest(
    VerbRequest[Mapping[str, Any]], route="POST /agents/{agent}/conversation-search"
):
    """Return the same in the shape of Letta's tool, without tools' words and own calls."""

    agent: Id
    query: Text = ""
    roles: Texts | None = None
    limit: WholeNumber = 10
    start_date: Moment | None = None
    end_date: EndMoment | None = None
    asked_at: ZonedMoment | None = None
    asked_in: Id | None = None


class CompactConversationRequest(
    VerbRequest[Compacted | None], route="POST /conversations/{conversation}/compact"
):
    """Let a summary stand for older messages once *threshold* of the window is used."""

    conversation: Id
    window_tokens: WholeNumber | None = None
    mode: Text = "sliding_window"
    keep_last: WholeNumber = 10
    threshold: Number = 0.8
    target: Number = 0.5
    summary_tokens: WholeNumber | None = None
    force: Flag = False
