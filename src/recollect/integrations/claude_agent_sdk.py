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

from recollect.api.recollect import Recollect
from recollect.client.run_blocking import run_blocking
from recollect.domain.capture_event import Event
from recollect.domain.conversation import Conversation
from recollect.domain.document import Document
from recollect.domain.limits import MAX_LIMIT
from recollect.errors import NotFound, RevisionConflict
from recollect.integrations.agent_memory import (
    AgentMemory,
    all_documents,
    all_messages,
    resume_if_ended,
)
from recollect.integrations.memory_source import MemorySetting
from recollect.text.message_text import parts_text

PAGE = 1_000  # messages: among so many of the newest a repeated entry is recognised
MAX_ATTEMPTS = 100  # of a write that others were faster than: each time one of them was stored
NAMESPACE = "claude-agent-sdk"


class RecollectSessionStore(SessionStore):
    """
    The transcripts of sessions, each a conversation of *agent*.

    *memory* is an open store, the path of a file or the address of a server.
    """

    def __init__(self, memory: MemorySetting = None, *, agent: str = "claude-agent-sdk") -> None:
        self._memory = AgentMemory(memory, agent=agent)

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Append transcript lines; a line whose uuid is stored already is left out."""
        if entries:
            await run_blocking(self._append, key, entries)

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return all lines of a transcript; None if it was never written."""
        return await run_blocking(self._load, key)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project with the time of their last line."""
        summaries = await self.list_session_summaries(project_key)
        return [{"session_id": each["session_id"], "mtime": each["mtime"]} for each in summaries]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the SDK's summaries of the sessions of a project."""
        documents = await run_blocking(self._documents, project_key)
        return [_summary(document) for document in documents]

    async def delete(self, key: SessionKey) -> None:
        """Delete a session with those of its subagents, or only one of these."""
        await run_blocking(self._delete, key)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths of a session that were written."""
        prefix = f"{_key_of(key)}/"
        below = await run_blocking(self._below, key)
        return sorted(unquote(conversation.key[len(prefix) :]) for conversation in below)

    async def capture(self, key: SessionKey, *, project: str | None = None) -> Event:
        """Learn from a session: what it decided and said becomes candidates for the inbox."""
        return await run_blocking(self._capture, key, project)

    async def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        await run_blocking(self._memory.close)

    @property
    def _rec(self) -> Recollect:
        """The store, opened by the first use, in a thread."""
        return self._memory.rec

    @property
    def _agent(self) -> str:
        return self._memory.agent

    def _documents(self, project_key: str) -> list[Document]:
        return all_documents(self._rec, self._namespace(project_key))

    def _append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        for _ in range(MAX_ATTEMPTS):
            conversation = self._rec.conversations.start(agent=self._agent, key=_key_of(key))
            conversation = resume_if_ended(self._rec, conversation)
            latest = self._rec.conversations.messages(conversation, newest_first=True, limit=PAGE)
            stored = {_uuid(message.payload) for message in latest} - {None}
            new = [entry for entry in entries if _uuid(entry) not in stored]
            try:
                self._rec.conversations.append_many(
                    conversation,
                    [_message(entry) for entry in new],
                    expected_revision=conversation.revision,
                )
            except RevisionConflict:
                continue  # another process was faster; its lines may be the same
            if new and not key.get("subpath"):
                self._fold(key, new)
            return
        raise _conflict(key)

    def _load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        conversation = self._find(key)
        if conversation is None:
            return None
        payloads = [message.payload for message in all_messages(self._rec, conversation)]
        return [payload for payload in payloads if payload is not None] or None

    def _delete(self, key: SessionKey) -> None:
        deleted = [conversation for conversation in [self._find(key)] if conversation]
        if not key.get("subpath"):
            deleted += self._below(key)
            self._rec.documents.delete(self._namespace(key["project_key"]), key["session_id"])
        for conversation in deleted:
            self._rec.conversations.delete(conversation)

    def _capture(self, key: SessionKey, project: str | None) -> Event:
        entries = self._load(key)
        if entries is None:
            raise NotFound(f"session {key['session_id']!r} of this project was never written")
        lines = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        return self._rec.capture_session(
            lines, project=project, agent=self._agent, session=key["session_id"]
        )

    def _find(self, key: Mapping[str, Any]) -> Conversation | None:
        return self._memory.find(_key_of(key))

    def _below(self, key: Mapping[str, Any]) -> list[Conversation]:
        conversations: list[Conversation] = []
        prefix = f"{_key_of(key)}/"
        try:
            while page := self._rec.conversations.list(
                agent=self._agent, key_prefix=prefix, limit=MAX_LIMIT, offset=len(conversations)
            ):
                conversations += page
        except NotFound:
            return []  # there is no such agent yet
        return conversations

    def _fold(self, key: SessionKey, entries: Sequence[SessionStoreEntry]) -> None:
        """Add lines to the SDK's summary of a session."""
        namespace, session_id = self._namespace(key["project_key"]), key["session_id"]
        for _ in range(MAX_ATTEMPTS):
            document = self._rec.documents.get(namespace, session_id)
            summary_so_far = _summary(document) if document else None
            summary = fold_session_summary(summary_so_far, key, list(entries))
            try:
                self._rec.documents.put(
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


def _summary(document: Document) -> SessionSummaryEntry:
    milliseconds = int(document.updated_at.timestamp() * 1_000)
    return {"session_id": document.key, "mtime": milliseconds, "data": document.value}
