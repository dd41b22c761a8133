"""Write new blocks and new versions of blocks, and describe a change for listeners."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from recollect.clock import Clock
from recollect.domain.agent import DEFAULT_BLOCKS, Agent, DefaultBlock
from recollect.domain.block import Block, BlockAuthor, BlockChange, BlockVersion
from recollect.domain.scope import Owner, Scope
from recollect.service.services import Services
from recollect.store.protocol import Tables

T = TypeVar("T")

EVERYBODY = Owner(Scope.GLOBAL, "")


def add_block(tables: Tables, block: Block, *, by: BlockAuthor, reason: str) -> None:
    """Store a new block with its first version."""
    tables.blocks.add(block)
    tables.blocks.add_version(_version(block, by, reason))


def save_version(tables: Tables, block: Block, *, by: BlockAuthor, reason: str) -> None:
    """Store the current state of a block, and add it to the history as a version."""
    tables.blocks.set(block)
    tables.blocks.add_version(_version(block, by, reason))


def change_of(block: Block, by: BlockAuthor) -> BlockChange:
    """Return the change event for the current state of a block."""
    return BlockChange(
        block_id=block.id,
        label=block.label,
        version=block.version,
        by=by,
        changed_at=block.updated_at,
    )


def write_and_notify(
    services: Services, write: Callable[[Tables], tuple[T, Sequence[Block]]], by: BlockAuthor
) -> T:
    """Run *write* in a transaction, then notify listeners of the changed blocks it returns."""
    result, changed = services.store.write(write)
    for block in changed:
        services.listeners.notify(change_of(block, by))
    return result


def default_block(default: DefaultBlock, owner: Owner, clock: Clock) -> Block:
    """Return a new empty default block."""
    now = clock.now()
    return Block(
        id=clock.new_id(),
        label=default.label,
        description=default.description,
        read_only=default.read_only,
        scope=owner.scope,
        owner_id=owner.id,
        created_at=now,
        updated_at=now,
    )


def give_default_blocks(tables: Tables, clock: Clock, agent: Agent) -> None:
    """Attach missing default blocks of agent and global scope; others are created when written."""
    has = {block.label for block in tables.blocks.attached_to(agent.id)}
    shared = {block.label: block for block in reversed(tables.blocks.of_owner(EVERYBODY))}
    for default in DEFAULT_BLOCKS:
        if default.label in has or default.scope not in (Scope.AGENT, Scope.GLOBAL):
            continue
        block = shared.get(default.label) if default.scope is Scope.GLOBAL else None
        if block is None:
            own = Owner(Scope.AGENT, agent.id)
            owner = EVERYBODY if default.scope is Scope.GLOBAL else own
            block = default_block(default, owner, clock)
            add_block(tables, block, by=BlockAuthor.SYSTEM, reason="made with the agent")
        tables.blocks.attach(agent.id, block)


def _version(block: Block, by: BlockAuthor, reason: str) -> BlockVersion:
    return BlockVersion(
        block_id=block.id,
        version=block.version,
        value=block.value,
        by=by,
        reason=reason,
        changed_at=block.updated_at,
        unconfirmed_author=block.unconfirmed_author,
    )
