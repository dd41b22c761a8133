"""Blocks: labelled text that is always in an agent's context."""

from collections.abc import Mapping
from types import EllipsisType
from typing import Any

from recollect.api.arguments import AgentLike, BlockLike, ConversationLike, Moment, Place
from recollect.api.verb_group import VerbGroup
from recollect.domain.agent import Agent
from recollect.domain.block import (
    DEFAULT_LIMIT,
    Block,
    BlockChange,
    BlockHit,
    BlockProposal,
    BlockVersion,
)
from recollect.wire.requests import blocks as requests


class Blocks(VerbGroup):
    """
    Edit blocks: labelled text that is always in an agent's context.

    A block is named by an agent and a label, plus the project or conversation it belongs to. With
    no agent, project or conversation, *label* is a `Block` or its id. Edits take
    `expected_version` (`BlockConflict` if someone else was faster), `by` (user, agent or system),
    `author` (the name of the agent that writes) and `reason`.

    An agent's edit of a block that is shown to others (of a project, or global) is a proposal. The
    result is the unchanged block with `proposal_id`; `proposals`, `accept` and `reject` are for the
    user. What an agent wrote into its own block is marked until the user confirms it.
    """

    def create(
        self,
        label: str,
        value: str = "",
        *,
        agent: AgentLike | None = None,
        scope: str | None = None,
        project: Place = None,
        conversation: ConversationLike | None = None,
        description: str = "",
        limit: int | None = DEFAULT_LIMIT,
        read_only: bool = False,
        hidden: bool = False,
        metadata: Mapping[str, Any] | None = None,
        by: str = "user",
    ) -> Block:
        """
        Create a block of an agent, a project, a conversation, or (scope global) a shared one.

        A block has one owner. If several are given, *scope* says which of them owns the block.
        """
        return self._send(requests.CreateBlockRequest, locals())

    def get(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> Block:
        """Return one block."""
        return self._send(requests.GetBlockRequest, locals())

    def set(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        value: str,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Replace the value of a block."""
        return self._send(requests.SetBlockRequest, locals())

    def append(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        text: str,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Append *text* to a block as new lines."""
        return self._send(requests.AppendBlockRequest, locals())

    def replace(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        old: str,
        new: str,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Replace *old*, which must occur exactly once, by *new*."""
        return self._send(requests.ReplaceInBlockRequest, locals())

    def insert(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        text: str,
        line: int = -1,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Insert *text* after *line* lines of a block: 0 is the beginning, -1 the end."""
        return self._send(requests.InsertInBlockRequest, locals())

    def update(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
        new_label: str | EllipsisType = ...,
        description: str | EllipsisType = ...,
        limit: int | EllipsisType | None = ...,
        read_only: bool | EllipsisType = ...,
        hidden: bool | EllipsisType = ...,
        metadata: Mapping[str, Any] | EllipsisType | None = ...,
    ) -> Block:
        """Change the given settings of a block; its value stays."""
        return self._send(requests.UpdateBlockRequest, locals())

    def history(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> list[BlockVersion]:
        """Return every version of a block, oldest first, with author, time and reason."""
        return self._send(requests.GetBlockHistoryRequest, locals())

    def diff(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        older: int,
        newer: int | None = None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> str:
        """Return a unified diff of two versions; *newer* defaults to the current one."""
        return self._send(requests.GetBlockDiffRequest, locals())

    def rollback(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        version: int,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        by: str = "user",
        author: str = "",
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Restore the value of an earlier version as a new version."""
        return self._send(requests.RollbackBlockRequest, locals())

    def confirm(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
        expected_version: int | None = None,
        reason: str = "",
    ) -> Block:
        """Confirm the text of a block that an agent wrote, so that it is no longer marked."""
        return self._send(requests.ConfirmBlockRequest, locals())

    def proposals(
        self,
        agent: AgentLike | None = None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> list[BlockProposal]:
        """Return the pending proposals for the blocks an agent sees; without an agent, all."""
        return self._send(requests.ListBlockProposalsRequest, locals())

    def proposal(self, proposal_id: str) -> BlockProposal:
        """Return one proposal, with its diff."""
        return self._send(requests.GetBlockProposalRequest, locals())

    def accept(
        self, proposal_id: str, *, value: str | None = None, reason: str = "", by: str = "user"
    ) -> BlockProposal:
        """
        Accept a proposal: its text becomes the text of the block.

        Raises `BlockConflict` with both texts if the block changed since; *value* is the text to
        write instead. With `by="agent"` the text stays marked as not confirmed by the user.
        """
        return self._send(requests.AcceptBlockProposalRequest, locals())

    def reject(self, proposal_id: str, reason: str = "") -> BlockProposal:
        """Reject a proposal; the block stays as it is."""
        return self._send(requests.RejectBlockProposalRequest, locals())

    def undo(self, proposal_id: str) -> BlockProposal:
        """Undo the decision about a proposal: the block gets its earlier text back."""
        return self._send(requests.UndoBlockProposalRequest, locals())

    def attach(self, agent: AgentLike, block: BlockLike) -> Block:
        """Attach a shared (global) block to an agent."""
        return self._send(requests.AttachBlockRequest, locals())

    def detach(self, agent: AgentLike, label: str) -> Block:
        """Detach a shared block from an agent; the block itself stays."""
        return self._send(requests.DetachBlockRequest, locals())

    def share(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> Block:
        """Make an agent's own block a shared (global) one; it stays attached to the agent."""
        return self._send(requests.ShareBlockRequest, locals())

    def agents(self, block: BlockLike) -> list[Agent]:
        """Return the agents that have a block attached: its owner and those it is shared with."""
        return self._send(requests.ListAgentsOfBlockRequest, locals())

    def delete(
        self,
        agent: AgentLike | None,
        label: BlockLike,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> Block:
        """Delete a block and its history, for every agent that has it."""
        return self._send(requests.DeleteBlockRequest, locals())

    def changes(
        self,
        agent: AgentLike | None,
        since: Moment,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> list[BlockChange]:
        """Return the changes since a moment to the blocks an agent sees, by any process."""
        return self._send(requests.ListBlockChangesRequest, locals())

    def fingerprint(
        self,
        agent: AgentLike | None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> str:
        """Return a text that changes whenever the blocks an agent sees change."""
        return self._send(requests.GetBlocksFingerprintRequest, locals())

    def search(
        self,
        query: str,
        *,
        agent: AgentLike,
        limit: int = 10,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> list[BlockHit]:
        """Return the blocks an agent sees that match *query*, best first."""
        return self._send(requests.SearchBlocksRequest, locals())

    def list(
        self,
        agent: AgentLike | None = None,
        *,
        project: Place = None,
        conversation: ConversationLike | None = None,
    ) -> list[Block]:
        """Return the blocks an agent sees, in prompt order; without an agent, every block."""
        return self._send(requests.ListBlocksRequest, locals())
