"""
A session of the OpenAI Agents SDK, kept in Recollect.

    from recollect.integrations.openai_agents import RecollectSession

    session = RecollectSession("thread-1", memory="memory.db", agent="helper")
    await Runner.run(agent, "Hello!", session=session)

Each item of the history is one message of a conversation: its text is searched like every other
message, and the item itself is the payload, returned exactly as the SDK gave it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agents import SessionSettings, TResponseInputItem
from agents.memory import SessionABC
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit
from agents.run_config import CallModelData, ModelInputData

from recollect.client.held_exchanges import announce_adapter, note_stored
from recollect.domain.conversation import Conversation, Message
from recollect.errors import InvalidInput, NotFound
from recollect.integrations.memory_source import MemorySetting, open_async_memory
from recollect.text.message_text import parts_text

PAGE = 10_000  # messages read at once
BUDGET_TOKENS = 2_000


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
        if not session_id:
            raise InvalidInput("the session id is empty; its conversation is found by it")
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        announce_adapter()
        self._rec = open_async_memory(memory)
        self._agent = agent
        self._project = project
        self._budget_tokens = budget_tokens
        self._is_closed = False

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest *limit* items, or all, oldest first."""
        limit = resolve_session_limit(limit, self.session_settings)
        messages: list[Message] = []
        conversation = await self._conversation()
        before: int | None = None
        while limit is None or len(messages) < limit:
            size = PAGE if limit is None else min(PAGE, limit - len(messages))
            if size <= 0:
                break
            page = await self._rec.conversations.messages(
                conversation, newest_first=True, before=before, limit=size
            )
            messages += page
            if len(page) < size:
                break
            before = page[-1].position
        return [_item(message) for message in reversed(messages)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items to the history, all or none."""
        conversation = await self._conversation()
        if items:
            if (
                conversation.ended_at is not None
            ):  # to learn from it; the session goes on all the same
                conversation = await self._rec.conversations.resume(conversation)
            drafts = [_message(item) for item in items]
            await self._rec.conversations.append_many(conversation, drafts)
            note_stored(drafts)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item out of the history and return it."""
        message = await self._rec.conversations.pop(await self._conversation())
        return None if message is None else _item(message)

    async def clear_session(self) -> None:
        """Delete the history; what was learnt from it stays."""
        await self._rec.conversations.delete(await self._conversation())

    async def recall(self, query: str, *, visible_texts: Sequence[str] = ()) -> str:
        """
        Return what the agent remembers about *query*, from all its sessions, as text.

        The *visible_texts*, which the model sees anyway, are left out.
        """
        self._check_open()
        try:
            bundle = await self._rec.context_for(
                query,
                agent=self._agent,
                project=self._project,
                conversation=await self._rec.conversations.find(self.session_id, agent=self._agent),
                history=False,
                visible_texts=visible_texts,
                budget_tokens=self._budget_tokens,
            )
        except NotFound:
            return ""  # the agent is created with its first item
        return bundle.text

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
        await self._rec.close()

    async def _conversation(self) -> Conversation:
        self._check_open()
        return await self._rec.conversations.start(
            agent=self._agent, project=self._project, key=self.session_id
        )

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"session {self.session_id!r} is closed; make another one")


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
