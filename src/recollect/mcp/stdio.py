"""
Serve one client over standard input and output, until it closes the pipe.

The project is the one that was named, else the client's first root, else the folder this runs in.
Only the protocol goes to the standard output; logs go to the error output.
"""

import logging
from collections.abc import Sequence
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
    """The one client of this process, asked once where it works."""

    def __init__(self, caller: Caller, here: Path | None) -> None:
        self._caller = caller
        self._here = here
        self._known = caller.project is not None
        self._lock = anyio.Lock()

    async def caller(self, ctx: Context) -> Caller:
        """Return who asks."""
        async with self._lock:
            if not self._known:
                roots = await _roots(ctx)
                place = place_among(roots, self._here)
                project = None if place is None else str(place)
                self._caller = replace(self._caller, project=project)
                self._known = True
        return self._caller

    async def moved(self, ctx: Context, params: types.NotificationParams | None) -> None:
        """Ask anew, with the next request."""
        self._known = self._here is None


def place_among(roots: Sequence[Path], here: Path | None) -> Path | None:
    """Return the folder that is worked in: *here* if it lies in a root, else the first root."""
    if here is None:
        return None
    if not roots or any(here.is_relative_to(root) for root in roots):
        return here if is_project(here) else None
    return next((root for root in roots if is_project(root)), None)


def is_project(folder: Path) -> bool:
    """Say whether work happens in *folder*: a desktop client starts in `/` or at home."""
    return folder != Path(folder.anchor) and folder != Path.home()


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
