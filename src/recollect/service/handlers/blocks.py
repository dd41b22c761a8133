"""Which function carries out which request for blocks."""

from recollect.service import block_history, block_proposals, block_search, blocks
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import blocks as requests

HANDLERS: Handlers = {
    requests.CreateBlockRequest: blocks.create_block,
    requests.ListBlocksRequest: blocks.list_blocks,
    requests.GetBlockRequest: blocks.get_block,
    requests.SetBlockRequest: blocks.set_block,
    requests.AppendBlockRequest: blocks.append_block,
    requests.ReplaceInBlockRequest: blocks.replace_in_block,
    requests.InsertInBlockRequest: blocks.insert_in_block,
    requests.UpdateBlockRequest: blocks.update_block,
    requests.GetBlockHistoryRequest: block_history.get_history,
    requests.GetBlockDiffRequest: block_history.get_diff,
    requests.RollbackBlockRequest: block_history.rollback,
    requests.AttachBlockRequest: blocks.attach_block,
    requests.DetachBlockRequest: blocks.detach_block,
    requests.DeleteBlockRequest: blocks.delete_block,
    requests.ConfirmBlockRequest: blocks.confirm_block,
    requests.ListBlockProposalsRequest: block_proposals.list_proposals,
    requests.GetBlockProposalRequest: block_proposals.get_proposal,
    requests.AcceptBlockProposalRequest: block_proposals.accept_proposal,
    requests.RejectBlockProposalRequest: block_proposals.reject_proposal,
    requests.UndoBlockProposalRequest: block_proposals.undo_proposal,
    requests.ListBlockChangesRequest: block_history.list_changes,
    requests.GetBlocksFingerprintRequest: block_history.get_fingerprint,
    requests.SearchBlocksRequest: block_search.search_blocks,
}
