"""Blocks, their attachments to agents, and the history of their values, in SQLite."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from recollect.domain.block import Block, BlockChange, BlockProposal, BlockVersion, ProposalState
from recollect.domain.scope import ItemKind, Owner
from recollect.store.sqlite import query_loader
from recollect.store.sqlite.table import SqliteIndexedTable, field_values, row_parser

_BLOCK = """
id label description value limit read_only hidden scope owner_id version metadata
unconfirmed_author created_at updated_at
"""
_PROPOSAL = """
id block_id label scope owner_id author base_version base_value current_value value reason state
decision accepted_version proposed_at decided_at
"""
_block = row_parser(Block, _BLOCK)
_version = row_parser(
    BlockVersion, "block_id version value by reason changed_at unconfirmed_author"
)
_proposal = row_parser(BlockProposal, _PROPOSAL)
_change = row_parser(BlockChange, "block_id label version by changed_at")


class SqliteBlockTable(SqliteIndexedTable):
    """See `recollect.store.protocol.BlockTable`."""

    _sql = query_loader.load("blocks")

    def add(self, block: Block) -> None:
        self._run("add_block", **_values(block))
        self._word_index.add(ItemKind.BLOCK, block.owner, block.id, indexed_text(block))

    def set(self, block: Block) -> None:
        former = self.get(block.id)
        self._run("set_block", **_values(block))
        if former is not None and indexed_text(former) != indexed_text(block):
            self._word_index.remove(block.id, indexed_text(former))
            self._word_index.add(ItemKind.BLOCK, block.owner, block.id, indexed_text(block))
        if former is not None and former.label != block.label:
            self._run("relabel", block_id=block.id, label=block.label)

    def get(self, block_id: str) -> Block | None:
        return self._first(_block, "block", id=block_id)

    def all(self) -> list[Block]:
        return self._all(_block, "all_blocks")

    def of_owner(self, owner: Owner) -> list[Block]:
        return self._all(_block, "blocks_of", scope=owner.scope, owner_id=owner.id)

    def attached_to(self, agent_id: str) -> list[Block]:
        return self._all(_block, "attached_to", agent_id=agent_id)

    def attach(self, agent_id: str, block: Block) -> None:
        self._run("attach", agent_id=agent_id, block_id=block.id, label=block.label)

    def detach(self, agent_id: str, block_id: str) -> None:
        self._run("detach", agent_id=agent_id, block_id=block_id)

    def agent_ids_of(self, block_id: str) -> list[str]:
        return self._column("agent_ids_of", block_id=block_id)

    def add_version(self, version: BlockVersion) -> None:
        self._run("add_version", **field_values(version), changed_by=version.by)

    def versions(self, block_id: str) -> list[BlockVersion]:
        return self._all(_version, "versions", block_id=block_id)

    def version(self, block_id: str, version: int) -> BlockVersion | None:
        return self._first(_version, "version", block_id=block_id, version=version)

    def changes_since(self, block_ids: Sequence[str], since: datetime) -> list[BlockChange]:
        return self._all(_change, "changes_since", ids=list(block_ids), since=since)

    def add_proposal(self, proposal: BlockProposal) -> None:
        self._run("add_proposal", **field_values(proposal))

    def set_proposal(self, proposal: BlockProposal) -> None:
        self._run("set_proposal", **field_values(proposal))

    def proposal(self, proposal_id: str) -> BlockProposal | None:
        return self._first(_proposal, "proposal", id=proposal_id)

    def proposals(self, state: ProposalState) -> list[BlockProposal]:
        return self._all(_proposal, "proposals", state=state)

    def pending_proposals_of(self, block_id: str) -> list[BlockProposal]:
        return self._all(_proposal, "pending_proposals_of", block_id=block_id)

    def delete(self, block: Block) -> None:
        self._word_index.remove(block.id, indexed_text(block))
        self._run("delete_block", id=block.id)


def indexed_text(block: Block) -> str:
    """Return the text of a block that is indexed."""
    return "\n".join(text for text in (block.label, block.description, block.value) if text)


def _values(block: Block) -> dict[str, Any]:
    return field_values(block) | {"char_limit": block.limit}
