"""Requests for blocks: labelled text that is always in an agent's context."""

from typing import Annotated

from recollect.domain import block as domain
from recollect.domain.agent import Agent
from recollect.wire import fields
from recollect.wire.request import VerbRequest
from recollect.wire.requests.shared import BlockEditFields, BlockFields, BlockPlaceFields

BlockLimit = Annotated[int, fields.whole_number(1, 1_000_000)]


class CreateBlockRequest(BlockPlaceFields, VerbRequest[domain.Block], route="POST /blocks"):
    """Create a block."""

    label: fields.Text
    value: fields.Text = ""
    scope: fields.ScopeName | None = None
    description: fields.Text = ""
    limit: BlockLimit | None = domain.DEFAULT_LIMIT
    read_only: fields.Flag = False
    hidden: fields.Flag = False
    metadata: fields.Json = None
    by: fields.Writer = domain.BlockAuthor.USER


class GetBlockRequest(BlockFields, VerbRequest[domain.Block], route="GET /blocks/{label}"):
    """Return one block."""


class SetBlockRequest(BlockEditFields, VerbRequest[domain.Block], route="PUT /blocks/{label}"):
    """Replace the value of a block."""

    value: fields.Text


class AppendBlockRequest(
    BlockEditFields, VerbRequest[domain.Block], route="POST /blocks/{label}/append"
):
    """Append lines to a block."""

    text: fields.Text


class ReplaceInBlockRequest(
    BlockEditFields, VerbRequest[domain.Block], route="POST /blocks/{label}/replace"
):
    """Replace a text that occurs once in a block."""

    old: fields.Text
    new: fields.Text


class InsertInBlockRequest(
    BlockEditFields, VerbRequest[domain.Block], route="POST /blocks/{label}/insert"
):
    """Insert lines into a block."""

    text: fields.Text
    line: fields.WholeNumber = -1


class UpdateBlockRequest(BlockEditFields, VerbRequest[domain.Block], route="PATCH /blocks/{label}"):
    """Change the settings of a block; fields that are not set stay as they are."""

    new_label: fields.Text = ""
    description: fields.Text = ""
    limit: BlockLimit | None = None
    read_only: fields.Flag = False
    hidden: fields.Flag = False
    metadata: fields.Json = None


class GetBlockHistoryRequest(
    BlockFields, VerbRequest[list[domain.BlockVersion]], route="GET /blocks/{label}/history"
):
    """Return every version of a block, oldest first."""


class GetBlockDiffRequest(BlockFields, VerbRequest[str], route="GET /blocks/{label}/diff"):
    """Return a unified diff of two versions of a block."""

    older: fields.Version
    newer: fields.Version | None = None


class RollbackBlockRequest(
    BlockEditFields, VerbRequest[domain.Block], route="POST /blocks/{label}/rollback"
):
    """Restore an earlier value of a block as a new version."""

    version: fields.Version


class AttachBlockRequest(VerbRequest[domain.Block], route="POST /agents/{agent}/blocks"):
    """Attach a shared block to an agent."""

    agent: fields.Id
    block: fields.Id


class DetachBlockRequest(VerbRequest[domain.Block], route="DELETE /agents/{agent}/blocks/{label}"):
    """Detach a shared block from an agent."""

    agent: fields.Id
    label: fields.Text


class ShareBlockRequest(BlockFields, VerbRequest[domain.Block], route="POST /blocks/{label}/share"):
    """Make an agent's own block a shared one; it stays attached."""


class ListAgentsOfBlockRequest(VerbRequest[list[Agent]], route="GET /blocks/{block}/agents"):
    """Return the agents that have a block attached."""

    block: fields.Id


class DeleteBlockRequest(BlockFields, VerbRequest[domain.Block], route="DELETE /blocks/{label}"):
    """Delete a block and its history."""


class ConfirmBlockRequest(
    BlockFields, VerbRequest[domain.Block], route="POST /blocks/{label}/confirm"
):
    """Confirm the text of a block that an agent wrote."""

    expected_version: fields.Version | None = None
    reason: fields.Summary = ""


class ListBlockProposalsRequest(
    BlockPlaceFields, VerbRequest[list[domain.BlockProposal]], route="GET /block-proposals"
):
    """Return the edits of shared blocks that agents proposed and nobody decided yet."""


class GetBlockProposalRequest(
    VerbRequest[domain.BlockProposal], route="GET /block-proposals/{proposal_id}"
):
    """Return one proposal."""

    proposal_id: fields.Id


class AcceptBlockProposalRequest(
    VerbRequest[domain.BlockProposal], route="POST /block-proposals/{proposal_id}/accept"
):
    """Accept a proposal, or write another text in its place."""

    proposal_id: fields.Id
    value: fields.Text | None = None
    reason: fields.Summary = ""
    by: fields.Writer = domain.BlockAuthor.USER


class RejectBlockProposalRequest(
    VerbRequest[domain.BlockProposal], route="POST /block-proposals/{proposal_id}/reject"
):
    """Reject a proposal."""

    proposal_id: fields.Id
    reason: fields.Summary = ""


class UndoBlockProposalRequest(
    VerbRequest[domain.BlockProposal], route="POST /block-proposals/{proposal_id}/undo"
):
    """Undo the decision about a proposal."""

    proposal_id: fields.Id


class ListBlockChangesRequest(
    BlockPlaceFields, VerbRequest[list[domain.BlockChange]], route="GET /block-changes"
):
    """Return the changes made to an agent's blocks since a moment."""

    since: fields.Moment


class GetBlocksFingerprintRequest(BlockPlaceFields, VerbRequest[str], route="GET /blocks-mark"):
    """Return a text that changes whenever the blocks an agent sees change."""


class SearchBlocksRequest(
    BlockPlaceFields, VerbRequest[list[domain.BlockHit]], route="POST /blocks/search"
):
    """Search the blocks an agent sees."""

    agent: fields.Id
    query: fields.Text
    limit: fields.Limit = 10


class ListBlocksRequest(BlockPlaceFields, VerbRequest[list[domain.Block]], route="GET /blocks"):
    """Return the blocks an agent sees, in prompt order."""
