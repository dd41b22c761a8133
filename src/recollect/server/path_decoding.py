"""Decode request paths so that a name with a slash (`%2F`) stays one path segment."""

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.wire.path_segment import decode_path


class PathDecodingMiddleware:
    """ASGI middleware that decodes the path segment by segment."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its path decoded."""
        raw = scope.get("raw_path")
        if scope["type"] == "http" and raw and b"%2f" in raw.lower():
            # In place: middleware further out reads the route that is added to the same scope.
            scope["path"] = decode_path(raw.decode("ascii", errors="replace"))
        await self._app(scope, receive, send)
