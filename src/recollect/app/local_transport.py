"""Carry requests out in this process: find the handler of each request and call it."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.errors import RecollectError, StoreDamaged
from recollect.service.handlers.handler_table import Handler, Handlers
from recollect.service.services import Services
from recollect.tracing import trace
from recollect.wire.request import VerbRequest

if TYPE_CHECKING:
    # For the type checker only: a program that runs no agent does not load the runtime.
    from recollect.runtime.runtime_context import RuntimeContext

Response = TypeVar("Response")
RUNTIME_NOUNS = ("runs",)  # their handlers are in the runtime, the others in the service


class LocalTransport:
    """The transport of a store that this process has open."""

    def __init__(
        self,
        services: Services,
        close: Callable[[], None],
        runtime: "Callable[[], RuntimeContext]",
    ) -> None:
        self._services = services
        self._runtime = runtime
        self._file = services.store.file
        self._close = close

    def send(self, request: VerbRequest[Response]) -> Response:
        """Carry out *request* and return what its verb returns."""
        handler = handler_of(type(request))
        is_run = noun_of(type(request)) in RUNTIME_NOUNS
        context: Any = self._runtime() if is_run else self._services
        with trace(f"verb {type(request).verb()}"):
            response: Response = self._run(lambda: handler(context, request))
            return response

    def stream(self, request: VerbRequest[Any]) -> Iterator[Any]:
        """Carry out *request*, yielding the events of its verb."""
        from recollect.runtime.handlers.runs import STREAMS

        events: Iterator[Any] = self._run(lambda: STREAMS[type(request)](self._runtime(), request))
        return events

    def download(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which writes the file *path*."""
        return self._with_file(request, path)

    def upload(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which reads the file *path*."""
        return self._with_file(request, path)

    def _with_file(self, request: VerbRequest[Response], path: Path) -> Response:
        from recollect.service.handlers.file_transfers import FILE_HANDLERS

        handler = FILE_HANDLERS[type(request)]
        with trace(f"verb {type(request).verb()}"):
            response: Response = self._run(lambda: handler(self._services, request, path))
            return response

    def _run(self, call: Callable[[], Any]) -> Any:
        """Call *call*; if the store turns out to be damaged, call it on what can be rescued."""
        try:
            return call()
        except StoreDamaged:
            if self._file is None or not self._file.use_rescued_copy():
                raise
        except RecollectError:
            raise
        except Exception:  # a damaged value can fail anywhere; if none is damaged, it is a bug
            if self._file is None or not self._file.is_damaged():
                raise
            if not self._file.use_rescued_copy():
                raise
        return call()

    def close(self) -> None:
        """Close the store."""
        self._close()


def handler_of(request: type[VerbRequest[Any]]) -> Handler:
    """Return the function that carries out a kind of request."""
    # The handlers of a noun are in the file of the same name as its requests, and load on use.
    noun = noun_of(request)
    package = "runtime" if noun in RUNTIME_NOUNS else "service"
    handlers: Handlers = import_module(f"recollect.{package}.handlers.{noun}").HANDLERS
    return handlers[request]


def noun_of(request: type[VerbRequest[Any]]) -> str:
    """Return the noun of a kind of request: the name of the file that defines it."""
    return request.__module__.rpartition(".")[2]
