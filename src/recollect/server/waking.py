"""
Tell somebody after each request that may have written something.

It knows nothing of what is told: a request that was answered without failure, and that was not just
a question, is reason enough.
"""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

QUESTIONS = frozenset({"GET", "HEAD", "OPTIONS"})


class Waking:
    """The ASGI application around the application. *wake* must return at once."""

    def __init__(self, app: ASGIApp, *, wake: Callable[[], None]) -> None:
        self._app = app
        self._wake = wake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and tell of it."""
        if scope["type"] != "http" or scope["method"] in QUESTIONS:
            await self._app(scope, receive, send)
            return
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        await self._app(scope, receive, noting)
        if status < 400:
            self._wake()
