"""Verbs about what was said: conversations, messages, search in them, the archive."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.app.agents import AgentLike
from recollect.app.given import Moment, Place, Texts, Verbs, known_names, path_of
from recollect.domain.conversation import (
    Conversation,
    ConversationReceipt,
    Message,
    MessageHit,
    Pin,
    Summary,
)
from recollect.domain.memory import Memory
from recollect.domain.retrieval import Hit
from recollect.errors import InvalidInput
from recollect.service import archival, conversations, ending, recall, running
from recollect.service.places import Where

ConversationLike = Conversation | str
Content = str | Sequence[Any] | None
_MESSAGE = frozenset(conversations.Draft.__dataclass_fields__) - {"parts"}


class ConversationVerbs(Verbs):
    """Verbs about what was said. A conversation is named by its id or itself."""

    def start_conversation(
        self,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        repo: Place = None,
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        started_at: Moment = None,
    ) -> Conversation:
        """Begin a conversation; an agent of a new name is made."""
        where = Where.of(path_of(project), path_of(repo), agent, None)
        return conversations.start(
            self._deps, where, title=title, metadata=metadata, started_at=started_at
        )

    def conversation(self, conversation: ConversationLike) -> Conversation:
        """Return one conversation."""
        return conversations.get(self._deps, conversation)

    def conversations(
        self,
        *,
        agent: AgentLike | None = None,
        project: Place = None,
        before: Moment = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Conversation]:
        """Return conversations, the latest first."""
        where = Where.of(path_of(project), None, agent, None)
        return conversations.latest(self._deps, where, before=before, limit=limit, offset=offset)

    def end_conversation(
        self, conversation: ConversationLike, *, ended_at: Moment = None, capture: bool = False
    ) -> Conversation:
        """
        End a conversation; ending it twice is ending it once.

        *capture* hands what was said over to the engine, which learns from it later.
        """
        return ending.end(self._deps, conversation, ended_at=ended_at, capture=capture)

    def resume_conversation(self, conversation: ConversationLike) -> Conversation:
        """Open an ended conversation again."""
        return conversations.resume(self._deps, conversation)

    def rename_conversation(self, conversation: ConversationLike, title: str) -> Conversation:
        """Give a conversation another title."""
        return conversations.rename(self._deps, conversation, title)

    def delete_conversation(self, conversation: ConversationLike) -> ConversationReceipt:
        """Remove a conversation with all that was said in it, and return a receipt."""
        return conversations.delete(self._deps, conversation)

    def append_message(
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
    ) -> Message:
        """Add a message: text, or parts as OpenAI and Anthropic write them; found by words now."""
        wanted = conversations.draft(
            role,
            content,
            created_at=created_at,
            metadata=metadata,
            tool_calls=tool_calls,
            tool_call_id=tool_call_id,
            name=name,
            tokens=tokens,
            pinned=pinned,
        )
        return conversations.append(self._deps, conversation, [wanted])[0]

    def append_messages(
        self, conversation: ConversationLike, messages: Sequence[Mapping[str, Any]]
    ) -> list[Message]:
        """Add several messages, all or none; each a dict of what `append_message` takes."""
        drafts = [_draft(one) for one in messages]
        return conversations.append(self._deps, conversation, drafts)

    def add_message(
        self,
        agent: AgentLike,
        role: str,
        content: Content,
        *,
        metadata: Mapping[str, Any] | None = None,
        created_at: Moment = None,
    ) -> Message:
        """
        Add a message without naming a conversation: it goes to the agent's running one.

        That one ends when nothing was said in it for four hours; the next message begins another.
        """
        wanted = conversations.draft(role, content, metadata=metadata, created_at=created_at)
        return running.add_message(self._deps, agent, wanted)

    def messages(
        self,
        conversation: ConversationLike,
        *,
        start: int = 0,
        limit: int = 100,
        newest_first: bool = False,
        before: int | None = None,
    ) -> list[Message]:
        """
        Return a page of messages: in order from position *start*, or the last ones first.

        *before* a position gives those before it, the last first, whatever *start* says.
        """
        return conversations.page(
            self._deps,
            conversation,
            start=start,
            limit=limit,
            newest_first=newest_first,
            before=before,
        )

    def messages_of(
        self, agent: AgentLike, *, limit: int = 100, offset: int = 0, roles: Texts | None = None
    ) -> list[Message]:
        """Return what an agent said and heard in all its conversations, the last first."""
        return recall.latest(self._deps, agent, limit=limit, offset=offset, roles=roles)

    def messages_in_context(self, conversation: ConversationLike) -> list[Message]:
        """Return the messages no summary stands for, in order."""
        return conversations.in_context(self._deps, conversation)

    def summaries(self, conversation: ConversationLike) -> list[Summary]:
        """Return the summaries of a conversation, oldest first."""
        return conversations.summaries(self._deps, conversation)

    def pin_message(self, message: Message | str, *, pinned: bool = True) -> Message:
        """Keep a message in context whatever is compacted, or no longer."""
        message_id = message.id if isinstance(message, Message) else message
        return conversations.pin_message(self._deps, message_id, pinned=pinned)

    def pin(self, conversation: ConversationLike, content: str, *, kind: str = "note") -> Pin:
        """Fix a ticket, a debug note or a decision to a conversation."""
        return conversations.add_pin(self._deps, conversation, content, kind=kind)

    def unpin(self, pin: Pin | str) -> Pin:
        """Take a pin out of context."""
        return conversations.unpin(self._deps, pin.id if isinstance(pin, Pin) else pin)

    def pins(self, conversation: ConversationLike) -> list[Pin]:
        """Return the pins of a conversation, oldest first."""
        return conversations.pins(self._deps, conversation)

    def search_messages(
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
        limit: int = 10,
    ) -> list[MessageHit]:
        """
        Return the messages that answer *query*, best first, each with its reasons.

        Times in the question ("last Friday", "three sessions ago") are understood from *asked_at*
        and *asked_in*, the present conversation. *mode* is hybrid, fts or vector.
        """
        asked = recall.question(
            query,
            agent=agent,
            conversation=conversation,
            asked_in=asked_in,
            roles=roles,
            since=since,
            until=until,
            asked_at=asked_at,
            mode=mode,
            limit=limit,
        )
        return recall.search(self._deps, asked)

    def conversation_search(
        self,
        agent: AgentLike,
        query: str = "",
        *,
        roles: Texts | None = None,
        limit: int = 10,
        start_date: Moment = None,
        end_date: Moment = None,
        asked_at: Moment = None,
        asked_in: ConversationLike | None = None,
    ) -> Mapping[str, Any]:
        """Return the same in the shape of Letta's tool, without tools' words and own calls."""
        asked = recall.question(
            query,
            agent=agent,
            asked_in=asked_in,
            roles=roles,
            since=start_date,
            until=end_date,
            asked_at=asked_at,
            limit=limit,
        )
        return recall.conversation_search(self._deps, asked)

    def archival_insert(
        self,
        agent: AgentLike,
        content: str,
        *,
        tags: Texts = (),
        title: str = "",
        observed_at: Moment = None,
        token_limit: int = archival.TOKEN_LIMIT,
    ) -> Memory:
        """Keep a passage in an agent's archive: a memory of agent scope."""
        return archival.insert(
            self._deps,
            agent,
            content,
            tags=tags,
            title=title,
            observed_at=observed_at,
            token_limit=token_limit,
        )

    def archival_search(
        self,
        agent: AgentLike,
        query: str = "",
        *,
        tags: Texts = (),
        tag_match: str = "any",
        since: Moment = None,
        until: Moment = None,
        asked_at: Moment = None,
        limit: int = 10,
    ) -> list[Hit]:
        """Return the passages that answer *query*, best first; the newest where it is empty."""
        return archival.search(
            self._deps,
            agent,
            query,
            tags=tags,
            tag_match=tag_match,
            since=since,
            until=until,
            asked_at=asked_at,
            limit=limit,
        )


def _draft(item: object) -> conversations.Draft:
    if not isinstance(item, Mapping):
        raise InvalidInput("each message must be a dict of what `append_message` takes")
    given = known_names(item, _MESSAGE)
    return conversations.draft(given.pop("role", None), given.pop("content", ""), **given)
