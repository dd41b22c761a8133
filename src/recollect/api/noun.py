"""
The base of every noun, and the transport that carries its requests.

A noun turns the arguments of a call into a request model and hands it to the transport. Locally the
transport is the service; behind `recollect.connect` it is an HTTP client. The verbs, their
signatures and their errors are therefore the same on both.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from recollect.wire.request import VerbRequest

Response = TypeVar("Response")


class Transport(Protocol):
    """Carries requests to a store: in this process or over HTTP."""

    def send(self, request: VerbRequest[Response]) -> Response:
        """Carry out *request* and return what its verb returns."""
        ...

    def stream(self, request: VerbRequest[Any]) -> Iterator[Any]:
        """
        Carry out *request*, yielding the events of its verb; the last one has its result.

        Closing the iterator before its end stops what the verb does.
        """
        ...

    def download(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which writes the file *path* of the caller."""
        ...

    def upload(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which reads the file *path* of the caller."""
        ...

    def close(self) -> None:
        """Release the connection or the store. Closing twice is the same as closing once."""
        ...


class VerbGroup:
    """Verbs that wait for the store; the asynchronous API makes each of them awaitable."""


class Noun(VerbGroup):
    """One group of verbs on one transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _send(self, request: type[VerbRequest[Response]], arguments: Mapping[str, Any]) -> Response:
        """
        Validate *arguments* as *request* and carry it out.

        Verbs pass `locals()` as their first statement: exactly their arguments, so that a
        signature lists each argument once. An argument that is `...` was not given.
        """
        return self._transport.send(request.of(passed_arguments(arguments)))

    def _stream(
        self, request: type[VerbRequest[Any]], arguments: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Validate *arguments* as *request* now; carry it out as its events are read."""
        return self._transport.stream(request.of(passed_arguments(arguments)))


def passed_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a verb without `self` and without those left at `...`."""
    return {name: value for name, value in arguments.items() if name != "self" and value is not ...}
