"""
Propose edits of shared blocks, and decide about them.

An agent's edit of a block that is shown to others is not applied. It becomes a proposal, which a
person accepts or rejects. A proposal never changes: if its author edits the block again, a new
proposal with both edits replaces it, so that a person accepts exactly the text they saw.
"""

from collections.abc import Sequence
from dataclasses import replace

from recollect.clock import Clock
from recollect.domain import block as edits
from recollect.domain import limits
from recollect.domain.block import Block, BlockAuthor, BlockProposal, Edit, ProposalState
from recollect.errors import BlockConflict, IllegalTransition, InvalidInput, NotFound
from recollect.service import block_lookup as lookup
from recollect.service import block_writing as writing
from recollect.service import validate
from recollect.service.inbox import place_name
from recollect.service.services import Services
from recollect.store.protocol import Tables
from recollect.wire.requests import blocks as requests

MAX_PENDING = 20  # of one block: nobody reads more


def add_proposal(
    tables: Tables, clock: Clock, block: Block, edit: Edit, *, author: str, reason: str
) -> str:
    """Store an edit as a proposal; return its id, or '' if it would change nothing."""
    pending = tables.blocks.pending_proposals_of(block.id)
    own = edits.own_pending_proposal(pending, block, author)
    value = edits.proposed_text(block, edit, own)
    if own is not None and value == own.value:
        return own.id
    if own is not None:
        replaced = replace(own, state=ProposalState.REPLACED, decided_at=clock.now())
        tables.blocks.set_proposal(replaced)
    elif value != block.value and len(pending) >= MAX_PENDING:
        raise InvalidInput(
            f"{len(pending)} proposals for the block {block.label!r} wait for the user; ask the "
            "user to decide about them with `recollect inbox`"
        )
    if value == block.value:
        return ""  # it changes nothing, or its author took the proposal back
    proposal = BlockProposal(
        id=clock.new_id(),
        block_id=block.id,
        label=block.label,
        scope=block.scope,
        owner_id=block.owner_id,
        author=author,
        base_version=block.version,
        base_value=block.value,
        current_value=block.value,
        value=value,
        reason=reason,
        proposed_at=clock.now(),
    )
    tables.blocks.add_proposal(proposal)
    return proposal.id


def list_proposals(
    services: Services, request: requests.ListBlockProposalsRequest
) -> list[BlockProposal]:
    """Return the pending proposals for the blocks seen from a place; all if none is given."""
    with services.store.read() as tables:
        proposals = tables.blocks.proposals(ProposalState.PENDING)
        if not request.is_empty:
            visible = lookup.visible_blocks(tables, lookup.resolve_place(tables, request))
            block_ids = {block.id for block in visible}
            proposals = [proposal for proposal in proposals if proposal.block_id in block_ids]
        return [_add_details(tables, proposal) for proposal in proposals]


def get_proposal(services: Services, request: requests.GetBlockProposalRequest) -> BlockProposal:
    """Return one proposal."""
    with services.store.read() as tables:
        return _add_details(tables, _require_proposal(tables, request.proposal_id))


def accept_proposal(
    services: Services, request: requests.AcceptBlockProposalRequest
) -> BlockProposal:
    """Make the proposed text, or the text of the person who decides, the text of the block."""
    own_text = None if request.value is None else validate.plain_text_of("value", request.value)

    def write(tables: Tables) -> tuple[BlockProposal, Sequence[Block]]:
        proposal = _require_pending(tables, request.proposal_id)
        block = lookup.block_by_id(tables, proposal.block_id)
        if own_text is None:
            _refuse_outdated(proposal, block)
        text = proposal.value if own_text is None else own_text
        edited = edits.edit_block(
            block,
            edits.replace_all(text),
            by=BlockAuthor.AGENT,
            at=services.clock.now(),
            unconfirmed_author=_author_after(block, proposal, request, own_text),
        )
        is_changed = edited.value != block.value
        if is_changed:
            by = BlockAuthor.AGENT if own_text is None else request.by
            writing.save_version(tables, edited, by=by, reason=_history_reason(proposal, request))
        accepted = replace(
            proposal,
            state=ProposalState.ACCEPTED,
            decision=_validated_reason(request.reason),
            accepted_version=edited.version if is_changed else None,
            current_value=edited.value,
            decided_at=services.clock.now(),
        )
        tables.blocks.set_proposal(accepted)
        return _add_details(tables, accepted), (edited,) if is_changed else ()

    return writing.write_and_notify(services, write, BlockAuthor.AGENT)


def reject_proposal(
    services: Services, request: requests.RejectBlockProposalRequest
) -> BlockProposal:
    """Reject a proposal; the block stays as it is."""

    def write(tables: Tables) -> tuple[BlockProposal, Sequence[Block]]:
        rejected = replace(
            _require_pending(tables, request.proposal_id),
            state=ProposalState.REJECTED,
            decision=_validated_reason(request.reason),
            decided_at=services.clock.now(),
        )
        tables.blocks.set_proposal(rejected)
        return _add_details(tables, rejected), ()

    return writing.write_and_notify(services, write, BlockAuthor.USER)


def undo_proposal(services: Services, request: requests.UndoBlockProposalRequest) -> BlockProposal:
    """Undo a decision: the block gets its earlier text back, the proposal is pending again."""

    def write(tables: Tables) -> tuple[BlockProposal, Sequence[Block]]:
        proposal = _require_proposal(tables, request.proposal_id)
        if proposal.state not in (ProposalState.ACCEPTED, ProposalState.REJECTED):
            raise IllegalTransition(f"proposal {proposal.id} is {proposal.state}, not decided")
        restored: tuple[Block, ...] = ()
        if proposal.accepted_version is not None:
            restored = (_restore_earlier_text(tables, services.clock, proposal),)
        pending = replace(
            proposal,
            state=ProposalState.PENDING,
            decision="",
            accepted_version=None,
            decided_at=None,
        )
        tables.blocks.set_proposal(pending)
        return _add_details(tables, _require_proposal(tables, proposal.id)), restored

    return writing.write_and_notify(services, write, BlockAuthor.USER)


def _require_proposal(tables: Tables, proposal_id: str) -> BlockProposal:
    proposal = tables.blocks.proposal(proposal_id)
    if proposal is None:
        raise NotFound(
            f"there is no proposal {proposal_id!r} in this store; `recollect inbox` shows them"
        )
    return proposal


def _require_pending(tables: Tables, proposal_id: str) -> BlockProposal:
    proposal = _require_proposal(tables, proposal_id)
    if proposal.state is ProposalState.REPLACED:
        raise IllegalTransition(
            f"proposal {proposal.id} was replaced by a later one of the same agent; look at "
            "`recollect inbox` again"
        )
    if proposal.state is not ProposalState.PENDING:
        raise IllegalTransition(f"proposal {proposal.id} is {proposal.state} already")
    return proposal


def _refuse_outdated(proposal: BlockProposal, block: Block) -> None:
    if not proposal.is_outdated or proposal.value == block.value:
        return
    raise BlockConflict(
        f"the block {block.label!r} changed after agent {proposal.author} proposed an edit; "
        f"nothing was written.\nCurrent text: {lookup.excerpt(block.value)}\n"
        f"Proposed text: {lookup.excerpt(proposal.value)}\n"
        "Accept it with the text that you want instead, or reject it",
        yours=proposal.value,
        theirs=block.value,
        version=block.version,
    )


def _author_after(
    block: Block,
    proposal: BlockProposal,
    request: requests.AcceptBlockProposalRequest,
    own_text: str | None,
) -> str:
    """Return the unconfirmed author of the block once the proposal is accepted."""
    if request.by is not BlockAuthor.USER:
        return proposal.author
    return block.unconfirmed_author if own_text is None else ""


def _history_reason(proposal: BlockProposal, request: requests.AcceptBlockProposalRequest) -> str:
    by_whom = ", accepted by the user" if request.by is BlockAuthor.USER else ""
    head = f"proposed by agent {proposal.author}{by_whom}"
    parts = (head, proposal.reason, _validated_reason(request.reason))
    return "; ".join(part for part in parts if part)


def _validated_reason(reason: str) -> str:
    return validate.plain_text_of("reason", reason, limits.MAX_SUMMARY)


def _restore_earlier_text(tables: Tables, clock: Clock, proposal: BlockProposal) -> Block:
    block = lookup.block_by_id(tables, proposal.block_id)
    accepted = tables.blocks.version(block.id, proposal.accepted_version or 0)
    earlier = tables.blocks.version(block.id, (proposal.accepted_version or 0) - 1)
    if accepted is None or earlier is None or accepted.value != block.value:
        raise BlockConflict(
            f"the block {block.label!r} changed after the proposal was accepted; nothing was "
            "written. `recollect block rollback` restores an earlier version",
            yours="" if earlier is None else earlier.value,
            theirs=block.value,
            version=block.version,
        )
    restored = edits.edit_block(
        block,
        edits.replace_all(earlier.value),
        by=BlockAuthor.USER,
        at=clock.now(),
        unconfirmed_author=earlier.unconfirmed_author,
    )
    reason = f"undone: proposal {proposal.id}"
    writing.save_version(tables, restored, by=BlockAuthor.USER, reason=reason)
    return restored


def _add_details(tables: Tables, proposal: BlockProposal) -> BlockProposal:
    """Return *proposal* with the name of its place and the diff that a person decides about."""
    diff = edits.text_diff(
        proposal.base_value,
        proposal.value,
        from_name=f"{proposal.label} version {proposal.base_version}",
        to_name=f"{proposal.label} as agent {proposal.author} proposes",
    )
    owner = lookup.block_by_id(tables, proposal.block_id).owner
    return replace(proposal, place=place_name(tables, owner), diff=diff)
