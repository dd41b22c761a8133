"""
The base class of `Recollect` and of its nouns, which are groups of verbs.

A verb turns its arguments into a request model and hands it to the transport. Locally the transport
calls the service; behind `recollect.connect` it is an HTTP client. The verbs, their signatures and
their errors are therefore the same on both.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.api.transport import Response, Transport
from recollect.wire.request import VerbRequest


class BlockingMethods:
    """Methods that wait for the store; the asynchronous API makes each of them awaitable."""


class VerbGroup(BlockingMethods):
    """A group of verbs on one transport. Also called a noun: `rec.inbox`, `rec.agents`."""

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
