"""
Undo a run of sleeptime: blocks get their earlier text, proposals are withdrawn, memories archived.

What a person decided or changed since then stays, and the result says so.
"""

from dataclasses import replace

from recollect.domain import block as edits
from recollect.domain.block import BlockAuthor, BlockChange, BlockProposal, ProposalState
from recollect.domain.change import ChangeKind
from recollect.domain.memory import Memory, Status
from recollect.domain.sleeptime import SleeptimeEdit, SleeptimeRun, SleeptimeState
from recollect.engine.audited_writer import AuditedWriter
from recollect.errors import IllegalTransition
from recollect.service import block_writing as writing
from recollect.service.services import Services
from recollect.service.sleeptime import memories_of, require_run, with_details
from recollect.service.undo import undo_last_change
from recollect.service.write_memory import require_memory
from recollect.store.protocol import Tables
from recollect.wire.requests.sleeptime import UndoSleeptimeRequest

UNREVIEWED = (Status.INBOX, Status.STATED)


def undo_run(services: Services, request: UndoSleeptimeRequest) -> SleeptimeRun:
    """Take back what a run did, in one transaction."""
    changes: list[BlockChange] = []

    def write(tables: Tables) -> SleeptimeRun:
        changes.clear()
        run = require_run(tables, request.run_id)
        if run.state is not SleeptimeState.DONE:
            raise IllegalTransition(f"sleeptime run {run.id} is {run.state}, not done")
        remaining: list[str] = []
        for edit in reversed(tables.sleeptime_runs.edits(run.id)):
            if edit.proposal_id:
                remaining += _withdraw(tables, services, edit)
                continue
            change = _restore(tables, services, run, edit)
            changes.extend([change] if change else [])
            remaining += [] if change else [f"block {edit.label}: it changed since"]
        # A person who undoes a run decides on its memories.
        writer = AuditedWriter(tables, services.clock, BlockAuthor.USER)
        for memory in memories_of(tables, run):
            remaining += _archive(writer, require_memory(tables, memory.id), run)
        tables.sleeptime_runs.set(replace(run, state=SleeptimeState.UNDONE))
        undone = with_details(tables, require_run(tables, run.id))
        return replace(undone, remaining=tuple(remaining))

    undone = services.store.write(write)
    for change in changes:
        services.listeners.notify(change)
    return undone


def _restore(
    tables: Tables, services: Services, run: SleeptimeRun, edit: SleeptimeEdit
) -> BlockChange | None:
    """Give a block its earlier text back; return None if it changed since."""
    block = tables.blocks.get(edit.block_id)
    earlier = tables.blocks.version(edit.block_id, edit.version_before)
    if block is None or earlier is None or block.version != edit.version_after:
        return None
    restored = edits.edit_block(
        block,
        edits.replace_all(earlier.value),
        by=BlockAuthor.SYSTEM,
        at=services.clock.now(),
        unconfirmed_author=earlier.unconfirmed_author,
    )
    reason = f"undone: sleeptime {run.id}"
    writing.save_version(tables, restored, by=BlockAuthor.USER, reason=reason)
    return writing.change_of(restored, BlockAuthor.USER)


def _withdraw(tables: Tables, services: Services, edit: SleeptimeEdit) -> list[str]:
    """Withdraw a pending proposal; the one that it replaced is pending again."""
    proposal = tables.blocks.proposal(edit.proposal_id)
    if proposal is None:
        return []
    if proposal.state is ProposalState.ACCEPTED:
        return [f"block {edit.label}: you accepted its proposal {proposal.id}"]
    if proposal.state is not ProposalState.PENDING:
        return []
    now = services.clock.now()
    tables.blocks.set_proposal(replace(proposal, state=ProposalState.REPLACED, decided_at=now))
    earlier = tables.blocks.proposal(edit.replaced_proposal_id)
    if earlier is not None and _waits_again(earlier):
        pending = replace(earlier, state=ProposalState.PENDING, decided_at=None)
        tables.blocks.set_proposal(pending)
    return []


def _waits_again(proposal: BlockProposal) -> bool:
    return proposal.state is ProposalState.REPLACED


def _archive(writer: AuditedWriter, memory: Memory, run: SleeptimeRun) -> list[str]:
    """Archive a memory that a run learnt, and restore what it replaced."""
    changes = writer.tables.memories.changes(memory.id)
    if any(change.by == BlockAuthor.USER for change in changes):
        return [f"memory {memory.id}: you decided on it"]
    try:
        if memory.status not in UNREVIEWED:
            undo_last_change(writer, memory)
            memory = require_memory(writer.tables, memory.id)
        if memory.status in UNREVIEWED:
            reason = f"undone: sleeptime {run.id}"
            writer.change_status(memory, Status.ARCHIVED, ChangeKind.REJECTED, reason)
    except IllegalTransition as error:
        return [f"memory {memory.id}: {error}"]
    return []
