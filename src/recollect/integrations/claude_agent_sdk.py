"""
A session store of the Claude Agent SDK, kept in Recollect.

    from recollect.integrations.claude_agent_sdk import RecollectSessionStore

    store = RecollectSessionStore("memory.db")
    options = ClaudeAgentOptions(session_store=store)

Every line of a transcript arrives as it is written, without hooks: a session is resumed from the
store on any machine that has it, its messages are searched, and `capture` learns from it. There is
no state in the process.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

from recollect.domain.capture_event import Event
from recollect.domain.conversation import Conversation, Message
from recollect.domain.document import Document
from recollect.domain.limits import MAX_LIMIT
from recollect.errors import NotFound, RevisionConflict
from recollect.integrations.memory_source import MemorySetting, open_async_memory
from recollect.text.message_text import parts_text

PAGE = 1_000  # messages read at once; among so many of the newest a repeated entry is recognised
MAX_ATTEMPTS = 100  # of a write that others were faster than: each time one of them was stored
NAMESPACE = "claude-agent-sdk"


class RecollectSessionStore(SessionStore):
    """
    The transcripts of sessions, each a conversation of *agent*.

    *memory* is an open store, the path of a file or the address of a server.
    """

    def __init__(self, memory: MemorySetting = None, *, agent: str = "claude-agent-sdk") -> None:
        self._rec = open_async_memory(memory)
        self._agent = agent

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Append transcript lines; a line whose uuid is stored already is left out."""
        if not entries:
            return
        for _ in range(MAX_ATTEMPTS):
            conversation = await self._rec.conversations.start(agent=self._agent, key=_key_of(key))
            if (
                conversation.ended_at is not None
            ):  # to learn from it; the session goes on all the same
                conversation = await self._rec.conversations.resume(conversation)
            latest = await self._rec.conversations.messages(
                conversation, newest_first=True, limit=PAGE
            )
            stored = {_uuid(message.payload) for message in latest} - {None}
            new = [entry for entry in entries if _uuid(entry) not in stored]
            try:
                await self._rec.conversations.append_many(
                    conversation,
                    [_message(entry) for entry in new],
                    expected_revision=conversation.revision,
                )
            except RevisionConflict:
                continue  # another process was faster; its lines may be the same
            if new and not key.get("subpath"):
                await self._fold(key, new)
            return
        raise _conflict(key)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return all lines of a transcript; None if it was never written."""
        conversation = await self._find(key)
        if conversation is None:
            return None
        messages: list[Message] = []
        while page := await self._rec.conversations.messages(
            conversation, start=messages[-1].position + 1 if messages else 0, limit=PAGE
        ):
            messages += page
        entries: list[SessionStoreEntry] = [
            message.payload for message in messages if message.payload is not None
        ]
        return entries or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project with the time of their last line."""
        return [
            {"session_id": document.key, "mtime": _milliseconds(document)}
            for document in await self._summaries(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the SDK's summaries of the sessions of a project."""
        return [
            {"session_id": document.key, "mtime": _milliseconds(document), "data": document.value}
            for document in await self._summaries(project_key)
        ]

    async def delete(self, key: SessionKey) -> None:
        """Delete a session with those of its subagents, or only one of these."""
        doomed = [conversation for conversation in [await self._find(key)] if conversation]
        if not key.get("subpath"):
            doomed += await self._below(key)
            await self._rec.documents.delete(self._namespace(key["project_key"]), key["session_id"])
        for conversation in doomed:
            await self._rec.conversations.delete(conversation)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths of a session that were written."""
        prefix = f"{_key_of(key)}/"
        return sorted(
            unquote(conversation.key[len(prefix) :]) for conversation in await self._below(key)
        )

    async def capture(self, key: SessionKey, *, project: str | None = None) -> Event:
        """Learn from a session: what it decided and said becomes candidates for the inbox."""
        entries = await self.load(key)
        if entries is None:
            raise NotFound(f"session {key['session_id']!r} of this project was never written")
        lines = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        return await self._rec.capture_session(
            lines, project=project, agent=self._agent, session=key["session_id"]
        )

    async def close(self) -> None:
        """Close the memory, unless it was given open."""
        await self._rec.close()

    async def _find(self, key: Mapping[str, Any]) -> Conversation | None:
        try:
            return await self._rec.conversations.find(_key_of(key), agent=self._agent)
        except NotFound:
            return None  # the agent is created with its first session

    async def _below(self, key: Mapping[str, Any]) -> list[Conversation]:
        conversations: list[Conversation] = []
        prefix = f"{_key_of(key)}/"
        try:
            while page := await self._rec.conversations.list(
                agent=self._agent, key_prefix=prefix, limit=MAX_LIMIT, offset=len(conversations)
            ):
                conversations += page
        except NotFound:
            return []  # as above
        return conversations

    async def _fold(self, key: SessionKey, entries: Sequence[SessionStoreEntry]) -> None:
        """Add lines to the SDK's summary of a session."""
        namespace, session_id = self._namespace(key["project_key"]), key["session_id"]
        for _ in range(MAX_ATTEMPTS):
            document = await self._rec.documents.get(namespace, session_id)
            former: SessionSummaryEntry | None = None
            if document is not None:
                former = {
                    "session_id": session_id,
                    "mtime": _milliseconds(document),
                    "data": document.value,
                }
            summary = fold_session_summary(former, key, list(entries))
            try:
                await self._rec.documents.put(
                    namespace,
                    session_id,
                    summary["data"],
                    text="",
                    exact=True,
                    expected_revision=document.revision if document else 0,
                )
            except RevisionConflict:
                continue
            return
        raise _conflict(key)

    async def _summaries(self, project_key: str) -> list[Document]:
        documents: list[Document] = []
        while page := await self._rec.documents.search(
            self._namespace(project_key), limit=MAX_LIMIT, offset=len(documents)
        ):
            documents += [hit.document for hit in page]
        return documents

    def _namespace(self, project_key: str) -> tuple[str, ...]:
        return (NAMESPACE, self._agent, project_key)


def _conflict(key: SessionKey) -> RevisionConflict:
    return RevisionConflict(f"session {key['session_id']} is being written by others; try again")


def _key_of(key: Mapping[str, Any]) -> str:
    """Return the key of the conversation of a session, or of one of its subagents."""
    parts = (key["project_key"], key["session_id"], key.get("subpath"))
    return "/".join(quote(part, safe="") for part in parts if part)


def _message(entry: Any) -> Mapping[str, Any]:
    """Return a transcript line as the arguments of `append`, with the line as payload."""
    message = entry.get("message")
    role = message.get("role") if isinstance(message, Mapping) else None
    content = message.get("content") if isinstance(message, Mapping) else ""
    text = content if isinstance(content, str) else ""
    if isinstance(content, list):
        text = parts_text(content)
    is_spoken = role in ("user", "assistant")
    return {
        "role": role if is_spoken else "system",
        "content": text if is_spoken else "",
        "payload": entry,
    }


def _uuid(entry: Any) -> str | None:
    uuid = entry.get("uuid") if isinstance(entry, Mapping) else None
    return uuid if isinstance(uuid, str) else None


def _milliseconds(document: Document) -> int:
    return int(document.updated_at.timestamp() * 1_000)
