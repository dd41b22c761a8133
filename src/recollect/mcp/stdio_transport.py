"""
Serve one client over standard input and output, until it closes the pipe.

The project is the configured one, else the client's folder (`workspace_folder`). Only protocol
messages go to standard output; logs go to standard error.
"""

import logging
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from recollect.app.local_recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from recollect.mcp.elicitation import STATELESS_SINCE, RequestContext
from recollect.mcp.mcp_server import create_mcp_server
from recollect.mcp.workspace_folder import choose_workspace, workspaces_in_metadata

ROOTS_TIMEOUT_S = 5.0  # some clients never answer

log = logging.getLogger(__name__)


def serve_stdio(rec: LocalRecollect, caller: Caller, *, start_folder: Path | None) -> None:
    """Serve *memory* to one client. *start_folder*: used if no project is configured."""
    anyio.run(_serve, rec, caller, start_folder)


async def _serve(rec: LocalRecollect, caller: Caller, here: Path | None) -> None:
    client = _StdioClient(caller, here)
    server = create_mcp_server(rec, client.caller)
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, client.forget_roots
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _StdioClient:
    """The client of this process; its roots are requested once, unless calls name workspaces."""

    def __init__(self, caller: Caller, here: Path | None) -> None:
        self._caller = caller
        self._here = here
        self._roots: list[Path] | None = None
        self._lock = anyio.Lock()

    async def caller(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request."""
        if self._here is None:
            return self._caller
        roots = workspaces_in_metadata(ctx.meta) or await self._cached_roots(ctx)
        folder = choose_workspace(roots, self._here)
        return replace(self._caller, project=None if folder is None else str(folder))

    async def forget_roots(self, ctx: RequestContext, _: types.NotificationParams | None) -> None:
        """Request the roots again with the next call."""
        self._roots = None

    async def _cached_roots(self, ctx: RequestContext) -> list[Path]:
        async with self._lock:
            if self._roots is None:
                self._roots = await _request_roots(ctx)
            return self._roots


async def _request_roots(ctx: RequestContext) -> list[Path]:
    """Return the client's root folders. Since 2026-07-28 servers cannot request them."""
    capabilities = ctx.session.client_capabilities
    supports_roots = capabilities is not None and capabilities.roots is not None
    if not supports_roots or is_version_at_least(ctx.protocol_version, STATELESS_SINCE):
        return []
    try:
        response = await ctx.session.send_request(
            types.ListRootsRequest(),
            types.ListRootsResult,
            request_read_timeout_seconds=ROOTS_TIMEOUT_S,
        )
    except MCPError as error:
        log.warning("the client did not return its roots: %s", error)
        return []
    uris = [urlsplit(str(root.uri)) for root in response.roots]
    return [Path(url2pathname(uri.path)) for uri in uris if uri.scheme == "file"]
