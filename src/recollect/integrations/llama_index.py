"""
A memory block of LlamaIndex, kept in Recollect.

    from recollect.integrations.llama_index import RecollectMemoryBlock

    block = RecollectMemoryBlock("memory.db", agent="helper")
    memory = Memory.from_defaults(session_id="thread-1", memory_blocks=[block])

The block tells the model what the agent remembers about its last question, from all sessions. It is
given the messages that leave the short-term memory; `aput` stores others, such as those of a
session that ends.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from pydantic import PrivateAttr

from recollect.client.run_blocking import run_blocking
from recollect.integrations.agent_memory import BUDGET_TOKENS, AgentMemory
from recollect.integrations.memory_source import MemorySetting

SESSION = "session_id"  # where `Memory` writes the session of a message
MIN_BUDGET = 50  # tokens: less is not worth a block
MAX_QUERIES = 100  # whose texts can still be truncated
_ROLES = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
    MessageRole.DEVELOPER: "developer",
}


class RecollectMemoryBlock(BaseMemoryBlock[str]):
    """
    What *agent* remembers from all its sessions; each is a conversation.

    *memory* is an open store, the path of a file or the address of a server. The other options are
    the fields of a memory block: `name`, `priority`, ….
    """

    _memory: AgentMemory = PrivateAttr()
    # By the text of a block: its query and visible texts. A block may serve several sessions.
    _queries: dict[str, tuple[str, list[str]]] = PrivateAttr(default_factory=dict)

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        agent: str = "llama-index",
        project: str | None = None,
        budget_tokens: int = BUDGET_TOKENS,
        **fields: Any,
    ) -> None:
        super().__init__(**{"name": "recollect", **fields})
        self._memory = AgentMemory(
            memory, agent=agent, project=project, budget_tokens=budget_tokens
        )

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._memory.close()

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return what matters most within fewer tokens; None if too few are left."""
        entry = self._queries.get(content)
        if entry is None:
            return None
        query, visible_texts = entry
        tokens = await run_blocking(self._memory.rec.models.count_tokens, content)
        budget = tokens - tokens_to_truncate
        if budget < MIN_BUDGET:
            return None
        return await run_blocking(self._memory.recall, query, visible_texts, budget) or None

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        """Return what the agent remembers about the last message of the user."""
        messages = messages or []
        texts = [text for message in messages if (text := message.content)]
        questions = [message.content for message in messages if message.role is MessageRole.USER]
        query = (questions[-1] if questions else None) or ""
        text = await run_blocking(self._memory.recall, query, texts)
        self._queries.pop(text, None)
        self._queries[text] = (query, texts)
        for oldest in list(self._queries)[:-MAX_QUERIES]:
            self._queries.pop(oldest, None)
        return text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Append messages to the conversations of their sessions."""
        for key, drafts in _by_session(messages).items():
            await run_blocking(self._memory.append, key, drafts)


def _by_session(messages: Sequence[ChatMessage]) -> dict[str | None, list[Mapping[str, Any]]]:
    sessions: dict[str | None, list[Mapping[str, Any]]] = {}
    for message in messages:
        sessions.setdefault(message.additional_kwargs.get(SESSION), []).append(_draft(message))
    return sessions


def _draft(message: ChatMessage) -> Mapping[str, Any]:
    """Return a message as the arguments of `append`, with the whole message as payload."""
    return {
        "role": _ROLES.get(message.role, "system"),
        "content": message.content or "",
        "payload": message.model_dump(mode="json"),
    }
