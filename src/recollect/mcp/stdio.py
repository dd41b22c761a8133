"""
Serve one client over standard input and output, until it closes the pipe.

The project is the one that was named, else the folder the client works in (place.py). Only the
protocol goes to the standard output; logs go to the error output.
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

from recollect.app import Recollect
from recollect.mcp.asking import STATELESS_SINCE, Context
from recollect.mcp.caller import Caller
from recollect.mcp.place import place_among, told_with
from recollect.mcp.server import mcp_server

ROOTS_WITHIN_S = 5.0  # a client that does not answer is no reason to wait for ever

log = logging.getLogger(__name__)


def serve_stdio(memory: Recollect, caller: Caller, *, here: Path | None) -> None:
    """Serve *memory* to one client. *here*: the folder this runs in, where no project is named."""
    anyio.run(_serve, memory, caller, here)


async def _serve(memory: Recollect, caller: Caller, here: Path | None) -> None:
    client = _Client(caller, here)
    server = mcp_server(memory, client.caller)
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, client.moved
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Client:
    """The one client of this process, asked once where it works, unless it says so each time."""

    def __init__(self, caller: Caller, here: Path | None) -> None:
        self._caller = caller
        self._here = here
        self._roots: list[Path] | None = None
        self._lock = anyio.Lock()

    async def caller(self, ctx: Context) -> Caller:
        """Return who asks."""
        if self._here is None:
            return self._caller
        place = place_among(told_with(ctx.meta) or await self._known_roots(ctx), self._here)
        return replace(self._caller, project=None if place is None else str(place))

    async def moved(self, ctx: Context, params: types.NotificationParams | None) -> None:
        """Ask anew, with the next request."""
        self._roots = None

    async def _known_roots(self, ctx: Context) -> list[Path]:
        async with self._lock:
            if self._roots is None:
                self._roots = await _roots(ctx)
            return self._roots


async def _roots(ctx: Context) -> list[Path]:
    """Return the folders the client works in. Since 2026-07-28 servers do not ask for them."""
    able = ctx.session.client_capabilities
    offered = able is not None and able.roots is not None
    if not offered or is_version_at_least(ctx.protocol_version, STATELESS_SINCE):
        return []
    try:
        found = await ctx.session.send_request(
            types.ListRootsRequest(),
            types.ListRootsResult,
            request_read_timeout_seconds=ROOTS_WITHIN_S,
        )
    except MCPError as error:
        log.warning("the client did not tell its roots: %s", error)
        return []
    addresses = [urlsplit(str(root.uri)) for root in found.roots]
    return [Path(url2pathname(one.path)) for one in addresses if one.scheme == "file"]
