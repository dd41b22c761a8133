"""Routes of what agents run on: the configured models, and the tools that agents can have."""

from typing import Any

from recollect.errors import NotFound
from recollect.server.letta_v1.letta_agent_json import ENDPOINT_TYPES, WINDOW_TOKENS
from recollect.server.letta_v1.letta_agent_lookup import (
    default_tools,
    memory_tools,
    require_agent,
)
from recollect.server.letta_v1.letta_agent_metadata import tool_records
from recollect.server.letta_v1.letta_call import LettaCall, LettaRoute, Texts
from recollect.server.letta_v1.letta_paging import PageQuery, page_of
from recollect.text.model_windows import model_window


class ToolQuery(PageQuery):
    """Which tools are listed."""

    order: Any = "asc"
    name: str | None = None
    names: Texts = ()
    tool_ids: Texts = ()
    search: str = ""


def list_models(call: LettaCall) -> Any:
    """Return the chat model of this server, if one is configured."""
    backend, model = call.settings.chat_backend, call.settings.chat_model
    if backend == "none" or not model:
        return []
    window = model_window(model) or WINDOW_TOKENS
    provider = backend if backend in ENDPOINT_TYPES else "openai"
    return [
        {
            "model": model,
            "name": model,
            "display_name": model,
            "handle": f"{backend}/{model}",
            "model_type": "llm",
            "context_window": window,
            "max_context_window": window,
            "provider_type": provider,
            "provider_name": backend,
            "model_endpoint_type": provider,
        }
    ]


def list_embedding_models(call: LettaCall) -> Any:
    """Return the embedding model of this server, if it has one."""
    status = call.rec.engine.embedder_status()
    if status.backend == "none":
        return []
    provider = status.backend if status.backend in ("openai", "ollama") else "hugging-face"
    return [
        {
            "embedding_model": status.name,
            "name": status.name,
            "display_name": status.name,
            "handle": f"recollect/{status.name}",
            "model_type": "embedding",
            "embedding_dim": status.dimension or 0,
            "embedding_endpoint_type": provider,
            "provider_type": provider,
            "provider_name": "recollect",
        }
    ]


def list_tools(call: LettaCall) -> Any:
    """Return the memory tools that agents can have."""
    query = call.query_as(ToolQuery)
    names = {*query.names, *([query.name] if query.name else [])}
    tools = [
        tool
        for tool in memory_tools(call.rec)
        if (not names or tool["name"] in names)
        and (not query.tool_ids or tool["id"] in query.tool_ids)
        and query.search.casefold() in tool["name"]
    ]
    return page_of(tools, query, lambda tool: str(tool["id"]))


def retrieve_tool(call: LettaCall) -> Any:
    """Return one memory tool."""
    tools = {tool["id"]: tool for tool in memory_tools(call.rec)}
    if call.path["tool_id"] not in tools:
        raise NotFound(f"there is no tool {call.path['tool_id']!r}; GET /v1/tools/ lists them")
    return tools[call.path["tool_id"]]


def list_agent_tools(call: LettaCall) -> Any:
    """Return the tools of an agent."""
    query, chosen = call.query_as(ToolQuery), tool_records(require_agent(call))
    tools = default_tools(call.rec) if chosen is None else chosen
    return page_of(tools, query, lambda tool: str(tool["id"]))


ROUTES = (
    LettaRoute("GET", "/models", list_models),
    LettaRoute("GET", "/models/embedding", list_embedding_models),
    LettaRoute("GET", "/tools", list_tools),
    LettaRoute("GET", "/tools/{tool_id}", retrieve_tool),
    LettaRoute("GET", "/agents/{agent_id}/tools", list_agent_tools),
)
