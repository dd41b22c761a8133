"""
Serve one client over standard input and output, until it closes the pipe.

The project is the configured one, else the client's folder (`workspace_folder`). Only protocol
messages go to standard output; logs go to standard error.
"""

import json
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types.version import is_version_at_least

from recollect.app.local_recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from recollect.mcp.client_agent import agent_named_after
from recollect.mcp.early_answers import EarlySession
from recollect.mcp.elicitation import STATELESS_SINCE, RequestContext
from recollect.mcp.mcp_server import client_name, create_mcp_server
from recollect.mcp.workspace_folder import choose_workspace, workspaces_in_metadata

ROOTS_TIMEOUT_S = 5.0  # some clients never answer

log = logging.getLogger(__name__)


def serve_stdio(
    rec: LocalRecollect,
    caller: Caller,
    *,
    start_folder: Path | None,
    early: EarlySession | None = None,
    agent_from_client: bool = False,
) -> None:
    """
    Serve *memory* to one client. *start_folder*: used if no project is configured.

    With *agent_from_client* a caller without an agent gets one of the client's own name. *early*
    is the beginning of the session, if some of it was answered before this was loaded.
    """
    client = _StdioClient(caller, start_folder, agent_from_client=agent_from_client)
    anyio.run(_serve, rec, client, early)


async def _serve(rec: LocalRecollect, client: "_StdioClient", early: EarlySession | None) -> None:
    server = create_mcp_server(rec, client.caller)
    server.add_notification_handler(
        "notifications/roots/list_changed", types.NotificationParams, client.forget_roots
    )
    async with _pipes(early) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _pipes(early: EarlySession | None) -> AbstractAsyncContextManager[Any]:
    if early is None:
        return stdio_server()
    # They are all that `stdio_server` uses of an asynchronous file.
    stdin: Any = _LinesAgain(early.lines, early.pipes.incoming)
    stdout: Any = _AnswersOnce(early.answered_id, early.pipes.outgoing)
    return stdio_server(stdin, stdout)


class _LinesAgain:
    """The lines that were read already, then those that the client sends."""

    def __init__(self, lines: Sequence[str], pipe: BinaryIO) -> None:
        self._lines = lines
        self._pipe = anyio.wrap_file(TextIOWrapper(pipe, encoding="utf-8", errors="replace"))

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._lines:
            yield line
        async for line in self._pipe:
            yield line


class _AnswersOnce:
    """The pipe to the client, without the answer to `initialize` that it has already."""

    def __init__(self, answered_id: str | int | None, pipe: BinaryIO) -> None:
        self._answered_id = answered_id
        self._pipe = anyio.wrap_file(TextIOWrapper(pipe, encoding="utf-8"))

    async def write(self, line: str) -> None:
        """Send a message, unless it is that answer."""
        if self._answered_id is not None:
            message = json.loads(line)
            if message.get("id") == self._answered_id and "result" in message:
                self._answered_id = None
                return
        await self._pipe.write(line)

    async def flush(self) -> None:
        """Send what is buffered."""
        await self._pipe.flush()


class _StdioClient:
    """The client of this process; its roots are requested once, unless calls name workspaces."""

    def __init__(self, caller: Caller, here: Path | None, *, agent_from_client: bool) -> None:
        self._caller = caller
        self._agent_from_client = agent_from_client and caller.agent is None
        self._here = here
        self._roots: list[Path] | None = None
        self._lock = anyio.Lock()

    async def caller(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request."""
        caller = self._caller
        if self._agent_from_client:
            caller = replace(caller, agent=agent_named_after(client_name(ctx)))
        if self._here is None:
            return caller
        roots = workspaces_in_metadata(ctx.meta) or await self._cached_roots(ctx)
        folder = choose_workspace(roots, self._here)
        return replace(caller, project=None if folder is None else str(folder))

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
