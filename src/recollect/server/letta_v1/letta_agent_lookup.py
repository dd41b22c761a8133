"""Read what several routes show of an agent: its blocks, its tools, its default conversation."""

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA
from recollect.domain.conversation import Conversation
from recollect.errors import NotFound
from recollect.runtime.toolset import DEFAULT_TOOLS
from recollect.server.letta_v1.letta_agent_json import agent_state, memory_tool_json
from recollect.server.letta_v1.letta_agent_metadata import ARCHIVE
from recollect.server.letta_v1.letta_call import LettaCall

DEFAULT_KEY = "letta"  # of the default conversation of an agent; after a reset: letta-2, …
RESETS = "resets"


def require_agent(call: LettaCall) -> Agent:
    """Return the agent of the path."""
    return find_agent(call.rec, call.path_id("agent_id", "agent"))


def find_agent(rec: LocalRecollect, agent_id: str) -> Agent:
    """Return the agent with that id or name; what stands for an archive is not one."""
    agent = rec.agents.get(agent_id)
    if ARCHIVE in agent.metadata:
        raise NotFound(f"{agent_id!r} is the id of an archive, not of an agent")
    return agent


def all_agents(rec: LocalRecollect) -> list[Agent]:
    """Return all agents, oldest first."""
    agents = (agent for agent in rec.agents.list() if ARCHIVE not in agent.metadata)
    return sorted(agents, key=lambda agent: (agent.created_at, agent.id))


def numbered_names(name: str) -> Iterator[str]:
    """Yield *name* and then variants of it: Letta allows several agents of one name."""
    yield name
    for number in count(2):
        yield f"{name} ({number})"


def memory_tools(rec: LocalRecollect) -> list[dict[str, Any]]:
    """Return every memory tool that an agent can have."""
    schemas = rec.agents.tools("").schemas()
    return [memory_tool_json(schema["function"]) for schema in schemas]


def default_tools(rec: LocalRecollect) -> list[dict[str, Any]]:
    """Return the memory tools that an agent has if nobody chose its tools."""
    return [tool for tool in memory_tools(rec) if tool["name"] in DEFAULT_TOOLS]


def show_agent(rec: LocalRecollect, agent: Agent) -> dict[str, Any]:
    """Return an agent with the ids of the messages in its context."""
    conversation = find_default_conversation(rec, agent)
    in_context = (
        rec.conversations.messages_in_context(conversation) if conversation is not None else []
    )
    message_ids = [message.id for message in in_context]
    return agent_state(agent, rec.blocks.list(agent), default_tools(rec), message_ids)


def show_agents(rec: LocalRecollect, agents: Iterable[Agent]) -> list[dict[str, Any]]:
    """Return agents without their messages."""
    tools = default_tools(rec)
    return [agent_state(agent, rec.blocks.list(agent), tools) for agent in agents]


def find_default_conversation(rec: LocalRecollect, agent: Agent) -> Conversation | None:
    """
    Return the conversation in which an agent answers if none is named; None before the first.

    Of an agent from an agent file it is the conversation of the file, until it is reset.
    """
    resets = reset_count(agent)
    conversation = rec.conversations.find(default_key(resets), agent=agent)
    if conversation is None and resets == 0:
        conversations = rec.conversations.list(agent=agent, limit=1_000)
        return next(
            (
                conversation
                for conversation in conversations
                if conversation.metadata.get(LETTA) is True
            ),
            None,
        )
    return conversation


def default_conversation(rec: LocalRecollect, agent: Agent) -> Conversation:
    """Return the default conversation of an agent; start it, or reopen it if it has ended."""
    conversation = find_default_conversation(rec, agent)
    if conversation is None:
        return rec.conversations.start(agent=agent, key=default_key(reset_count(agent)))
    return (
        rec.conversations.resume(conversation)
        if conversation.ended_at is not None
        else conversation
    )


def reset_count(agent: Agent) -> int:
    """Return how often the messages of an agent were reset."""
    letta_metadata = agent.metadata.get(LETTA)
    count = letta_metadata.get(RESETS, 0) if isinstance(letta_metadata, dict) else 0
    return count if isinstance(count, int) else 0


def is_default_key(key: str) -> bool:
    """Return whether a key is that of a default conversation."""
    return key == DEFAULT_KEY or key.startswith(f"{DEFAULT_KEY}-")


def default_key(resets: int) -> str:
    """Return the key of the default conversation after so many resets."""
    return f"{DEFAULT_KEY}-{resets + 1}" if resets else DEFAULT_KEY
