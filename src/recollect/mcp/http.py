"""
MCP at an address of the memory server: `/mcp?project=…&agent=…&profile=…`.

The endpoint is an ASGI application inside the server's own, behind its guard. The package `mcp`
loads with the first request, so that a server nobody speaks MCP to does not pay for it. Callers
over HTTP are never trusted: what they write waits for review, and deciding asks the person.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.app import Recollect
from recollect.mcp.caller import Caller

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from recollect.mcp.asking import Context

PATH = "/mcp"


class McpEndpoint:
    """The ASGI application at `/mcp`. It answers while `running`."""

    def __init__(self, memory: Recollect, *, max_body_bytes: int) -> None:
        self._memory = memory
        self._max_body_bytes = max_body_bytes
        self._tasks: TaskGroup | None = None
        self._starting = anyio.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        async with self._starting:
            if self._app is None:
                await self._start()
        assert self._app is not None
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer inside the block; sessions end with it."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            yield
            tasks.cancel_scope.cancel()

    async def _start(self) -> None:
        if self._tasks is None:
            raise RuntimeError("the MCP endpoint answers only while the server runs")
        manager = await anyio.to_thread.run_sync(self._made)
        await self._tasks.start(_run, manager)
        self._app = manager.handle_request

    def _made(self) -> "StreamableHTTPSessionManager":
        # As the docstring says: with the first request, and off the event loop.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from recollect.mcp.server import mcp_server

        return StreamableHTTPSessionManager(
            mcp_server(self._memory, _caller), max_request_body_size=self._max_body_bytes
        )


async def _run(manager: Any, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()


async def _caller(ctx: "Context") -> Caller:
    """Return who asks: the address says from where, nothing says that they are trusted."""
    request = ctx.request
    asked = request.query_params if isinstance(request, Request) else {}
    return Caller(
        project=asked.get("project") or None,
        agent=asked.get("agent") or None,
        profile=asked.get("profile") or "recollect",
    )
