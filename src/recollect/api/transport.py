"""What carries a request to a store: in this process, or over HTTP."""

from collections.abc import Iterator
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
