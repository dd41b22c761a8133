"""Blocks, their attachments to agents, and the history of their values."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.domain.block import Block, BlockChange, BlockProposal, BlockVersion, ProposalState
from recollect.domain.scope import ItemKind, Owner
from recollect.store.database_connection import record_shape
from recollect.store.repositories.repository import IndexedRepository, field_values

_BLOCK = """
id label description value limit read_only hidden scope owner_id version metadata
unconfirmed_author created_at updated_at
"""
_PROPOSAL = """
id block_id label scope owner_id author base_version base_value current_value value reason state
decision accepted_version proposed_at decided_at
"""
_block = record_shape(Block, _BLOCK)
_version = record_shape(
    BlockVersion, "block_id version value by reason changed_at unconfirmed_author"
)
_proposal = record_shape(BlockProposal, _PROPOSAL)
_change = record_shape(BlockChange, "block_id label version by changed_at")


class BlockRepository(IndexedRepository):
    """Blocks, their attachments to agents, and the history of their values."""

    _statements = "blocks"

    def add(self, block: Block) -> None:
        """Store a new block and index its words."""
        self._run("add_block", **_values(block))
        self._index.add(ItemKind.BLOCK, block.owner, block.id, indexed_text(block))

    def set(self, block: Block) -> None:
        """Store the current fields of a block, and index it again if its text changed."""
        old = self.get(block.id)
        self._run("set_block", **_values(block))
        if old is not None and _index_entry(old) != _index_entry(block):
            self._index.remove(block.id, indexed_text(old))
            self._index.add(ItemKind.BLOCK, block.owner, block.id, indexed_text(block))
        if old is not None and old.label != block.label:
            self._run("relabel", block_id=block.id, label=block.label)

    def get(self, block_id: str) -> Block | None:
        """Return the block with that id, or None."""
        return self._first(_block, "block", id=block_id)

    def all(self) -> list[Block]:
        """Return every block, oldest first."""
        return self._all(_block, "all_blocks")

    def of_owner(self, owner: Owner) -> list[Block]:
        """Return the blocks of an owner, oldest first."""
        return self._all(_block, "blocks_of", scope=owner.scope, owner_id=owner.id)

    def attached_to(self, agent_id: str) -> list[Block]:
        """Return the blocks of an agent, in its order."""
        return self._all(_block, "attached_to", agent_id=agent_id)

    def attach(self, agent_id: str, block: Block) -> None:
        """Attach a block to an agent."""
        self._run("attach", agent_id=agent_id, block_id=block.id, label=block.label)

    def detach(self, agent_id: str, block_id: str) -> None:
        """Detach a block from an agent; the block stays."""
        self._run("detach", agent_id=agent_id, block_id=block_id)

    def agent_ids_of(self, block_id: str) -> list[str]:
        """Return the ids of the agents that have a block attached."""
        return self._column("agent_ids_of", block_id=block_id)

    def add_version(self, version: BlockVersion) -> None:
        """Store one version of a block's value."""
        self._run("add_version", **field_values(version), changed_by=version.by)

    def versions(self, block_id: str) -> list[BlockVersion]:
        """Return every version of a block, oldest first."""
        return self._all(_version, "versions", block_id=block_id)

    def version(self, block_id: str, version: int) -> BlockVersion | None:
        """Return one version of a block, or None."""
        return self._first(_version, "version", block_id=block_id, version=version)

    def changes_since(self, block_ids: Sequence[str], since: datetime) -> list[BlockChange]:
        """Return the changes of some blocks after a moment, oldest first."""
        return self._all(_change, "changes_since", ids=list(block_ids), since=since)

    def add_proposal(self, proposal: BlockProposal) -> None:
        """Store a proposal to edit a block."""
        self._run("add_proposal", **field_values(proposal))

    def set_proposal(self, proposal: BlockProposal) -> None:
        """Store what became of a proposal."""
        self._run("set_proposal", **field_values(proposal))

    def proposal(self, proposal_id: str) -> BlockProposal | None:
        """Return the proposal with that id, or None."""
        return self._first(_proposal, "proposal", id=proposal_id)

    def proposals(self, state: ProposalState) -> list[BlockProposal]:
        """Return the proposals of one state, oldest first."""
        return self._all(_proposal, "proposals", state=state)

    def count_proposals(self, state: ProposalState) -> int:
        """Return how many proposals have one state."""
        return int(self._value("count_proposals", state=state))

    def pending_proposals_of(self, block_id: str) -> list[BlockProposal]:
        """Return the pending proposals to edit one block, oldest first."""
        return self._all(_proposal, "pending_proposals_of", block_id=block_id)

    def delete(self, block: Block) -> None:
        """Delete a block with its history, attachments and index entry."""
        self._index.remove(block.id, indexed_text(block))
        self._run("delete_block", id=block.id)


def indexed_text(block: Block) -> str:
    """Return the text of a block that is indexed."""
    return "\n".join(text for text in (block.label, block.description, block.value) if text)


def _index_entry(block: Block) -> tuple[Owner, str]:
    return block.owner, indexed_text(block)


def _values(block: Block) -> dict[str, Any]:
    return field_values(block) | {"char_limit": block.limit}
