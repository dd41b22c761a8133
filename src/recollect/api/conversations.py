"""Conversations, their messages, pins and summaries."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.api.arguments import (
    AgentLike,
    Content,
    ConversationLike,
    MessageLike,
    Moment,
    Place,
    Texts,
)
from recollect.api.verb_group import VerbGroup
from recollect.domain.conversation import (
    Compacted,
    Conversation,
    ConversationReceipt,
    Message,
    MessageHit,
    Pin,
    Summary,
)
from recollect.wire.requests import conversations as requests


class Conversations(VerbGroup):
    """Record, search and compact conversations."""

    def start(
        self,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        repo: Place = None,
        key: str = "",
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        started_at: Moment = None,
    ) -> Conversation:
        """Start a conversation; an agent with a new name is created.

        *key* is your own name for it, such as the id of a thread. If the agent has a conversation
        with this key, that one is returned as it is.
        """
        return self._send(requests.StartConversationRequest, locals())

    def find(self, key: str, *, agent: AgentLike | None = None) -> Conversation | None:
        """Return the conversation that *agent*, or nobody, has under *key*, or None."""
        return self._send(requests.FindConversationRequest, locals())

    def fork(
        self,
        conversation: ConversationLike,
        *,
        at: MessageLike | None = None,
        key: str = "",
        title: str | None = None,
    ) -> Conversation:
        """Copy a conversation with its messages, summaries and pins to a new one.

        *at* is the last message that is copied. The original does not change.
        """
        return self._send(requests.ForkConversationRequest, locals())

    def get(self, conversation: ConversationLike) -> Conversation:
        """Return one conversation."""
        return self._send(requests.GetConversationRequest, locals())

    def end(
        self, conversation: ConversationLike, *, ended_at: Moment = None, capture: bool = False
    ) -> Conversation:
        """End a conversation; ending it twice is the same as ending it once.

        *capture* also captures its messages, so that the engine extracts candidates from them.
        """
        return self._send(requests.EndConversationRequest, locals())

    def resume(self, conversation: ConversationLike) -> Conversation:
        """Reopen an ended conversation."""
        return self._send(requests.ResumeConversationRequest, locals())

    def rename(self, conversation: ConversationLike, title: str) -> Conversation:
        """Change the title of a conversation."""
        return self._send(requests.RenameConversationRequest, locals())

    def set_metadata(
        self, conversation: ConversationLike, metadata: Mapping[str, Any]
    ) -> Conversation:
        """Replace the metadata of a conversation."""
        return self._send(requests.SetConversationMetadataRequest, locals())

    def delete(self, conversation: ConversationLike) -> ConversationReceipt:
        """Delete a conversation and its messages; return a receipt."""
        return self._send(requests.DeleteConversationRequest, locals())

    def append(
        self,
        conversation: ConversationLike,
        role: str,
        content: Content = "",
        *,
        created_at: Moment = None,
        metadata: Mapping[str, Any] | None = None,
        tool_calls: Sequence[Any] | None = None,
        tool_call_id: str = "",
        name: str = "",
        tokens: int | None = None,
        pinned: bool = False,
        payload: Any = None,
        expected_revision: int | None = None,
    ) -> Message:
        """Append a message; full text finds it at once.

        *payload* is any JSON value, which is returned exactly as it was given; with one, *content*
        may be empty. Secrets are redacted in the content, which is searched and shown, and not in
        the payload. *expected_revision* raises `RevisionConflict` if the conversation has changed
        since it had this revision.
        """
        return self._send(requests.AppendMessageRequest, locals())

    def append_many(
        self,
        conversation: ConversationLike,
        messages: Sequence[Mapping[str, Any]],
        *,
        expected_revision: int | None = None,
    ) -> list[Message]:
        """Append several messages, all or none; each a dict of `append`'s arguments."""
        return self._send(requests.AppendMessagesRequest, locals())

    def get_message(self, message: MessageLike) -> Message:
        """Return one message."""
        return self._send(requests.GetMessageRequest, locals())

    def delete_message(
        self, message: MessageLike, *, expected_revision: int | None = None
    ) -> Message:
        """Delete one message and return it.

        The rows that name it (a summary, a captured source) stay; `forget` removes words
        everywhere.
        """
        return self._send(requests.DeleteMessageRequest, locals())

    def pop(
        self, conversation: ConversationLike, *, expected_revision: int | None = None
    ) -> Message | None:
        """Delete the last message of a conversation and return it; None if there is none."""
        return self._send(requests.PopMessageRequest, locals())

    def add_message(
        self,
        agent: AgentLike,
        role: str,
        content: Content,
        *,
        metadata: Mapping[str, Any] | None = None,
        created_at: Moment = None,
    ) -> Message:
        """Append a message to the agent's current conversation.

        After four hours without a message the next one starts a new conversation.
        """
        return self._send(requests.AddMessageRequest, locals())

    def messages(
        self,
        conversation: ConversationLike,
        *,
        start: int = 0,
        limit: int = 100,
        newest_first: bool = False,
        before: int | None = None,
    ) -> list[Message]:
        """Return a page of messages, in order from position *start*, or newest first.

        *before* returns the messages before that position, newest first, and ignores *start*.
        """
        return self._send(requests.ListMessagesRequest, locals())

    def agent_messages(
        self, agent: AgentLike, *, limit: int = 100, offset: int = 0, roles: Texts | None = None
    ) -> list[Message]:
        """Return the messages of all conversations of an agent, newest first."""
        return self._send(requests.ListAgentMessagesRequest, locals())

    def all_messages(
        self,
        *,
        agent: AgentLike | None = None,
        after: MessageLike | None = None,
        before: MessageLike | None = None,
        newest_first: bool = False,
        limit: int = 100,
    ) -> list[Message]:
        """Return messages of all conversations, of one agent or of all, as they were stored.

        *after* and *before* are messages, or their ids, in the order of the result. With *before*
        alone, the *limit* messages that come right before it are returned.
        """
        return self._send(requests.ListAllMessagesRequest, locals())

    def messages_in_context(self, conversation: ConversationLike) -> list[Message]:
        """Return the messages that no summary has replaced, in order."""
        return self._send(requests.ListMessagesInContextRequest, locals())

    def summaries(self, conversation: ConversationLike) -> list[Summary]:
        """Return the summaries of a conversation, oldest first."""
        return self._send(requests.ListSummariesRequest, locals())

    def pin_message(self, message: MessageLike, *, pinned: bool = True) -> Message:
        """Pin a message so that compaction keeps it in context, or unpin it."""
        return self._send(requests.PinMessageRequest, locals())

    def pin(self, conversation: ConversationLike, content: str, *, kind: str = "note") -> Pin:
        """Pin a ticket, a debug note or a decision to a conversation."""
        return self._send(requests.AddPinRequest, locals())

    def unpin(self, pin: Pin | str) -> Pin:
        """Remove a pin."""
        return self._send(requests.RemovePinRequest, locals())

    def pins(self, conversation: ConversationLike) -> list[Pin]:
        """Return the pins of a conversation, oldest first."""
        return self._send(requests.ListPinsRequest, locals())

    def search(
        self,
        query: str,
        *,
        agent: AgentLike | None = None,
        conversation: ConversationLike | None = None,
        asked_in: ConversationLike | None = None,
        roles: Texts | None = None,
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        mode: str = "hybrid",
        filter: Mapping[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        below_threshold: bool = False,
    ) -> list[MessageHit]:
        """Return the messages that answer *query*, best first, each with its explanation.

        With *below_threshold* the best *limit* are returned however good they are. Times in the
        query ("last Friday", "three sessions ago") are resolved relative to *asked_at* and to
        *asked_in*, the current conversation. *mode* is hybrid, fts or vector. *filter* has a
        condition for each field of a message's metadata: a value, or `{"$gt": 3}` with $eq, $ne,
        $gt, $gte, $lt, $lte.
        """
        return self._send(requests.SearchMessagesRequest, locals())

    def letta_search(
        self,
        agent: AgentLike,
        query: str = "",
        *,
        project: Place = None,
        roles: Texts | None = None,
        limit: int = 10,
        start_date: Moment = None,
        end_date: Moment = None,
        asked_at: Moment = None,
        asked_in: ConversationLike | None = None,
    ) -> Mapping[str, Any]:
        """
        Search messages; return the result in the shape of Letta's `conversation_search`.

        Conversations of other projects than *project*, or that of *asked_in*, are left out.
        """
        return self._send(requests.SearchForLettaRequest, locals())

    def compact(
        self,
        conversation: ConversationLike,
        *,
        window_tokens: int | None = None,
        mode: str = "sliding_window",
        keep_last: int = 10,
        threshold: float = 0.8,
        target: float = 0.5,
        summary_tokens: int | None = None,
        force: bool = False,
    ) -> Compacted | None:
        """Replace older messages by a summary once *threshold* of the context window is used.

        *mode* `all` replaces every message that may go, `sliding_window` the oldest until *target*
        is reached. The last messages, pinned ones and decisions stay; a tool call stays with its
        result. Return None if nothing was replaced; *force* ignores the threshold.
        """
        return self._send(requests.CompactConversationRequest, locals())

    def list(
        self,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        before: Moment = None,
        key_prefix: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> list[Conversation]:
        """Return conversations, newest first."""
        return self._send(requests.ListConversationsRequest, locals())
