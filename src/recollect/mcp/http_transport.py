"""
Serve MCP over HTTP at `/mcp?project=…&agent=…&profile=…` of the memory server.

The endpoint is an ASGI application inside the server's application, behind its guard. The package
`mcp` is imported with the first request, because it is slow to load and an extra: without it a
request is answered with status 501 and what to install. Callers over HTTP are never
trusted: what they write waits in the inbox, and decisions need the user's confirmation.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from recollect.app.local_recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from recollect.mcp.session_routing import BegunSessions, SessionRouting
from recollect.runtime.mcp_package import require_mcp_package

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from recollect.mcp.elicitation import RequestContext

ENDPOINT_PATH = "/mcp"


class McpEndpoint:
    """
    The ASGI application at `/mcp`. It serves requests inside `running`.

    The endpoints of a server share *begun*.
    """

    def __init__(self, rec: LocalRecollect, *, max_body_bytes: int, begun: BegunSessions) -> None:
        self._memory = rec
        self._begun = begun
        self._max_body_bytes = max_body_bytes
        self._tasks: TaskGroup | None = None
        self._starting = anyio.Lock()
        self._app: SessionRouting | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        async with self._starting:
            if self._app is None:
                await self._start()
        assert self._app is not None
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve requests inside the block; sessions end with it."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            yield
            tasks.cancel_scope.cancel()
        if self._app is not None:
            self._begun.forget(self._app)

    async def _start(self) -> None:
        require_mcp_package()
        if self._tasks is None:
            raise RuntimeError("the MCP endpoint answers only while the server runs")
        stateful, stateless = [
            await anyio.to_thread.run_sync(self._create_manager, is_stateless)
            for is_stateless in (False, True)
        ]
        for manager in (stateful, stateless):
            await self._tasks.start(_run, manager)
        self._app = SessionRouting(stateful.handle_request, stateless.handle_request, self._begun)

    def _create_manager(self, is_stateless: bool) -> "StreamableHTTPSessionManager":
        # Imported with the first request, in a thread: see the module docstring.
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from recollect.mcp.mcp_server import create_mcp_server

        return StreamableHTTPSessionManager(
            create_mcp_server(self._memory, _caller),
            stateless=is_stateless,
            max_request_body_size=self._max_body_bytes,
        )


async def _run(manager: Any, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()


async def _caller(ctx: "RequestContext") -> Caller:
    """Return the caller that the URL describes; it is never trusted."""
    request = ctx.request
    query = request.query_params if isinstance(request, Request) else {}
    return Caller(
        project=query.get("project") or None,
        agent=query.get("agent") or None,
        profile=query.get("profile") or "recollect",
    )
