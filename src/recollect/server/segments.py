"""Keep names with a slash in them in one segment of the path, however servers decode it."""

from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.wire.segment import decoded


class Segments:
    """The ASGI application around the application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its path decoded segment by segment."""
        raw = scope.get("raw_path")
        if scope["type"] == "http" and raw and b"%2f" in raw.lower():
            scope = {**scope, "path": decoded(raw.decode("ascii", errors="replace"))}
        await self._app(scope, receive, send)
