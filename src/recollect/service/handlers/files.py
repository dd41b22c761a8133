"""Handlers of the requests for files."""

from recollect.service import files
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import files as requests

HANDLERS: Handlers = {
    requests.OpenFilesRequest: files.open_files,
    requests.ListOpenFilesRequest: files.list_open_files,
    requests.CloseFilesRequest: files.close_files,
    requests.GrepFilesRequest: files.grep_files,
    requests.IndexFilesRequest: files.index_files,
    requests.ForgetFilesRequest: files.forget_files,
    requests.SearchFilesRequest: files.search_files,
}
