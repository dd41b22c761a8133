"""
LangChain's chat history and retriever, kept in Recollect.

    from recollect.integrations.langchain import RecollectChatHistory, RecollectRetriever

    history = RecollectChatHistory("thread-1", memory="memory.db", agent="helper")
    retriever = RecollectRetriever(memory="memory.db", project="site")

Messages come back as they were added. The retriever returns memories with their quotes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, PrivateAttr

from recollect.api.recollect import Recollect
from recollect.client.run_blocking import run_blocking
from recollect.domain.conversation import Message
from recollect.domain.retrieval import Hit
from recollect.integrations.agent_memory import AgentMemory, check_session_id
from recollect.integrations.memory_source import MemorySetting, open_memory

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_TYPES = {role: kind for kind, role in _ROLES.items()}


class RecollectChatHistory(BaseChatMessageHistory):
    """
    The messages of one session, in the conversation of an agent that has its id as key.

    *memory* is an open store, the path of a file or the address of a server.
    """

    def __init__(
        self,
        session_id: str,
        *,
        memory: MemorySetting = None,
        agent: str = "langchain",
        project: str | None = None,
    ) -> None:
        self.session_id = check_session_id(session_id)
        self._memory = AgentMemory(memory, agent=agent, project=project)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All messages, oldest first."""
        stored = self._memory.messages(self.session_id)
        return messages_from_dict([_message_dict(message) for message in stored])

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, all or none."""
        self._memory.append(self.session_id, [_draft(message) for message in messages])

    def clear(self) -> None:
        """Delete the messages; what was learnt from them stays."""
        self._memory.clear(self.session_id)

    async def aget_messages(self) -> list[BaseMessage]:
        """Return all messages, oldest first."""
        return await run_blocking(lambda: self.messages)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, all or none."""
        await run_blocking(self.add_messages, messages)

    async def aclear(self) -> None:
        """Delete the messages."""
        await run_blocking(self.clear)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._memory.close()


class RecollectRetriever(BaseRetriever):
    """
    Memories that answer a query, as documents with quotes, source and score in their metadata.

    Without *below_threshold* a query that nothing answers gets no documents.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    project: str | None = None
    agent: str | None = None
    k: int = 4
    below_threshold: bool = False
    _rec: Recollect = PrivateAttr()
    _close: Any = PrivateAttr()

    def __init__(self, *, memory: MemorySetting = None, **fields: Any) -> None:
        super().__init__(**fields)
        self._rec, self._close = open_memory(memory)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._close()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[LangChainDocument]:
        hits = self._rec.search(
            query,
            project=self.project,
            agent=self.agent,
            limit=options.get("k", self.k),
            below_threshold=self.below_threshold,
        )
        return [_document(hit) for hit in hits]


def _draft(message: BaseMessage) -> Mapping[str, Any]:
    """Return a message as the arguments of `append`, with the whole message as payload."""
    return {
        "role": _ROLES.get(message.type, "system"),
        "content": str(message.text),
        "name": (message.name or "")[:200],
        "payload": message_to_dict(message),
    }


def _message_dict(message: Message) -> dict[str, Any]:
    if isinstance(message.payload, dict):
        return message.payload
    # Appended by something else than a history.
    kind = _TYPES.get(message.role.value, "system")
    fields = {"content": message.content}
    if kind == "tool":
        fields["tool_call_id"] = message.tool_call_id
    return {"type": kind, "data": fields}


def _document(hit: Hit) -> LangChainDocument:
    memory = hit.memory
    return LangChainDocument(
        id=memory.id,
        page_content=memory.content,
        metadata={
            "score": hit.score,
            "explanation": hit.explanation,
            "type": memory.type.value,
            "scope": memory.scope.value,
            "tags": list(memory.tags),
            "observed_at": memory.observed_at.isoformat(),
            "quotes": [evidence.quote for evidence in memory.evidence],
            "sources": [evidence.source_id for evidence in memory.evidence],
        },
    )
