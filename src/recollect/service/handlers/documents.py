"""Handlers of the requests for documents."""

from recollect.service import documents
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import documents as requests

HANDLERS: Handlers = {
    requests.PutDocumentRequest: documents.put_document,
    requests.GetDocumentRequest: documents.get_document,
    requests.ExtendDocumentRequest: documents.extend_document,
    requests.DeleteDocumentRequest: documents.delete_document,
    requests.SearchDocumentsRequest: documents.search_documents,
    requests.ListNamespacesRequest: documents.list_namespaces,
}
