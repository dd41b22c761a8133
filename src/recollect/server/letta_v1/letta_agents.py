"""Routes of agents: create, list, read, change, delete; their tags, window and reset."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent import Agent
from recollect.domain.agent_transfer import LETTA
from recollect.errors import AlreadyExists, NotFound, RecollectError
from recollect.server.letta_v1.letta_agent_json import llm_config, named_tool_json
from recollect.server.letta_v1.letta_agent_lookup import (
    RESETS,
    all_agents,
    default_conversation,
    default_tools,
    find_default_conversation,
    memory_tools,
    numbered_names,
    require_agent,
    reset_count,
    show_agent,
    show_agents,
)
from recollect.server.letta_v1.letta_agent_metadata import (
    record_of,
    shown_name,
    tags_of,
    tool_records,
    with_letta_metadata,
)
from recollect.server.letta_v1.letta_block_changes import (
    NewBlock,
    attach_shared,
    create_block,
    detach_shared,
)
from recollect.server.letta_v1.letta_call import LettaBody, LettaCall, LettaRoute, Texts
from recollect.server.letta_v1.letta_ids import letta_id, our_id
from recollect.server.letta_v1.letta_paging import PageQuery, page_of


class AgentPatch(LettaBody):
    """The fields of an agent that we model; the others are kept as they are."""

    name: str | None = None
    description: str | None = None
    system: str | None = None
    model: str | None = None
    metadata: dict[str, Any] | None = None
    block_ids: list[str] | None = None
    tool_ids: list[str] | None = None
    tools: list[str] | None = None


class NewAgent(AgentPatch):
    """A new agent."""

    memory_blocks: list[NewBlock] = Field(default_factory=list)
    include_base_tools: bool = True


class AgentQuery(PageQuery):
    """Which agents are listed."""

    name: str | None = None
    tags: Texts = ()
    match_all_tags: bool = False
    query_text: str | None = None
    order_by: str = "created_at"


class ResetBody(LettaBody):
    """How messages are reset."""

    add_default_initial_messages: bool = False


def create_agent(call: LettaCall) -> Any:
    """Create an agent with its blocks, or nothing at all."""
    body = call.body_as(NewAgent)
    tools = _chosen_tools(call.rec, body.tools, body.tool_ids)
    if body.include_base_tools:
        names = {tool["name"] for tool in tools}
        tools = [*(tool for tool in default_tools(call.rec) if tool["name"] not in names), *tools]
    agent = _create(call.rec, body, tools)
    try:
        for block in body.memory_blocks:
            create_block(call.rec, block, agent=agent)
        for block_id in body.block_ids or ():
            attach_shared(call.rec, agent, our_id("block", block_id))
    except RecollectError:
        call.rec.agents.delete(agent)
        raise
    return show_agent(call.rec, agent)


def list_agents(call: LettaCall) -> Any:
    """Return agents, filtered by name, tags or a part of the name."""
    query = call.query_as(AgentQuery)
    agents = [agent for agent in all_agents(call.rec) if _matches(agent, query)]
    if query.order_by == "updated_at":
        agents.sort(key=lambda agent: agent.updated_at)
    page = page_of(agents, query, lambda agent: letta_id("agent", agent.id))
    return show_agents(call.rec, page)


def retrieve_agent(call: LettaCall) -> Any:
    """Return one agent."""
    return show_agent(call.rec, require_agent(call))


def update_agent(call: LettaCall) -> Any:
    """Change what the body names."""
    agent, body = require_agent(call), call.body_as(AgentPatch)
    model = agent.model if body.model is None else body.model
    fields: dict[str, Any] = body.other_fields
    if body.model is not None or "llm_config" in fields or "context_window_limit" in fields:
        fields["llm_config"] = llm_config(model, {**record_of(agent), **fields})
    tools = None
    if body.tool_ids is not None or body.tools is not None:
        tools = _chosen_tools(call.rec, body.tools, body.tool_ids, tool_records(agent) or ())
    metadata = agent.metadata if body.metadata is None else body.metadata
    changes: dict[str, Any] = {
        "metadata": with_letta_metadata(agent, metadata, fields, model=model, tools=tools)
    }
    texts = {"name": body.name, "description": body.description, "system_prompt": body.system}
    changes |= {name: value for name, value in texts.items() if value is not None}
    if body.name == shown_name(agent):
        del changes["name"]
    agent = call.rec.agents.update(agent, model=model, **changes)
    if body.block_ids is not None:
        _set_blocks(call.rec, agent, [our_id("block", block_id) for block_id in body.block_ids])
    return show_agent(call.rec, agent)


def delete_agent(call: LettaCall) -> Any:
    """Delete an agent and what it owns."""
    agent = require_agent(call)
    call.rec.agents.delete(agent)
    return {"message": f"Agent {letta_id('agent', agent.id)} has been successfully deleted"}


def reset_messages(call: LettaCall) -> Any:
    """End the default conversation and begin another; the old messages can still be searched."""
    call.body_as(ResetBody)
    agent = require_agent(call)
    conversation = find_default_conversation(call.rec, agent)
    if conversation is not None:
        call.rec.conversations.end(conversation)
        letta_metadata = with_letta_metadata(agent, agent.metadata, {}, model=agent.model)[LETTA]
        letta_metadata[RESETS] = reset_count(agent) + 1
        metadata = {**agent.metadata, LETTA: letta_metadata}
        agent = call.rec.agents.update(agent, metadata=metadata)
        default_conversation(call.rec, agent)
    return show_agent(call.rec, agent)


def _create(rec: LocalRecollect, body: NewAgent, tools: Sequence[Mapping[str, Any]]) -> Agent:
    model = body.model or ""
    fields = body.other_fields
    if model or fields.get("llm_config"):
        fields["llm_config"] = llm_config(model, fields)
        config = fields["llm_config"]
        model = model or str(config["model"])
    letta_name = body.name or f"agent-{secrets.token_hex(4)}"
    for name in numbered_names(letta_name):
        names = None if name == letta_name else (name, letta_name)
        metadata = with_letta_metadata(
            None, body.metadata or {}, fields, model=model, tools=tools, names=names
        )
        try:
            return rec.agents.create(
                name,
                description=body.description or "",
                model=model,
                system_prompt=body.system or "",
                metadata=metadata,
                default_blocks=False,
            )
        except AlreadyExists:
            continue
    raise AssertionError("the numbers do not end")


def _chosen_tools(
    rec: LocalRecollect,
    names: Sequence[str] | None,
    tool_ids: Sequence[str] | None,
    current_tools: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return the tools that are named, by name or by id."""
    available = [*memory_tools(rec), *current_tools]
    by_id = {tool["id"]: dict(tool) for tool in available}
    by_name = {tool["name"]: dict(tool) for tool in available}
    tools = [by_name.get(name) or named_tool_json(name) for name in names or ()]
    for tool_id in tool_ids or ():
        if tool_id not in by_id:
            raise NotFound(
                f"there is no tool {tool_id!r}; GET /v1/tools/ lists those that an agent can have"
            )
        tools.append(by_id[tool_id])
    return tools


def _set_blocks(rec: LocalRecollect, agent: Agent, block_ids: Sequence[str]) -> None:
    attached_ids = {block.id for block in rec.blocks.list(agent)}
    for block_id in attached_ids - set(block_ids):
        detach_shared(rec, agent, block_id)
    for block_id in block_ids:
        if block_id not in attached_ids:
            attach_shared(rec, agent, block_id)


def _matches(agent: Agent, query: AgentQuery) -> bool:
    tags, query_tags = set(tags_of(agent)), set(query.tags)
    has_tags = (
        query_tags <= tags if query.match_all_tags else not query_tags or bool(query_tags & tags)
    )
    name = shown_name(agent)
    return (
        has_tags
        and query.name in (None, name)
        and (query.query_text or "").casefold() in name.casefold()
    )


ROUTES = (
    LettaRoute("POST", "/agents", create_agent),
    LettaRoute("GET", "/agents", list_agents),
    LettaRoute("GET", "/agents/{agent_id}", retrieve_agent),
    LettaRoute("PATCH", "/agents/{agent_id}", update_agent),
    LettaRoute("DELETE", "/agents/{agent_id}", delete_agent),
    LettaRoute("PATCH", "/agents/{agent_id}/reset-messages", reset_messages),
)
