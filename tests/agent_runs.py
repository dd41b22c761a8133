"""A store with an agent whose model is scripted, and what its runs leave behind."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect import LocalRecollect, Message
from recollect.clock import Clock
from recollect.config import Settings
from recollect.context.tool_call_groups import tool_calls_of
from recollect.domain.conversation import Role
from recollect.models.chat_turn import Turn
from recollect.models.scripted_turns import ScriptedTurnModel


@contextmanager
def agent_store(
    path: Path,
    *turns: Turn | str | Exception,
    clock: Clock | None = None,
    tools: Sequence[Callable[..., Any]] = (),
    runtime: dict[str, Any] | None = None,
    **settings: Any,
) -> Iterator[tuple[LocalRecollect, ScriptedTurnModel]]:
    """Open a store with the agent `ada`, and with a model that answers with *turns*."""
    model = ScriptedTurnModel(turns)
    rec = LocalRecollect(
        Settings(db=str(path), embedding_backend="none", **settings),
        clock=clock,
        chat=model,
    )
    with rec:
        if not rec.agents.list():
            metadata = {"runtime": runtime} if runtime else None
            rec.agents.create("ada", system_prompt="You are Ada.", metadata=metadata)
        for tool in tools:
            rec.agents.add_tool(tool)
        yield rec, model


def log_of(rec: LocalRecollect, conversation: str) -> list[tuple[str, str]]:
    """Return the messages of a conversation: role and text, or the names of the called tools."""
    return [
        (message.role.value, message.content or ",".join(c.name for c in tool_calls_of(message)))
        for message in rec.conversations.messages(conversation)
    ]


def unanswered_calls(messages: Sequence[Message]) -> list[str]:
    """Return the ids of the calls that have no answer, or more than one."""
    made = [call.id for message in messages for call in tool_calls_of(message)]
    answers = [message.tool_call_id for message in messages if message.role is Role.TOOL]
    return [call_id for call_id in made if answers.count(call_id) != 1]
