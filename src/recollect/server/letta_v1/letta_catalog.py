"""Routes that describe: the health of the server, an agent's window, the tags in use."""

from typing import Any

from pydantic import Field

from recollect import __version__
from recollect.domain.limits import MAX_LIMIT
from recollect.server.letta_v1.letta_agent_lookup import (
    all_agents,
    find_default_conversation,
    require_agent,
)
from recollect.server.letta_v1.letta_agent_metadata import tags_of
from recollect.server.letta_v1.letta_call import LettaCall, LettaRoute
from recollect.server.letta_v1.letta_message_json import flat_messages
from recollect.server.letta_v1.letta_paging import PageQuery, page_of


class TagQuery(PageQuery):
    """Which tags are listed."""

    order: Any = "asc"
    limit: int = Field(50, ge=1, le=MAX_LIMIT)
    query_text: str = ""
    name: str | None = None


def health(call: LettaCall) -> Any:
    """Return that the server answers, and its version."""
    return {"status": "ok", "version": __version__}


def list_tags(call: LettaCall) -> Any:
    """Return the tags of all agents, in order."""
    query = call.query_as(TagQuery)
    tags = sorted({tag for agent in all_agents(call.rec) for tag in tags_of(agent)})
    part = (query.query_text or "").casefold()
    tags = [tag for tag in tags if part in tag.casefold() and query.name in (None, tag)]
    return page_of(tags, query, lambda tag: tag)


def context_window(call: LettaCall) -> Any:
    """Return how many tokens each part of an agent's context window uses."""
    rec, agent = call.rec, require_agent(call)
    conversation = find_default_conversation(rec, agent)
    window = rec.agents.context_window(agent, conversation=conversation)
    in_context = (
        rec.conversations.messages_in_context(conversation) if conversation is not None else []
    )
    summaries = rec.conversations.summaries(conversation) if conversation is not None else []
    memory = "\n\n".join(f"<{block.label}>\n{block.value}" for block in rec.blocks.list(agent))
    return {
        "context_window_size_max": window.window_tokens,
        "context_window_size_current": window.used,
        "num_messages": len(in_context),
        "num_archival_memory": len(rec.archive.list(agent, limit=MAX_LIMIT)),
        "num_recall_memory": len(rec.conversations.all_messages(agent=agent, limit=10_000)),
        "num_tokens_system": window.system,
        "num_tokens_core_memory": window.blocks,
        "num_tokens_external_memory_summary": window.metadata,
        "num_tokens_summary_memory": window.summary,
        "num_tokens_functions_definitions": window.tools,
        "num_tokens_messages": window.messages,
        "system_prompt": agent.system_prompt,
        "core_memory": memory,
        "external_memory_summary": "",
        "summary_memory": summaries[-1].content if summaries else None,
        "functions_definitions": [],
        "messages": flat_messages(in_context),
    }


ROUTES = (
    LettaRoute("GET", "/health", health),
    LettaRoute("GET", "/tags", list_tags),
    LettaRoute("GET", "/agents/{agent_id}/context", context_window),
)
