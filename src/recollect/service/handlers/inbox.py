"""Handlers of the requests for the inbox."""

from recollect.service import inbox, review
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import inbox as requests

HANDLERS: Handlers = {
    requests.ListInboxRequest: inbox.list_inbox,
    requests.ReviewOrderRequest: inbox.review_order,
    requests.InboxItemsRequest: inbox.inbox_items,
    requests.DecideRequest: review.decide,
    requests.PromoteManyRequest: review.promote_many,
    requests.RejectManyRequest: review.reject_many,
    requests.UndoManyRequest: review.undo_many,
}
