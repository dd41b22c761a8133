"""
A session of the OpenAI Agents SDK, kept in Recollect.

    from recollect.integrations.openai_agents import RecollectSession

    session = RecollectSession("thread-1", memory="memory.db", agent="helper")
    await Runner.run(agent, "Hello!", session=session)

Each item of the history is one message of a conversation: its text is searched like every other
message, and the item itself is the payload, returned exactly as the SDK gave it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from agents import SessionSettings, TResponseInputItem
from agents.memory import SessionABC
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
from agents.run_config import CallModelData, ModelInputData

from recollect.client.run_blocking import run_blocking
from recollect.domain.conversation import Message
from recollect.integrations.agent_memory import (
    BUDGET_TOKENS,
    PAGE,
    AgentMemory,
    check_session_id,
)
from recollect.integrations.memory_source import MemorySetting
from recollect.text.message_text import parts_text

T = TypeVar("T")
Args = TypeVarTuple("Args")


class RecollectSession(SessionABC):
    """
    The history of one session, in the conversation of an agent that has its id as key.

    *memory* is an open store, the path of a file or the address of a server. What the user says is
    found by `search` of conversations and by `recall`; `add_memory` puts what the agent remembers
    from all its sessions into each model call.
    """

    def __init__(
        self,
        session_id: str,
        *,
        memory: MemorySetting = None,
        agent: str = "openai-agents",
        project: str | None = None,
        budget_tokens: int = BUDGET_TOKENS,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = check_session_id(session_id)
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._memory = AgentMemory(
            memory, agent=agent, project=project, budget_tokens=budget_tokens
        )
        self._is_closed = False

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest *limit* items, or all, oldest first."""
        limit = resolve_session_limit(limit, self.session_settings)
        messages = await self._run(self._messages, limit)
        return [_item(message) for message in messages]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items to the history, all or none."""
        drafts = [_message(item) for item in items]
        await self._run(self._memory.append, self.session_id, drafts)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item out of the history and return it."""
        message = await self._run(self._pop)
        return None if message is None else _item(message)

    async def clear_session(self) -> None:
        """Delete the history; what was learnt from it stays."""
        await self._run(self._memory.clear, self.session_id)

    async def recall(self, query: str, *, visible_texts: Sequence[str] = ()) -> str:
        """
        Return what the agent remembers about *query*, from all its sessions, as text.

        The *visible_texts*, which the model sees anyway, are left out.
        """
        return await self._run(
            partial(self._memory.recall, query, visible_texts, asked_in=self.session_id)
        )

    async def add_memory(self, data: CallModelData[Any]) -> ModelInputData:
        """
        Put what the agent remembers about the last user message into the instructions.

            RunConfig(call_model_input_filter=session.add_memory)
        """
        call = data.model_data
        queries = [_text(item) for item in call.input if _field(item, "role") == "user"]
        visible_texts = [_text(item) for item in call.input]
        text = await self.recall(queries[-1], visible_texts=visible_texts) if queries else ""
        texts = [part for part in (call.instructions, text) if part]
        return ModelInputData(input=call.input, instructions="\n\n".join(texts) or None)

    async def close(self) -> None:
        """Close the store, unless it was given open."""
        self._is_closed = True
        await run_blocking(self._memory.close)

    def _messages(self, limit: int | None) -> list[Message]:
        if limit is None:
            return self._memory.messages(self.session_id)
        messages: list[Message] = []
        conversation = self._memory.conversation(self.session_id)
        while (missing := limit - len(messages)) > 0:
            page = self._memory.rec.conversations.messages(
                conversation,
                newest_first=True,
                before=messages[-1].position if messages else None,
                limit=min(PAGE, missing),
            )
            messages += page
            if len(page) < min(PAGE, missing):
                break
        return messages[::-1]

    def _pop(self) -> Message | None:
        return self._memory.rec.conversations.pop(self._memory.conversation(self.session_id))

    async def _run(self, work: Callable[[*Args], T], *args: *Args) -> T:
        if self._is_closed:
            raise RuntimeError(f"session {self.session_id!r} is closed; make another one")
        return await run_blocking(work, *args)


def _message(item: Any) -> Mapping[str, Any]:
    """Return an item as the arguments of `append`."""
    kind = _field(item, "type") or "message"
    role = _field(item, "role") or ("tool" if str(kind).endswith("_output") else "assistant")
    if role not in ("system", "developer", "user", "assistant", "tool"):
        role = "assistant"
    name = _field(item, "name") if kind == "function_call" else ""
    return {"role": role, "content": _text(item), "name": str(name or "")[:200], "payload": item}


def _text(item: Any) -> str:
    """Return the text of an item that is worth finding: what was said, and what tools returned."""
    content = _field(item, "content")
    if content is None:
        content = _field(item, "output")
    if isinstance(content, str):
        return content
    return parts_text(content) if isinstance(content, Sequence) else ""


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else None


def _item(message: Message) -> TResponseInputItem:
    if message.payload is not None:
        item: TResponseInputItem = message.payload
        return item
    # Appended by something else than a session: what the SDK accepts from anybody.
    return {"role": message.role.value, "content": message.content}  # type: ignore[misc]
