"""Create, change, share and detach blocks in the way of Letta, where any block can be shared."""

from typing import Any

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.server.letta_v1.letta_agent_json import block_metadata
from recollect.server.letta_v1.letta_call import LettaBody

BLOCK_LIMIT = 100_000  # characters, if a client gives none: as in Letta


class BlockPatch(LettaBody):
    """The fields of a block that can be changed."""

    label: str | None = None
    value: str | None = None
    description: str | None = None
    limit: int | None = None
    read_only: bool | None = None
    hidden: bool | None = None
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None


class NewBlock(BlockPatch):
    """A new block."""

    label: str
    value: str = ""


def create_block(rec: LocalRecollect, new: NewBlock, *, agent: Agent | None = None) -> Block:
    """Create a block of *agent*, which the agent may edit, or one that agents can share."""
    return rec.blocks.create(
        new.label,
        new.value,
        agent=agent,
        scope="global" if agent is None else "agent",
        description=new.description or "",
        limit=new.limit or BLOCK_LIMIT,
        read_only=bool(new.read_only),
        hidden=bool(new.hidden),
        metadata=block_metadata({}, new.metadata, new.tags),
    )


def change_block(rec: LocalRecollect, block: Block, change: BlockPatch) -> Block:
    """Change the fields that are given. The value is written before a lower limit is set."""
    limit = block.limit if change.limit is None else change.limit
    value = block.value if change.value is None else change.value
    if limit is not None and len(value) > limit:
        raise InvalidInput(
            f"the value of block {block.label!r} has {len(value):,} characters and the limit is "
            f"{limit:,}; shorten the value or raise the limit"
        )
    if block.limit is None or len(value) <= block.limit:
        return _set_fields(rec, _set_value(rec, block, change), change)
    return _set_value(rec, _set_fields(rec, block, change), change)


def attach_shared(rec: LocalRecollect, agent: Agent, block_id: str) -> Block:
    """Attach a block to an agent; another agent's own block becomes a shared one."""
    block = rec.blocks.get(None, block_id)
    if block.scope is Scope.AGENT:
        if block.owner_id == agent.id:
            return block
        block = rec.blocks.share(None, block)
    return rec.blocks.attach(agent, block)


def detach_shared(rec: LocalRecollect, agent: Agent, block_id: str) -> Block:
    """Detach a block from an agent; the block stays in the store, as in Letta."""
    block = rec.blocks.get(None, block_id)
    if all(other.id != agent.id for other in rec.blocks.agents(block)):
        raise InvalidInput(f"block {block.label!r} is not attached to agent {agent.name!r}")
    if block.scope is Scope.AGENT:
        block = rec.blocks.share(None, block)
    return rec.blocks.detach(agent, block.label)


def _set_value(rec: LocalRecollect, block: Block, change: BlockPatch) -> Block:
    if change.value is None or change.value == block.value:
        return block
    # Read-only is a rule for agents; a client of Letta may write such a block.
    by = "system" if block.read_only else "user"
    return rec.blocks.set(None, block, change.value, by=by)


def _set_fields(rec: LocalRecollect, block: Block, change: BlockPatch) -> Block:
    values = {
        "new_label": change.label,
        "description": change.description,
        "limit": change.limit,
        "read_only": change.read_only,
        "hidden": change.hidden,
    }
    fields: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    if change.metadata is not None or change.tags is not None:
        fields["metadata"] = block_metadata(block.metadata, change.metadata, change.tags)
    return rec.blocks.update(None, block, **fields) if fields else block
