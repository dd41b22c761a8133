"""
A memory service of Google's Agent Development Kit (ADK), kept in Recollect.

    from recollect.integrations.google_adk import RecollectMemoryService

    memory_service = RecollectMemoryService("memory.db")
    runner = Runner(agent=agent, memory_service=memory_service, …)

The events of a session become messages that are found at once, and candidates that a person
reviews. ADK's own tools `load_memory` and `preload_memory` search them. Each user of each
application is an agent of Recollect: nobody finds what another one said.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from google.adk.events.event import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from recollect.client.pending_exchanges import announce_adapter, note_stored
from recollect.client.run_blocking import run_blocking
from recollect.domain.conversation import MessageHit
from recollect.domain.retrieval import Hit
from recollect.errors import NotFound
from recollect.integrations.agent_memory import (
    append_new,
    capture_messages,
    found_text,
    insert_passages,
    resume_if_ended,
    search_agent,
)
from recollect.integrations.memory_source import MemorySetting, open_memory

NAMESPACE = "google-adk"
SEARCH_LIMIT = 10
WITHOUT_SESSION = "events without a session"
SCOPES = ("agent",)  # of the user; with a project also what it knows


class RecollectMemoryService(BaseMemoryService):
    """
    What the users of ADK applications said, and what was learnt from it.

    *memory* is an open store, the path of a file or the address of a server. With *learn* false
    sessions are only searched: no candidates are made from them. The memories of *project* are
    found by every user.
    """

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        project: str | None = None,
        learn: bool = True,
        limit: int = SEARCH_LIMIT,
    ) -> None:
        announce_adapter()
        self._rec, self._close = open_memory(memory)
        self._project = project
        self._learns = learn
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Store the events of a session that are not stored yet."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store events of a session; those that are stored, or were deleted, are left out."""
        drafts = [_draft(event) for event in events if _text(event.content)]
        if drafts:
            agent = agent_name(app_name, user_id)
            await run_blocking(self._append, agent, session_id or WITHOUT_SESSION, drafts)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store texts as memories of the user, written by an agent."""
        texts = [text for entry in memories if (text := _text(entry.content))]
        await run_blocking(insert_passages, self._rec, agent_name(app_name, user_id), texts)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the memories and messages of the user that answer *query*, memories first."""
        hits = await run_blocking(self._search, agent_name(app_name, user_id), query)
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete a memory or message of the user, by the id that a search returned."""
        if memory_id:
            await run_blocking(self._delete, agent_name(app_name, user_id), memory_id)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._close()

    def _append(self, agent: str, key: str, drafts: list[Mapping[str, Any]]) -> None:
        conversation = self._rec.conversations.start(agent=agent, project=self._project, key=key)
        conversation = resume_if_ended(self._rec, conversation)
        drafts = [draft for draft in drafts if not self._is_deleted(agent, draft["payload"]["id"])]
        new = append_new(self._rec, conversation, drafts, _event_id)
        note_stored(drafts)
        if new and self._learns:
            capture_messages(self._rec, conversation, new, agent=agent)

    def _search(self, agent: str, query: str) -> list[Hit | MessageHit]:
        scopes = (*SCOPES, "project") if self._project else SCOPES
        return search_agent(
            self._rec, query, agent=agent, project=self._project, scopes=scopes, limit=self._limit
        )

    def _delete(self, agent: str, entry_id: str) -> None:
        """Delete a message or memory, if it is the agent's; another one's is left alone."""
        try:
            owner_id = self._rec.agents.get(agent).id
            message = self._rec.conversations.get_message(entry_id)
        except NotFound:
            pass
        else:
            conversation = self._rec.conversations.get(message.conversation_id)
            if conversation.agent_id == owner_id:
                event_id = _event_id(message.payload)
                if event_id:  # the session may be added again
                    self._rec.documents.put(self._deleted_at(agent), event_id, {}, text="")
                self._rec.conversations.delete_message(message)
            return
        try:
            if self._rec.memories.get(entry_id).agent_id == self._rec.agents.get(agent).id:
                self._rec.forget(entry_id)
        except NotFound:
            return  # deleted before, or never there: as ADK's own services do

    def _is_deleted(self, agent: str, event_id: str) -> bool:
        return self._rec.documents.get(self._deleted_at(agent), event_id) is not None

    def _deleted_at(self, agent: str) -> tuple[str, ...]:
        return (NAMESPACE, agent, "deleted")


def agent_name(app_name: str, user_id: str) -> str:
    """Return the name of the agent that remembers for a user of an application."""
    return f"{quote(app_name, safe='')}/{quote(user_id, safe='')}"


def create_memory_service(uri: str, **_: Any) -> RecollectMemoryService:
    """
    Return the service of a URI: `recollect:///absolute/file.db` or `recollect://host:port`.

        get_service_registry().register_memory_service("recollect", create_memory_service)
    """
    parts = urlsplit(uri)
    return RecollectMemoryService(f"http://{parts.netloc}" if parts.netloc else unquote(parts.path))


def _draft(event: Event) -> Mapping[str, Any]:
    """Return an event as the arguments of `append`."""
    content = event.content.model_dump(mode="json", exclude_none=True)
    return {
        "role": "user" if event.author == "user" else "assistant",
        "content": _text(event.content),
        "name": (event.author or "")[:200],
        "created_at": datetime.fromtimestamp(event.timestamp, UTC),
        "payload": {"id": event.id, "author": event.author, "content": content},
    }


def _text(content: types.Content | None) -> str:
    """Return what was said: no thoughts, no calls of functions."""
    parts = content.parts or () if content else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _event_id(payload: Any) -> str | None:
    return payload.get("id") if isinstance(payload, Mapping) else None


def _entry(hit: Hit | MessageHit) -> MemoryEntry:
    """
    Return a hit as ADK shows it to the model.

    The text is what Recollect indexed, so secrets that an event contained are not shown.
    """
    memory = found_text(hit)
    return MemoryEntry(
        id=memory.id,
        content=types.Content(role="user", parts=[types.Part.from_text(text=memory.text)]),
        author=memory.author,
        timestamp=memory.at.isoformat(),
        custom_metadata={"score": hit.score, "explanation": hit.explanation},
    )
