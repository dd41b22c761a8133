"""
Answer the first requests of a client while the package `mcp` is not loaded yet.

Loading that package takes half a second. A client waits for the answer to `initialize` and for the
list of tools before its model can call any, and neither needs the package. So `initialize`, `ping`
and `tools/list` of a session that begins with `initialize` are answered here, with the same JSON
that the package would send. The first other message ends this: the package gets `initialize` and
everything that is not answered from `EarlySession.lines`, and its own answer to `initialize` is
dropped.

Standard input and output are moved to other descriptors first: what a library prints goes to
standard error and cannot damage the protocol.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any, BinaryIO

from recollect import __version__
from recollect.lazy_dataclass import dataclass
from recollect.mcp.server_identity import INSTRUCTIONS, NAME, TITLE
from recollect.mcp.tool_profiles import profile_tools

# Versions in which a session begins with `initialize`. Others are left to the package.
PROTOCOL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"listChanged": False, "subscribe": False},
    "tools": {"listChanged": False},
}
TRANSPORT = "recollect.mcp.stdio_transport"


@dataclass(frozen=True)
class ClientPipes:
    """The pipes from and to the client."""

    incoming: BinaryIO
    outgoing: BinaryIO

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message."""
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        self.outgoing.write(f"{text}\n".encode())
        self.outgoing.flush()


@dataclass(frozen=True)
class EarlySession:
    """What the client has sent so far, for the package to read again."""

    pipes: ClientPipes
    lines: tuple[str, ...]  # without the requests that were answered, apart from `initialize`
    answered_id: str | int | None  # of `initialize`; None if it was not answered
    has_ended: bool


def take_pipes() -> ClientPipes:
    """Return the pipes of standard input and output, and point these elsewhere."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # A thread may still read when the session ends: the descriptors are never closed.
    return ClientPipes(
        os.fdopen(incoming, "rb", closefd=False), os.fdopen(outgoing, "wb", closefd=False)
    )


def answer_early(pipes: ClientPipes, profile: str) -> EarlySession:
    """Answer requests until one needs the package `mcp`, or until the client closes the pipe."""
    lines: list[str] = []
    answered_id: str | int | None = None
    loading: Thread | None = None
    while received := pipes.incoming.readline():
        line = received.decode("utf-8", "replace")
        message = _parse(line)
        result: Mapping[str, Any] | None = None
        if not lines and (version := _requested_version(message)):
            result = _initialize_result(version)
            answered_id = message["id"]
            lines.append(line)
        elif answered_id is not None and message.get("method") == "notifications/initialized":
            lines.append(line)
            continue
        elif answered_id is not None and _is_plain_request(message):
            result = _plain_result(message["method"], profile)
        if result is None:
            lines.append(line)
            return EarlySession(pipes, tuple(lines), answered_id, has_ended=False)
        pipes.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        if loading is None and message["method"] == "tools/list":
            # Not earlier: both would share the interpreter, and the client waits for the list.
            loading = Thread(target=_load_transport, name="recollect-mcp-import")
            loading.start()
    return EarlySession(pipes, tuple(lines), answered_id, has_ended=True)


def _load_transport() -> None:
    with suppress(ImportError):  # the next message needs it too, and reports it
        import_module(TRANSPORT)


def _parse(line: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _requested_version(message: Mapping[str, Any]) -> str:
    """Return the protocol version of an `initialize` that can be answered, else ''."""
    params = message.get("params")
    if not _is_request(message, "initialize") or not isinstance(params, dict):
        return ""
    client, version = params.get("clientInfo"), params.get("protocolVersion")
    is_complete = (
        isinstance(params.get("capabilities"), dict)
        and isinstance(client, dict)
        and isinstance(client.get("name"), str)
        and isinstance(client.get("version"), str)
    )
    return version if is_complete and version in PROTOCOL_VERSIONS else ""


def _is_plain_request(message: Mapping[str, Any]) -> bool:
    """Return whether *message* is a request without parameters that is answered here."""
    params = message.get("params", {})
    has_parameters = not isinstance(params, dict) or not params.keys() <= {"_meta"}
    return not has_parameters and _is_request(message, "ping", "tools/list")


def _is_request(message: Mapping[str, Any], *methods: str) -> bool:
    request_id = message.get("id")
    return (
        message.get("jsonrpc") == "2.0"
        and message.get("method") in methods
        and isinstance(request_id, str | int)
        and not isinstance(request_id, bool)
    )


def _initialize_result(version: str) -> Mapping[str, Any]:
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": {"name": NAME, "title": TITLE, "version": __version__},
        "instructions": INSTRUCTIONS,
    }


def _plain_result(method: str, profile: str) -> Mapping[str, Any]:
    if method == "ping":
        return {}
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": dict(tool.hints),
        }
        for tool in profile_tools(profile)
    ]
    return {"tools": tools}
