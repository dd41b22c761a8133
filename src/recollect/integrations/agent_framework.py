"""
History and memory for agents of the Microsoft Agent Framework, kept in Recollect.

    from recollect.integrations.agent_framework import RecollectProvider

    provider = RecollectProvider("memory.db", agent="helper")
    agent = Agent(client, context_providers=[provider])

Before a run the history of the session is loaded, and what the agent remembers about the new
messages is added to the instructions; afterwards the new messages are stored.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import AgentSession, HistoryProvider, Message, SessionContext

from recollect.client.run_blocking import run_blocking
from recollect.domain.conversation import Message as StoredMessage
from recollect.integrations.agent_memory import BUDGET_TOKENS, AgentMemory
from recollect.integrations.memory_source import MemorySetting

SOURCE = "recollect"
_ROLES = ("system", "user", "assistant", "tool")


class RecollectProvider(HistoryProvider):
    """
    The history of sessions, each a conversation of *agent*, and what it remembers from all of them.

    *memory* is an open store, the path of a file or the address of a server. With *recall* false
    only the history is kept.
    """

    def __init__(
        self,
        memory: MemorySetting = None,
        *,
        agent: str = "agent-framework",
        project: str | None = None,
        recall: bool = True,
        budget_tokens: int = BUDGET_TOKENS,
        **options: Any,
    ) -> None:
        super().__init__(options.pop("source_id", SOURCE), **options)
        self._memory = AgentMemory(
            memory, agent=agent, project=project, budget_tokens=budget_tokens
        )
        self._recalls = recall

    async def before_run(
        self,
        *,
        agent: Any,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Load the history, and add what the agent remembers to the instructions."""
        await super().before_run(agent=agent, session=session, context=context, state=state)
        query = "\n".join(message.text for message in context.input_messages if message.text)
        if self._recalls and query.strip():
            visible_texts = [message.text for message in context.get_messages() if message.text]
            text = await run_blocking(self._memory.recall, query, visible_texts)
            if text:
                context.extend_instructions(self.source_id, text)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **options: Any
    ) -> list[Message]:
        """Return the messages of a session, oldest first."""
        if not session_id:
            return []
        stored = await run_blocking(self._memory.messages, session_id)
        return [_message(message) for message in stored]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        """Append messages to a session, all or none."""
        drafts = [_draft(message) for message in messages]
        await run_blocking(self._memory.append, session_id, drafts)

    def close(self) -> None:
        """Close the memory, unless the caller opened it."""
        self._memory.close()


def _draft(message: Message) -> Mapping[str, Any]:
    """Return a message as the arguments of `append`, with the whole message as payload."""
    role = str(message.role)
    return {
        "role": role if role in _ROLES else "system",
        "content": message.text,
        "name": (message.author_name or "")[:200],
        "payload": message.to_dict(),
    }


def _message(stored: StoredMessage) -> Message:
    if isinstance(stored.payload, dict):
        return Message.from_dict(stored.payload)
    return Message(stored.role.value, [stored.content])  # appended by something else
