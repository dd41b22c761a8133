"""
A memory store of Strands Agents, kept in Recollect.

    from recollect.integrations.strands import RecollectMemoryStore

    store = RecollectMemoryStore("memory.db", agent="helper")
    agent = Agent(model=model, memory_manager=MemoryManager(stores=[store]))

The manager searches the store before each call of the model and hands over what was said after it.
Messages are found at once, and candidates that a person reviews are made from them; no model is
needed for that.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from strands.memory.types import AddMessagesContext, MemoryEntry, MemoryStore, SearchOptions
from strands.types.content import Message

from recollect.client.pending_exchanges import announce_adapter, note_stored
from recollect.client.run_blocking import run_blocking
from recollect.domain.conversation import MessageHit
from recollect.domain.retrieval import Hit
from recollect.integrations.agent_memory import (
    capture_messages,
    found_text,
    insert_passages,
    resume_if_ended,
    search_agent,
)
from recollect.integrations.memory_source import MemorySetting, open_memory

SEARCH_RESULTS = 5
DESCRIPTION = "What was said in earlier conversations, and what was learnt from them."


class RecollectMemoryStore(MemoryStore):
    """
    What *agent* remembers from all its sessions.

    *memory* is an open store, the path of a file or the address of a server. *session* is the key
    of the conversation in which messages are stored, by default a new one for each store object.
    With *learn* false messages are only searched: no candidates are made from them. *extraction* is
    when the manager hands over messages: True is after each invocation, False never.
    """

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        agent: str = "strands",
        project: str | None = None,
        session: str | None = None,
        learn: bool = True,
        name: str = "recollect",
        description: str | None = DESCRIPTION,
        max_search_results: int | None = SEARCH_RESULTS,
        writable: bool = True,
        extraction: Any = True,
    ) -> None:
        if writable:
            announce_adapter()
        self._rec, self._close = open_memory(memory)
        self._agent = agent
        self._project = project
        self._session = session or str(uuid4())
        self._learns = learn
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        self.extraction = extraction if writable else False

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Return the memories and messages of the agent that answer *query*, memories first."""
        limit = (options or {}).get("max_search_results") or self.max_search_results
        hits = await run_blocking(self._search, query, limit or SEARCH_RESULTS)
        return [_entry(hit) for hit in hits]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> None:
        """Store a text in the agent's archive, as its own words."""
        await run_blocking(insert_passages, self._rec, self._agent, [content])

    async def add_messages(
        self, messages: list[Message], context: AddMessagesContext | None = None
    ) -> None:
        """Append messages to the session, all or none; a batch that failed can be sent again."""
        drafts = [_draft(message) for message in messages if _text(message)]
        if drafts:
            await run_blocking(self._append, drafts)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._close()

    def _search(self, query: str, limit: int) -> list[Hit | MessageHit]:
        return search_agent(self._rec, query, agent=self._agent, project=self._project, limit=limit)

    def _append(self, drafts: Sequence[Mapping[str, Any]]) -> None:
        conversation = self._rec.conversations.start(
            agent=self._agent, project=self._project, key=self._session
        )
        self._rec.conversations.append_many(resume_if_ended(self._rec, conversation), drafts)
        note_stored(drafts)
        if self._learns:
            capture_messages(self._rec, conversation, drafts, agent=self._agent)


def _draft(message: Message) -> Mapping[str, Any]:
    """Return a message as the arguments of `append`."""
    blocks = [block for block in message["content"] if _is_json(block)]
    payload = {"role": message["role"], "content": blocks}
    return {"role": message["role"], "content": _text(message), "payload": payload}


def _is_json(block: Any) -> bool:
    """Return whether a block can be stored: the bytes of an image or a file cannot."""
    try:
        json.dumps(block)
    except (TypeError, ValueError):
        return False
    return True


def _text(message: Message) -> str:
    """Return what was said: no calls of tools, and no results."""
    return "\n".join(text for block in message["content"] if (text := block.get("text")))


def _entry(hit: Hit | MessageHit) -> MemoryEntry:
    memory = found_text(hit)
    return MemoryEntry(
        content=memory.text,
        metadata={
            "id": memory.id,
            "author": memory.author,
            "at": memory.at.isoformat(),
            "score": hit.score,
            "explanation": hit.explanation,
        },
    )
