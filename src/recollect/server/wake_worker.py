"""
Wake the background worker after each request that may have written something.

That is every successful request whose method is not GET, HEAD or OPTIONS.
"""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class WakeWorkerMiddleware:
    """ASGI middleware that calls *wake*, which must return at once."""

    def __init__(self, app: ASGIApp, *, wake: Callable[[], None]) -> None:
        self._app = app
        self._wake = wake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, then wake the worker."""
        if scope["type"] != "http" or scope["method"] in READ_METHODS:
            await self._app(scope, receive, send)
            return
        status = 500

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        await self._app(scope, receive, note_status)
        if status < 400:
            self._wake()
