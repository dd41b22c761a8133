"""
Bind the address of the server, or report which process uses it.

Uses only the standard library: commands that query or stop a server must not import it.
"""

import errno
import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from recollect.config import Settings
from recollect.errors import AlreadyExists, InvalidInput, TokenRefused
from recollect.server.allowed_hosts import is_loopback

HEALTH_TIMEOUT_S = 5.0  # reached only if the other process accepts connections and does not respond
MAX_HEALTH_BYTES = 100_000
BACKLOG = 2_048  # connections that wait to be accepted


class NotRecollectServer(Exception):
    """The process that listens there is not a Recollect server."""


def check_exposure(settings: Settings) -> None:
    """Raise if the server would be reachable from other machines without a token."""
    if not is_loopback(settings.host) and not settings.token:
        raise InvalidInput(
            f"{settings.host} can be reached from other machines, and no token is set; "
            "set RECOLLECT_TOKEN or use --token-file, or use --host 127.0.0.1"
        )


def listen(settings: Settings) -> socket.socket:
    """Return a listening socket for *settings*; raise `AlreadyExists` if the port is in use."""
    check_exposure(settings)
    family, address = _resolve(settings.host, settings.port)
    # With an explicit protocol asyncio sets TCP_NODELAY. Otherwise each small response waits 40 ms
    # for the client to acknowledge its first half.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # Allows a port whose last server just ended, not one that is in use. On Windows the
            # same option would let two servers share a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # Listen at once: with only `bind`, two servers would not notice each other.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AlreadyExists(_describe_port_user(settings)) from error
        raise InvalidInput(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
            "choose another with --host or --port"
        ) from error
    except BaseException:
        listener.close()
        raise
    return listener


def local_url(host: str, port: int) -> str:
    """Return the URL of a server at *host* for clients on this machine."""
    bare = host.strip("[]")
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bare, bare)
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def fetch_health(host: str, port: int, token: str = "") -> Mapping[str, Any] | None:
    """
    Return the response of `GET /health`, or None if no process listens there.

    Raise `TokenRefused` if the token is wrong, and `NotRecollectServer` if another program
    listens or does not respond in time.
    """
    # Imported here because it loads TLS and the mail parser, which would slow down every command.
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(
        local_url(host, port).removeprefix("http://"), timeout=HEALTH_TIMEOUT_S
    )
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        connection.request("GET", "/health", headers=headers)
        response = connection.getresponse()
        body = response.read(MAX_HEALTH_BYTES)
    except ConnectionRefusedError:
        return None
    except (OSError, HTTPException) as error:
        raise NotRecollectServer(f"the program on port {port} does not respond: {error}") from error
    finally:
        connection.close()
    if response.status == 401:
        raise TokenRefused(
            f"the server on port {port} requires another token; "
            "set RECOLLECT_TOKEN or use --token-file"
        )
    return _parse_health(body, port)


def _parse_health(body: bytes, port: int) -> Mapping[str, Any]:
    try:
        health = json.loads(body)
    except ValueError:
        health = None
    if not isinstance(health, dict) or not {"database_path", "pid"} <= health.keys():
        raise NotRecollectServer(f"the program on port {port} is not a Recollect server")
    return health


def _describe_port_user(settings: Settings) -> str:
    in_use = f"port {settings.port} of {settings.host} is in use"
    advice = f"stop it with `recollect stop --port {settings.port}`, or choose another --port"
    try:
        health = fetch_health(settings.host, settings.port, settings.token)
    except TokenRefused:
        return f"{in_use} by a server that requires another token; {advice}"
    except NotRecollectServer:
        health = None
    if health is None:
        return f"{in_use} by another program; choose another --port"
    pid, path = health["pid"], health["database_path"]
    return f"{in_use}: a Recollect server (pid {pid}) serves {path}; {advice}"


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    try:
        addresses = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise InvalidInput(f"cannot resolve the host {host!r}: {error}") from error
    # Prefer IPv4, because clients try 127.0.0.1 first.
    family, _, _, _, address = min(addresses, key=lambda entry: entry[0] != socket.AF_INET)
    return family, address
