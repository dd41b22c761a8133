"""
Where a server listens: take the address, or say who has it.

Standard library only: a command that merely asks or stops must not load the server.
"""

import errno
import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from recollect.config import Settings
from recollect.errors import AlreadyExists, InvalidInput, TokenRefused
from recollect.server.names import is_this_machine

ASK_TIMEOUT_S = 5.0  # only somebody who listens and says nothing is waited for so long
MOST_HEALTH_BYTES = 100_000


class NoRecollect(Exception):
    """Something listens there, and does not answer as a Recollect does."""


def check_exposure(settings: Settings) -> None:
    """Refuse to be reachable from other machines without a token."""
    if not is_this_machine(settings.host) and not settings.token:
        raise InvalidInput(
            f"{settings.host} can be reached from other machines, and no token is set; "
            "set RECOLLECT_TOKEN or use --token-file, or bind 127.0.0.1"
        )


def listening(settings: Settings) -> socket.socket:
    """Return a socket that listens at the address of *settings*, or say who has it."""
    check_exposure(settings)
    family, where = _resolved(settings.host, settings.port)
    # With its protocol named: asyncio then sends small answers at once, otherwise each of them
    # waits 40 ms for the other side to acknowledge its first half.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # A port whose last server just ended is free; one that is listened on is not. On
            # Windows the same option would let two servers share a port.
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(where)
        # At once: two that are bound and do not listen yet would not notice each other.
        found.listen(2048)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            raise AlreadyExists(_who_has(settings)) from error
        raise InvalidInput(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
            "choose another with --host or --port"
        ) from error
    except BaseException:
        found.close()
        raise
    return found


def url_of(host: str, port: int) -> str:
    """Return the address under which a server at *host* is asked from this machine."""
    bare = host.strip("[]")
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bare, bare)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


def ask_health(
    host: str, port: int, token: str = "", *, timeout_s: float = ASK_TIMEOUT_S
) -> Mapping[str, Any] | None:
    """
    Return what `GET /health` answers there, None where nobody listens.

    Raises `TokenRefused` where the token is wrong, and `NoRecollect` where something else
    listens, or it does not answer in time.
    """
    # With it come TLS and the mail parser; every command would wait for them.
    from http.client import HTTPConnection, HTTPException

    asking = HTTPConnection(url_of(host, port).removeprefix("http://"), timeout=timeout_s)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        asking.request("GET", "/health", headers=headers)
        answer = asking.getresponse()
        body = answer.read(MOST_HEALTH_BYTES)
    except ConnectionRefusedError:
        return None
    except (OSError, HTTPException) as error:
        raise NoRecollect(f"what listens on port {port} does not answer: {error}") from error
    finally:
        asking.close()
    if answer.status == 401:
        raise TokenRefused(
            f"the server on port {port} wants another token; "
            "set RECOLLECT_TOKEN or use --token-file"
        )
    return _as_health(body, port)


def _as_health(body: bytes, port: int) -> Mapping[str, Any]:
    try:
        read = json.loads(body)
    except ValueError:
        read = None
    if not isinstance(read, dict) or not {"database_path", "pid"} <= read.keys():
        raise NoRecollect(f"what listens on port {port} is no Recollect")
    return read


def _who_has(settings: Settings) -> str:
    taken = f"port {settings.port} of {settings.host} is in use"
    other = f"stop it with `recollect stop --port {settings.port}`, or choose another --port"
    try:
        found = ask_health(settings.host, settings.port, settings.token)
    except TokenRefused:
        return f"{taken} by a server that wants another token; {other}"
    except NoRecollect:
        found = None
    if found is None:
        return f"{taken} by another program; choose another --port"
    return f"{taken}: a Recollect (pid {found['pid']}) serves {found['database_path']}; {other}"


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise InvalidInput(f"the host {host!r} is not known: {error}") from error
    # Clients look for 127.0.0.1 first, whatever order a name resolves in.
    family, _, _, _, where = min(found, key=lambda one: one[0] != socket.AF_INET)
    return family, where
