"""Handlers of the requests for blocks. Each loads on use: a hook needs one."""

from recollect.service.handlers.handler_table import Handlers, lazy_handler
from recollect.wire.requests import blocks as requests

HANDLERS: Handlers = {
    requests.CreateBlockRequest: lazy_handler("blocks.create_block"),
    requests.ListBlocksRequest: lazy_handler("blocks.list_blocks"),
    requests.GetBlockRequest: lazy_handler("blocks.get_block"),
    requests.SetBlockRequest: lazy_handler("blocks.set_block"),
    requests.AppendBlockRequest: lazy_handler("blocks.append_block"),
    requests.ReplaceInBlockRequest: lazy_handler("blocks.replace_in_block"),
    requests.InsertInBlockRequest: lazy_handler("blocks.insert_in_block"),
    requests.UpdateBlockRequest: lazy_handler("blocks.update_block"),
    requests.GetBlockHistoryRequest: lazy_handler("block_history.get_history"),
    requests.GetBlockDiffRequest: lazy_handler("block_history.get_diff"),
    requests.RollbackBlockRequest: lazy_handler("block_history.rollback"),
    requests.AttachBlockRequest: lazy_handler("blocks.attach_block"),
    requests.DetachBlockRequest: lazy_handler("blocks.detach_block"),
    requests.ShareBlockRequest: lazy_handler("blocks.share_block"),
    requests.ListAgentsOfBlockRequest: lazy_handler("blocks.list_agents_of_block"),
    requests.DeleteBlockRequest: lazy_handler("blocks.delete_block"),
    requests.ConfirmBlockRequest: lazy_handler("blocks.confirm_block"),
    requests.ListBlockProposalsRequest: lazy_handler("block_proposals.list_proposals"),
    requests.GetBlockProposalRequest: lazy_handler("block_proposals.get_proposal"),
    requests.AcceptBlockProposalRequest: lazy_handler("block_proposals.accept_proposal"),
    requests.RejectBlockProposalRequest: lazy_handler("block_proposals.reject_proposal"),
    requests.UndoBlockProposalRequest: lazy_handler("block_proposals.undo_proposal"),
    requests.ListBlockChangesRequest: lazy_handler("block_history.list_changes"),
    requests.GetBlocksFingerprintRequest: lazy_handler("block_history.get_fingerprint"),
    requests.SearchBlocksRequest: lazy_handler("block_search.search_blocks"),
}
