"""Requests for conversations, their messages, pins and summaries."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from recollect.domain.conversation import (
    Compacted,
    CompactionMode,
    Conversation,
    ConversationReceipt,
    Message,
    MessageHit,
    Pin,
    Role,
    Summary,
)
from recollect.wire.fields import (
    EndMoment,
    Flag,
    Id,
    Json,
    Limit,
    Moment,
    Offset,
    Place,
    Position,
    Roles,
    Share,
    Text,
    WindowTokens,
    ZonedMoment,
    choice,
    member,
    whole_number,
)
from recollect.wire.request import VerbRequest

MAX_MESSAGES = 10_000  # in one request
RoleName = Annotated[Role, member(Role, "role")]
PageSize = Annotated[int, whole_number(1, MAX_MESSAGES)]


class StartConversationRequest(VerbRequest[Conversation], route="POST /conversations"):
    """Start a conversation; an agent with a new name is created."""

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
    """Return conversations, newest first."""

    agent: Id | None = Field(default=None, description="Only of this agent.")
    project: Place | None = Field(default=None, description="Only in this project.")
    before: Moment | None = Field(
        default=None, description="Only those started before then (2026-05-08)."
    )
    limit: Limit = Field(default=50, description="How many at most.")
    offset: Offset = Field(default=0, description="How many to skip.")


class EndConversationRequest(
    VerbRequest[Conversation], route="POST /conversations/{conversation}/end"
):
    """End a conversation. Ending it again changes nothing."""

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
    """Change the title of a conversation."""

    conversation: Id
    title: Text


class DeleteConversationRequest(
    VerbRequest[ConversationReceipt], route="DELETE /conversations/{conversation}"
):
    """Delete a conversation with everything in it, and return a receipt."""

    conversation: Id


class AppendMessageRequest(
    VerbRequest[Message], route="POST /conversations/{conversation}/messages"
):
    """Append a message: text, or parts in the format of OpenAI or Anthropic."""

    conversation: Id
    role: RoleName
    content: Json = ""
    created_at: Moment | None = None
    metadata: Json = None
    tool_calls: Json = None
    tool_call_id: Text = ""
    name: Text = ""
    tokens: Offset | None = None
    pinned: Flag = False


class AppendMessagesRequest(
    VerbRequest[list[Message]], route="POST /conversations/{conversation}/messages/batch"
):
    """Append several messages, all or none; each a dict of what `append` takes."""

    conversation: Id
    messages: Json


class AddMessageRequest(VerbRequest[Message], route="POST /agents/{agent}/messages"):
    """Append a message to the current conversation of an agent."""

    agent: Id
    role: RoleName
    content: Json
    metadata: Json = None
    created_at: Moment | None = None


class ListMessagesRequest(
    VerbRequest[list[Message]], route="GET /conversations/{conversation}/messages"
):
    """Return a page of messages: in order from position *start*, or newest first."""

    conversation: Id
    start: Position = 0
    limit: PageSize = 100
    newest_first: Flag = False
    before: Position | None = None


class ListAgentMessagesRequest(VerbRequest[list[Message]], route="GET /agents/{agent}/messages"):
    """Return the messages of all conversations of an agent, newest first."""

    agent: Id
    limit: PageSize = 100
    offset: Offset = 0
    roles: Roles | None = None


class ListMessagesInContextRequest(
    VerbRequest[list[Message]], route="GET /conversations/{conversation}/context"
):
    """Return the messages that no summary replaces, in order."""

    conversation: Id


class ListSummariesRequest(
    VerbRequest[list[Summary]], route="GET /conversations/{conversation}/summaries"
):
    """Return the summaries of a conversation, oldest first."""

    conversation: Id


class PinMessageRequest(VerbRequest[Message], route="PUT /messages/{message}/pin"):
    """Pin a message, so that compaction leaves it in context; or unpin it."""

    message: Id
    pinned: Flag = True


class AddPinRequest(VerbRequest[Pin], route="POST /conversations/{conversation}/pins"):
    """Pin a text to a conversation: a ticket, a debug note, a decision."""

    conversation: Id
    content: Text
    kind: Text = "note"


class RemovePinRequest(VerbRequest[Pin], route="DELETE /pins/{pin}"):
    """Remove a pin from context."""

    pin: Id


class ListPinsRequest(VerbRequest[list[Pin]], route="GET /conversations/{conversation}/pins"):
    """Return the pins of a conversation, oldest first."""

    conversation: Id


class SearchMessagesRequest(VerbRequest[list[MessageHit]], route="POST /messages/search"):
    """Return the messages that match *query*, best first, each with an explanation."""

    query: Text
    agent: Id | None = None
    conversation: Id | None = None
    asked_in: Id | None = None
    roles: Roles | None = Field(default=None, description="Only messages of this role. Repeatable.")
    since: Moment | None = Field(
        default=None, description="Only what was said since then (2026-05-08)."
    )
    until: EndMoment | None = Field(default=None, description="Only what was said until then.")
    asked_at: ZonedMoment | None = Field(
        default=None, description="The time of the question. Default: now."
    )
    mode: Annotated[str, choice("hybrid", "fts", "vector")] = "hybrid"
    limit: Limit = Field(default=10, description="How many at most.")


class SearchForLettaRequest(
    VerbRequest[Mapping[str, Any]], route="POST /agents/{agent}/conversation-search"
):
    """Search an agent's messages; return what Letta's conversation_search returns."""

    agent: Id
    query: Text = ""
    roles: Roles | None = None
    limit: Limit = 10
    start_date: Moment | None = None
    end_date: EndMoment | None = None
    asked_at: ZonedMoment | None = None
    asked_in: Id | None = None


class CompactConversationRequest(
    VerbRequest[Compacted | None], route="POST /conversations/{conversation}/compact"
):
    """Replace older messages by a summary once *threshold* of the window is used."""

    conversation: Id
    window_tokens: WindowTokens | None = None
    mode: Annotated[CompactionMode, member(CompactionMode, "mode")] = CompactionMode.SLIDING_WINDOW
    keep_last: Annotated[int, whole_number(0, 10**6)] = 10
    threshold: Share = 0.8
    target: Share = 0.5
    summary_tokens: Annotated[int, whole_number(20, 10**6)] | None = None
    force: Flag = False
