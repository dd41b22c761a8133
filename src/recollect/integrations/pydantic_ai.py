"""
Memory for agents of pydantic-ai, and a store for their conversations, kept in Recollect.

    from recollect.integrations.pydantic_ai import RecollectConversationStore, RecollectMemory

    agent = Agent("openai:gpt-5", capabilities=[RecollectMemory("memory.db", agent="helper")])
    store = RecollectConversationStore("memory.db")

The capability tells the model what the agent remembers about the prompt, and records what was said.
The store keeps the log of a conversation with its branches and forks.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResult

from recollect.client.run_blocking import run_blocking
from recollect.domain.document import Document
from recollect.errors import RevisionConflict
from recollect.integrations.agent_memory import BUDGET_TOKENS, AgentMemory, all_documents
from recollect.integrations.memory_source import MemorySetting, open_memory

NAMESPACE = "pydantic-ai"

_record = TypeAdapter(ConversationRecord)
_entry = TypeAdapter(ConversationEntry)


class RecollectMemory(AbstractCapability[Any]):
    """
    What one agent remembers, from all its conversations.

    *memory* is an open store, the path of a file or the address of a server. With *record* false
    nothing is stored: what the agent knows is only told.
    """

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        agent: str = "pydantic-ai",
        project: str | None = None,
        record: bool = True,
        budget_tokens: int = BUDGET_TOKENS,
    ) -> None:
        self.id = None
        self._memory = AgentMemory(
            memory, agent=agent, project=project, budget_tokens=budget_tokens
        )
        self._records = record

    def get_instructions(self) -> Any:
        """Return the function that adds what the agent remembers to the instructions."""

        async def remembered(ctx: RunContext[Any]) -> str:
            return await run_blocking(self.recall, _prompt_text(ctx.prompt))

        return remembered

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Record the messages of the run."""
        if self._records:
            await run_blocking(self._append, ctx.conversation_id or ctx.run_id, result)
        return result

    def recall(self, query: str) -> str:
        """Return what the agent remembers about *query*, as text."""
        return self._memory.recall(query)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._memory.close()

    def _append(self, key: str | None, result: AgentRunResult[Any]) -> None:
        messages = result.new_messages()
        payloads = ModelMessagesTypeAdapter.dump_python(messages, mode="json")
        self._memory.append(
            key,
            [
                {"role": _role(message), "content": _text(message), "payload": payload}
                for message, payload in zip(messages, payloads, strict=True)
            ],
        )


class RecollectConversationStore(ConversationStore):
    """
    Conversations with their branches and forks; each message is stored once.

    Messages are documents, so `rec.documents.search(("pydantic-ai", agent, "entries"), …)` finds
    them. A deleted conversation takes with it the messages that no other one shares.
    """

    def __init__(self, memory: MemorySetting = None, *, agent: str = "pydantic-ai") -> None:
        self._rec, self._close = open_memory(memory)
        self._records_at = (NAMESPACE, agent, "records")
        self._entries_at = (NAMESPACE, agent, "entries")

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation, or None."""
        document = await run_blocking(self._rec.documents.get, self._records_at, conversation_id)
        return None if document is None else _record.validate_python(document.value)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return the records, or those of a scope, the latest first."""
        documents = await run_blocking(all_documents, self._rec, self._records_at)
        records = [_record.validate_python(document.value) for document in documents]
        in_scope = [record for record in records if scope is None or record.scope == scope]
        return sorted(in_scope, key=lambda record: record.updated_at, reverse=True)[:limit]

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record and its new entries, if the stored one has the expected revision."""
        await run_blocking(self._write, record, list(new_entries), expected_revision)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete a conversation, and the entries that no other one has."""
        await run_blocking(self._delete, conversation_id, expected_revision)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return one entry."""
        return await run_blocking(self._entry, entry_id)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._close()

    def _write(
        self, record: ConversationRecord, entries: list[ConversationEntry], expected: str | None
    ) -> None:
        conflict = ConversationConflict(record.conversation_id)
        stored = self._rec.documents.get(self._records_at, record.conversation_id)
        if (stored.value["revision"] if stored else None) != expected:
            raise conflict
        if record.head_id not in {None, *(entry.id for entry in entries)}:
            head = self._rec.documents.get(self._entries_at, record.head_id)
            if head is None:
                raise conflict
        for entry in entries:
            value, text = _entry.dump_python(entry, mode="json"), _text(entry.message)
            self._rec.documents.put(self._entries_at, entry.id, value, text=text, exact=True)
        try:
            self._rec.documents.put(
                self._records_at,
                record.conversation_id,
                _record.dump_python(record, mode="json"),
                text="",
                exact=True,
                expected_revision=stored.revision if stored else 0,
            )
        except RevisionConflict:
            for entry in entries:
                self._rec.documents.delete(self._entries_at, entry.id)
            raise conflict from None

    def _delete(self, conversation_id: str, expected: str) -> None:
        conflict = ConversationConflict(conversation_id)
        stored = self._rec.documents.get(self._records_at, conversation_id)
        if stored is None or stored.value["revision"] != expected:
            raise conflict
        try:
            self._rec.documents.delete(
                self._records_at, conversation_id, expected_revision=stored.revision
            )
        except RevisionConflict:
            raise conflict from None
        shared: set[str] = set()
        for document in all_documents(self._rec, self._records_at):
            shared |= set(self._entry_ids(document, shared))
        for entry_id in list(self._entry_ids(stored, shared)):
            self._rec.documents.delete(self._entries_at, entry_id)

    def _entry(self, entry_id: str) -> ConversationEntry:
        document = self._rec.documents.get(self._entries_at, entry_id)
        if document is None:
            raise KeyError(entry_id)
        return _entry.validate_python(document.value)

    def _entry_ids(self, record: Document, without: set[str]) -> Iterator[str]:
        """Yield the entries of a conversation and of the branches it left, back to known ones."""
        seen = set(without)
        for tip in (record.value["head_id"], *record.value["branches"]):
            entry_id = tip
            while entry_id is not None and entry_id not in seen:
                seen.add(entry_id)
                document = self._rec.documents.get(self._entries_at, entry_id)
                if document is None:
                    break
                yield entry_id
                entry_id = document.value["parent_id"]


def _role(message: ModelMessage) -> str:
    if isinstance(message, ModelResponse):
        return "assistant"
    is_user = any(isinstance(part, UserPromptPart) for part in message.parts)
    return "user" if is_user else "tool"


def _text(message: ModelMessage) -> str:
    """Return what a message says: prompts and answers, no thinking and no tool calls."""
    texts = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            texts.append(_prompt_text(part.content))
        elif isinstance(part, TextPart):
            texts.append(part.content)
    return "\n".join(text for text in texts if text)


def _prompt_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in content or () if isinstance(part, str))
