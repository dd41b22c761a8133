"""
Delete an agent and everything it owns.

Its conversations, which may be large, are hidden and deleted in bounded steps first; the agent
itself is deleted at last. If that is interrupted, the agent is still there: delete it again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.domain.agent import AgentReceipt
from recollect.domain.scope import Owner, Scope
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.service.agents import require_agent
from recollect.service.delete_conversation import begin_deletion, delete_rows_in_steps
from recollect.service.erase_deleted import request_erasure
from recollect.service.forget import (
    delete_captures,
    drop_partitions,
    erase_and_list_copies,
    forget_memory,
)
from recollect.service.forget_traces import remove_conversation_traces
from recollect.service.services import Services
from recollect.store.bounded_steps import StepBudget, iterate_steps
from recollect.store.protocol import Tables
from recollect.wire.requests.agents import DeleteAgentRequest

ALL = 1_000_000


def delete_agent(services: Services, request: DeleteAgentRequest) -> AgentReceipt:
    """Delete an agent and everything it owns; the receipt says what was deleted and what stays."""
    with services.store.read() as tables:
        agent = require_agent(tables, request.agent)
        ids = [conversation.id for conversation in tables.conversations.latest(agent.id, limit=ALL)]
    removed, remaining = remove_conversation_traces(services, ids, agent_id=agent.id)
    for _ in _hide_in_steps(services, ids, removed):
        pass
    for _ in delete_rows_in_steps(services, ids, removed, remaining):
        pass
    services.store.write(lambda tables: _delete(tables, agent.id, services, removed, remaining))
    remaining += erase_and_list_copies(services)
    return AgentReceipt(
        agent_id=agent.id,
        name=agent.name,
        deleted_at=services.clock.now(),
        removed={name: count for name, count in sorted(removed.items()) if count},
        kept=tuple(dict.fromkeys(remaining)),
    )


def _hide_in_steps(services: Services, ids: Sequence[str], removed: Counter[str]) -> Iterator[None]:
    left = list(reversed(ids))

    def step(tables: Tables, budget: StepBudget) -> bool:
        while left and not budget.is_exhausted:
            if tables.conversations.get(left[-1]) is not None:  # nobody else deleted it meanwhile
                removed.update(begin_deletion(tables, left[-1], services).removed)
            left.pop()
            budget.spend()
        return bool(left)

    return iterate_steps(services.store, step)


def _delete(
    tables: Tables,
    agent_id: str,
    services: Services,
    removed: Counter[str],
    remaining: list[str],
) -> None:
    """Delete an agent, with the conversations that began since the others were deleted."""
    agent = require_agent(tables, agent_id)
    request_erasure(tables, services.clock)
    for memory_id in tables.agents.own_memory_ids(agent.id):
        receipt = forget_memory(tables, memory_id, services.clock)
        remaining += receipt.kept
        removed.update(receipt.removed)
    events = tables.agents.own_events(agent.id)
    remaining += delete_captures(tables, events, services.clock, removed)
    owners = [
        Owner(Scope.SESSION, conversation.id)
        for conversation in tables.conversations.latest(agent.id, limit=ALL)
    ]
    owners.append(Owner(Scope.AGENT, agent.id))
    own_blocks = [block for owner in owners for block in tables.blocks.of_owner(owner)]
    attached = tables.blocks.attached_to(agent.id)
    for block in {block.id: block for block in (*attached, *own_blocks)}.values():
        if block.scope in (Scope.AGENT, Scope.SESSION):
            tables.blocks.delete(block)
            removed["blocks"] += 1
        else:
            remaining.append(f"block {block.label!r} is shared and stays")
    for owner in owners:
        drop_partitions(tables, owner)
    removed.update(tables.agents.delete(agent.id))
    now = services.clock.now()
    tables.tombstones.add(Tombstone(kind=DeletedKind.AGENT, id=agent.id, deleted_at=now))
    tables.skills.drop_unused()
    tables.files.drop_unopened()
