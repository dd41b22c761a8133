"""Routes of blocks: those of an agent by label, and all blocks by id."""

from typing import Any

from recollect.domain.block import Block
from recollect.errors import InvalidInput, NotFound
from recollect.server.letta_v1.letta_agent_json import block_json, block_tags
from recollect.server.letta_v1.letta_agent_lookup import require_agent, show_agent, show_agents
from recollect.server.letta_v1.letta_block_changes import (
    BlockPatch,
    NewBlock,
    attach_shared,
    change_block,
    create_block,
    detach_shared,
)
from recollect.server.letta_v1.letta_call import LettaCall, LettaRoute, Texts
from recollect.server.letta_v1.letta_ids import letta_id
from recollect.server.letta_v1.letta_paging import PageQuery, page_of


class BlockQuery(PageQuery):
    """Which blocks are listed."""

    label: str | None = None
    label_search: str = ""
    value_search: str = ""
    description_search: str = ""
    tags: Texts = ()
    match_all_tags: bool = False
    templates_only: bool = False
    connected_to_agents_count_gt: int | None = None
    connected_to_agents_count_lt: int | None = None
    connected_to_agents_count_eq: Texts = ()


class AgentBlockQuery(PageQuery):
    """The blocks of an agent are listed in the order of its prompt."""

    order: Any = "asc"


def list_agent_blocks(call: LettaCall) -> Any:
    """Return the blocks of an agent."""
    query = call.query_as(AgentBlockQuery)
    return [block_json(block) for block in _page(call.rec.blocks.list(require_agent(call)), query)]


def retrieve_agent_block(call: LettaCall) -> Any:
    """Return the block of an agent with a label."""
    return block_json(_agent_block(call))


def update_agent_block(call: LettaCall) -> Any:
    """Change the block of an agent with a label."""
    block = _agent_block(call)
    return block_json(change_block(call.rec, block, call.body_as(BlockPatch)))


def attach_block(call: LettaCall) -> Any:
    """Attach a block to an agent."""
    agent = require_agent(call)
    attach_shared(call.rec, agent, call.path_id("block_id", "block"))
    return show_agent(call.rec, agent)


def detach_block(call: LettaCall) -> Any:
    """Detach a block from an agent."""
    agent = require_agent(call)
    detach_shared(call.rec, agent, call.path_id("block_id", "block"))
    return show_agent(call.rec, agent)


def create_shared_block(call: LettaCall) -> Any:
    """Create a block that no agent has yet."""
    return block_json(create_block(call.rec, call.body_as(NewBlock)))


def list_blocks(call: LettaCall) -> Any:
    """Return all blocks that match the query."""
    query = call.query_as(BlockQuery)
    blocks = [block for block in call.rec.blocks.list() if _matches(block, query)]
    if query.templates_only:
        blocks = []  # there are no templates here
    if _counts_agents(query):
        blocks = [block for block in blocks if _has_agents(call, block, query)]
    return [block_json(block) for block in _page(blocks, query)]


def retrieve_block(call: LettaCall) -> Any:
    """Return one block."""
    return block_json(_block(call))


def update_block(call: LettaCall) -> Any:
    """Change one block, for every agent that has it."""
    return block_json(change_block(call.rec, _block(call), call.body_as(BlockPatch)))


def delete_block(call: LettaCall) -> Any:
    """Delete one block, for every agent that has it."""
    call.rec.blocks.delete(None, _block(call))


def list_agents_of_block(call: LettaCall) -> Any:
    """Return the agents that have a block."""
    query = call.query_as(PageQuery)
    agents = sorted(call.rec.blocks.agents(_block(call)), key=lambda agent: agent.created_at)
    return show_agents(call.rec, page_of(agents, query, lambda agent: letta_id("agent", agent.id)))


def _agent_block(call: LettaCall) -> Block:
    agent, label = require_agent(call), call.path["block_label"]
    try:
        return call.rec.blocks.get(agent, label)
    except InvalidInput as error:  # no block can have such a label
        raise NotFound(f"agent {agent.name!r} has no block {label!r}: {error}") from None


def _block(call: LettaCall) -> Block:
    return call.rec.blocks.get(None, call.path_id("block_id", "block"))


def _page(blocks: list[Block], query: PageQuery) -> list[Block]:
    return page_of(blocks, query, lambda block: letta_id("block", block.id))


def _matches(block: Block, query: BlockQuery) -> bool:
    tags, query_tags = set(block_tags(block)), set(query.tags)
    has_tags = (
        query_tags <= tags if query.match_all_tags else not query_tags or bool(query_tags & tags)
    )
    return (
        has_tags
        and query.label in (None, block.label)
        and query.label_search.casefold() in block.label.casefold()
        and query.value_search.casefold() in block.value.casefold()
        and query.description_search.casefold() in block.description.casefold()
    )


def _counts_agents(query: BlockQuery) -> bool:
    bounds = (query.connected_to_agents_count_gt, query.connected_to_agents_count_lt)
    return bool(query.connected_to_agents_count_eq) or any(bound is not None for bound in bounds)


def _has_agents(call: LettaCall, block: Block, query: BlockQuery) -> bool:
    agents = len(call.rec.blocks.agents(block))
    more, less = query.connected_to_agents_count_gt, query.connected_to_agents_count_lt
    equal = query.connected_to_agents_count_eq
    return (
        (more is None or agents > more)
        and (less is None or agents < less)
        and (not equal or str(agents) in equal)
    )


_OF_AGENT = "/agents/{agent_id}/core-memory/blocks"
ROUTES = (
    LettaRoute("GET", _OF_AGENT, list_agent_blocks),
    LettaRoute("GET", f"{_OF_AGENT}/{{block_label}}", retrieve_agent_block),
    LettaRoute("PATCH", f"{_OF_AGENT}/{{block_label}}", update_agent_block),
    LettaRoute("PATCH", f"{_OF_AGENT}/attach/{{block_id}}", attach_block),
    LettaRoute("PATCH", f"{_OF_AGENT}/detach/{{block_id}}", detach_block),
    LettaRoute("POST", "/blocks", create_shared_block),
    LettaRoute("GET", "/blocks", list_blocks),
    LettaRoute("GET", "/blocks/{block_id}", retrieve_block),
    LettaRoute("PATCH", "/blocks/{block_id}", update_block),
    LettaRoute("DELETE", "/blocks/{block_id}", delete_block),
    LettaRoute("GET", "/blocks/{block_id}/agents", list_agents_of_block),
)
