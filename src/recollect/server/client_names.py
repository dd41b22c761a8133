"""
Name the client of each request, for the counts of clients.

A connection of this package sends the name in a header of its own; any other program is named by
its User-Agent.
"""

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.calling_client import name_from_user_agent, printable_name, use_client
from recollect.text.redact import redact
from recollect.wire.request import CLIENT_HEADER

UNNAMED = "HTTP client"
_OWN = CLIENT_HEADER.encode()


class ClientNameMiddleware:
    """ASGI middleware that names the client while a request is handled."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with the name of its client."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with use_client(client_name(scope) or UNNAMED):
            await self._app(scope, receive, send)


def client_name(scope: Scope) -> str:
    """Return the name of the program that sent a request; '' if it gives none."""
    headers = dict(scope["headers"])
    name = printable_name(headers.get(_OWN, b"").decode("latin-1"))
    name = name or name_from_user_agent(headers.get(b"user-agent", b"").decode("latin-1"))
    return redact(name).text
