"""What several adapters share: the conversations of an agent, and what it remembers."""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.api.recollect import Recollect
from recollect.client.pending_exchanges import announce_adapter, note_stored
from recollect.domain.conversation import Conversation, Message, MessageHit
from recollect.domain.document import Document
from recollect.domain.limits import MAX_LIMIT
from recollect.domain.retrieval import Hit
from recollect.errors import InvalidInput, NotFound, RevisionConflict
from recollect.integrations.memory_source import MemorySetting, open_memory
from recollect.lazy_dataclass import dataclass

BUDGET_TOKENS = 2_000
PAGE = 1_000  # messages read at once
MAX_ATTEMPTS = 100  # of an append that others were faster than: each time one of them was stored


class AgentMemory:
    """
    The conversations of *agent*, each by the framework's own key, and what it remembers from them.

    *memory* is an open store, the path of a file or the address of a server. It is opened on first
    use, in the thread that uses it, because frameworks create sessions on their event loop.
    """

    def __init__(
        self,
        memory: MemorySetting,
        *,
        agent: str,
        project: str | None = None,
        budget_tokens: int = BUDGET_TOKENS,
    ) -> None:
        announce_adapter()
        self._setting = memory
        self._lock = threading.Lock()
        self._opened: tuple[Recollect, Callable[[], None]] | None = None
        self.agent = agent
        self.project = project
        self.budget_tokens = budget_tokens

    @property
    def rec(self) -> Recollect:
        """The store."""
        with self._lock:
            if self._opened is None:
                self._opened = open_memory(self._setting)
            return self._opened[0]

    def close(self) -> None:
        """Close the store if it was opened here."""
        with self._lock:
            if self._opened is not None:
                self._opened[1]()

    def conversation(self, key: str | None) -> Conversation:
        """Return the conversation with this key; a new one is started."""
        return self.rec.conversations.start(agent=self.agent, project=self.project, key=key or "")

    def find(self, key: str) -> Conversation | None:
        """Return the conversation with this key if there is one."""
        try:
            return self.rec.conversations.find(key, agent=self.agent)
        except NotFound:
            return None  # the agent is created with its first message

    def messages(self, key: str) -> list[Message]:
        """Return all messages of a conversation, oldest first."""
        return all_messages(self.rec, self.conversation(key))

    def clear(self, key: str) -> None:
        """Delete the messages of a conversation; what was learnt from them stays."""
        self.rec.conversations.delete(self.conversation(key))

    def append(self, key: str | None, drafts: Sequence[Mapping[str, Any]]) -> None:
        """Append messages to a conversation, all or none; each a dict of `append`'s arguments."""
        if drafts:
            conversation = resume_if_ended(self.rec, self.conversation(key))
            self.rec.conversations.append_many(conversation, drafts)
            note_stored(drafts)

    def recall(
        self,
        query: str,
        visible_texts: Sequence[str] = (),
        budget_tokens: int | None = None,
        *,
        asked_in: str = "",
    ) -> str:
        """
        Return what the agent remembers about *query*, as text.

        The *visible_texts*, which the model sees anyway, are left out. *asked_in* is the key of the
        conversation in which it is asked.
        """
        if not query.strip():
            return ""
        try:
            bundle = self.rec.context_for(
                query,
                agent=self.agent,
                project=self.project,
                conversation=self.find(asked_in) if asked_in else None,
                history=False,
                visible_texts=visible_texts,
                budget_tokens=budget_tokens or self.budget_tokens,
            )
        except NotFound:
            return ""  # the agent is created with its first message
        return bundle.text


def check_session_id(session_id: str) -> str:
    """Return the id of a session, if a conversation can be found by it."""
    if not session_id:
        raise InvalidInput("the session id is empty; its conversation is found by it")
    return session_id


def resume_if_ended(rec: Recollect, conversation: Conversation) -> Conversation:
    """
    Return a conversation that takes messages: a framework goes on with a session as it likes.

    It may have been ended to learn from it, by the user or by the server.
    """
    return conversation if conversation.ended_at is None else rec.conversations.resume(conversation)


def all_messages(rec: Recollect, conversation: Conversation) -> list[Message]:
    """Return all messages of a conversation, oldest first."""
    messages: list[Message] = []
    while page := rec.conversations.messages(
        conversation, start=messages[-1].position + 1 if messages else 0, limit=PAGE
    ):
        messages += page
    return messages


def append_new(
    rec: Recollect,
    conversation: Conversation,
    drafts: Sequence[Mapping[str, Any]],
    id_of: Callable[[Any], str | None],
) -> list[Mapping[str, Any]]:
    """
    Append the messages that are not stored yet, all or none, and return them.

    *id_of* returns the framework's own id of a payload.
    """
    for _ in range(MAX_ATTEMPTS):
        stored = {id_of(message.payload) for message in all_messages(rec, conversation)}
        new = [draft for draft in drafts if id_of(draft["payload"]) not in stored]
        if not new:
            return []
        try:
            rec.conversations.append_many(
                conversation, new, expected_revision=conversation.revision
            )
        except RevisionConflict:
            conversation = rec.conversations.get(
                conversation
            )  # another writer's messages may be the same
            continue
        return new
    raise RevisionConflict(f"conversation {conversation.id} is being written by others; try again")


def search_agent(
    rec: Recollect,
    query: str,
    *,
    agent: str,
    project: str | None = None,
    scopes: Sequence[str] | None = None,
    limit: int,
) -> list[Hit | MessageHit]:
    """
    Return at most *limit* memories and messages of an agent that answer *query*, memories first.

    A message that says what a memory quotes is left out. An unknown agent has neither.
    """
    if not query.strip():
        return []
    try:
        memories = rec.search(query, agent=agent, project=project, scopes=scopes, limit=limit)
        messages = rec.conversations.search(query, agent=agent, limit=limit)
    except NotFound:
        return []  # the agent is created with its first message
    quoted = {hit.memory.content for hit in memories}
    quoted |= {evidence.quote for hit in memories for evidence in hit.memory.evidence}
    hits: list[Hit | MessageHit] = [*memories]
    hits += [hit for hit in messages if hit.message.content.strip() not in quoted]
    return hits[:limit]


@dataclass(frozen=True)
class FoundText:
    """What a search found, as every framework shows it. The text is redacted."""

    id: str
    text: str
    author: str
    at: datetime


def found_text(hit: Hit | MessageHit) -> FoundText:
    """Return the text of a memory or a message that a search found."""
    if isinstance(hit, MessageHit):
        message = hit.message
        author = message.name or message.role.value
        return FoundText(message.id, message.content, author, message.created_at)
    return FoundText(hit.memory.id, hit.memory.content, "memory", hit.memory.observed_at)


def insert_passages(rec: Recollect, agent: str, texts: Sequence[str]) -> None:
    """Store texts in the archive of an agent, as its own words; the agent is created if needed."""
    try:
        rec.agents.get(agent)
    except NotFound:
        rec.agents.create(agent)
    for text in texts:
        rec.archive.insert(agent, text, by="agent")


def capture_messages(
    rec: Recollect, conversation: Conversation, drafts: Sequence[Mapping[str, Any]], *, agent: str
) -> None:
    """Capture messages of a conversation, so that candidates for the agent are made from them."""
    spoken = [{"role": draft["role"], "content": draft["content"]} for draft in drafts]
    rec.capture_session(spoken, agent=agent, session=conversation.id, scope="agent")


def all_documents(rec: Recollect, namespace: Sequence[str]) -> list[Document]:
    """Return all documents of a namespace."""
    documents: list[Document] = []
    while page := rec.documents.search(namespace, limit=MAX_LIMIT, offset=len(documents)):
        documents += [hit.document for hit in page]
    return documents
