"""
Send requests that need the embedding model to the running server of the same store.

A model and its index take some hundred megabytes in each process that loads them. A process that
opens a store beside its server, such as `recollect mcp`, carries out everything else itself and
lets the server compare meanings. If there is no server, or it does not answer, refuses the token or
does not understand a request of this version, this process does.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from recollect.api.transport import Transport
from recollect.errors import InvalidInput, RequestRefused, ServerUnavailable, TokenRefused
from recollect.wire.request import VerbRequest
from recollect.wire.requests.archive import SearchPassagesRequest
from recollect.wire.requests.blocks import SearchBlocksRequest
from recollect.wire.requests.conversations import SearchMessagesRequest
from recollect.wire.requests.documents import SearchDocumentsRequest
from recollect.wire.requests.files import SearchFilesRequest
from recollect.wire.requests.recollect import (
    ContextForRequest,
    SearchRequest,
    WhyNothingRequest,
    WhyNotRequest,
)
from recollect.wire.requests.skills import SearchSkillsRequest

Response = TypeVar("Response")
FindServer = Callable[[], Transport | None]

OFFLOADED_REQUESTS = (
    ContextForRequest,
    SearchBlocksRequest,
    SearchDocumentsRequest,
    SearchFilesRequest,
    SearchMessagesRequest,
    SearchPassagesRequest,
    SearchRequest,
    SearchSkillsRequest,
    WhyNotRequest,
    WhyNothingRequest,
)


class SearchOffloadTransport:
    """The transport of a store in this process, whose searches are run by its server."""

    def __init__(self, local: Transport, find_server: FindServer) -> None:
        self._local = local
        self._find_server = find_server

    def send(self, request: VerbRequest[Response]) -> Response:
        """Carry out *request*, by the server if it needs the model and there is one."""
        server = self._find_server() if isinstance(request, OFFLOADED_REQUESTS) else None
        if server is not None:
            try:
                return server.send(request)
            except (ServerUnavailable, TokenRefused, RequestRefused, InvalidInput):
                pass  # the store is open here too, and an invalid request is invalid here too
        return self._local.send(request)

    def stream(self, request: VerbRequest[Any]) -> Iterator[Any]:
        """Carry out *request* in this process, yielding the events of its verb."""
        return self._local.stream(request)

    def download(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which writes the file *path*."""
        return self._local.download(request, path)

    def upload(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which reads the file *path*."""
        return self._local.upload(request, path)

    def close(self) -> None:
        """Close the store of this process."""
        self._local.close()
