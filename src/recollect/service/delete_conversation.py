"""
Delete a conversation in bounded steps, so that other writers pass between them.

The first transaction hides the conversation: no verb finds it or its messages any more. Then its
memories, captures and messages are deleted, a bounded number in each transaction, and at last the
conversation itself. A deletion that is interrupted, or that takes longer than the caller should
wait, is finished by service/finish_work.py.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from recollect.clock import Clock
from recollect.domain.conversation import ConversationReceipt
from recollect.domain.scope import Owner, Scope
from recollect.domain.tombstone import DeletedKind, Tombstone
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.lazy_dataclass import dataclass
from recollect.service.block_lookup import require_conversation
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
from recollect.wire.requests.conversations import DeleteConversationRequest

MAX_RUNS = 1_000_000  # counted in a receipt
CALLER_WAITS_S = 5.0
MESSAGES_AT_ONCE, CHARS_AT_ONCE = 50, 200_000
ROWS_OF_A_MEMORY = 50  # about how many rows forgetting one changes


def delete_conversation(
    services: Services, request: DeleteConversationRequest
) -> ConversationReceipt:
    """
    Delete a conversation with its messages, summaries, pins, blocks and memories.

    The words of logged queries about it go too, and what was captured from it: of that, only what
    an active memory quotes stays.
    """
    traces, remaining = remove_conversation_traces(services, [request.conversation])
    receipt = services.store.write(
        lambda tables: begin_deletion(tables, request.conversation, services)
    )
    removed = Counter(receipt.removed)
    removed.update(traces)
    give_up_at = time.monotonic() + CALLER_WAITS_S
    steps = delete_rows_in_steps(services, [receipt.conversation_id], removed, remaining)
    if any(time.monotonic() > give_up_at for _ in steps):
        with services.store.read() as tables:
            left, _ = tables.messages.count(receipt.conversation_id)
        remaining.append(
            f"{left:,} messages are hidden and not deleted yet; a running server goes on with it, "
            "and so does `recollect work --once`"
        )
    remaining += erase_and_list_copies(services)
    return replace(
        receipt,
        removed={name: count for name, count in removed.items() if count},
        kept=tuple(dict.fromkeys(remaining)),
    )


def begin_deletion(tables: Tables, conversation_id: str, services: Services) -> ConversationReceipt:
    """
    Delete the blocks of a conversation, make it invisible and record that it is to be deleted.

    Return the counts of all that will be deleted.
    """
    conversation = require_conversation(tables, conversation_id)
    blocks = tables.blocks.of_owner(Owner(Scope.SESSION, conversation.id))
    removed = {
        "conversations": 1,
        "messages": tables.messages.count(conversation.id)[0],
        "summaries": len(tables.conversations.summaries(conversation.id)),
        "pins": len(tables.conversations.pins(conversation.id)),
        "runs": len(tables.runs.of_conversation(conversation.id, limit=MAX_RUNS)),
        "blocks": len(blocks),
    }
    for block in blocks:
        tables.blocks.delete(block)
    now = services.clock.now()
    tables.unfinished_work.add(
        UnfinishedWork(kind=WorkKind.DELETE_CONVERSATION, subject=conversation.id, started_at=now)
    )
    kind = DeletedKind.CONVERSATION
    tables.tombstones.add(
        Tombstone(kind=kind, id=conversation.id, deleted_at=now),
        *(Tombstone(kind=DeletedKind.BLOCK, id=block.id, deleted_at=now) for block in blocks),
    )
    tables.conversations.release_key(conversation.id)
    request_erasure(tables, services.clock)
    return ConversationReceipt(conversation_id=conversation.id, deleted_at=now, removed=removed)


def delete_rows_in_steps(
    services: Services,
    conversation_ids: Sequence[str],
    removed: Counter[str] | None = None,
    remaining: list[str] | None = None,
) -> Iterator[None]:
    """
    Delete the rows of hidden conversations, yielding between the transactions.

    What is deleted is added to *removed*, and a line for what has to stay to *remaining*.
    """
    removed = Counter() if removed is None else removed
    remaining = [] if remaining is None else remaining
    left = list(reversed(conversation_ids))

    def step(tables: Tables, budget: StepBudget) -> bool:
        while left and not budget.is_exhausted:
            batch = _delete_some_rows(tables, left[-1], services.clock, budget)
            removed.update(batch.removed)
            remaining.extend(batch.kept)
            if batch.is_last:
                left.pop()
        return bool(left)

    return iterate_steps(services.store, step)


@dataclass
class _DeletedRows:
    """What one transaction removed, and whether nothing is left."""

    removed: Counter[str] = field(default_factory=Counter)
    kept: list[str] = field(default_factory=list)
    is_last: bool = False


def _delete_some_rows(
    tables: Tables, conversation_id: str, clock: Clock, budget: StepBudget
) -> _DeletedRows:
    """Delete rows until the budget is used, or the conversation is gone."""
    batch = _DeletedRows()
    for memory_id in tables.conversations.own_memory_ids(conversation_id):
        receipt = forget_memory(tables, memory_id, clock)
        batch.removed.update(receipt.removed)
        batch.kept += receipt.kept
        budget.spend(rows=ROWS_OF_A_MEMORY)
        if budget.is_exhausted:
            return batch
    for event in tables.conversations.own_events(conversation_id):
        batch.kept += delete_captures(tables, [event], clock, batch.removed)
        budget.spend(rows=ROWS_OF_A_MEMORY)
        if budget.is_exhausted:
            return batch
    while True:
        rows, chars = tables.messages.delete_some(
            conversation_id, rows=MESSAGES_AT_ONCE, chars=CHARS_AT_ONCE
        )
        if not rows:
            break
        budget.spend(rows=rows, chars=chars)
        if budget.is_exhausted:
            return batch
    drop_partitions(tables, Owner(Scope.SESSION, conversation_id))
    tables.conversations.delete(conversation_id)
    tables.unfinished_work.remove(WorkKind.DELETE_CONVERSATION, conversation_id)
    batch.is_last = True
    return batch
