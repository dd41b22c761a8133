"""
Parse Host and Origin headers, and tell which host names mean this machine.

There are no DNS lookups: a name that resolves to this machine today may resolve to another one
tomorrow. Only `localhost` and the loopback addresses count.
"""

import re
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


class HostPort(NamedTuple):
    """A host name and a port; the port is None if the request does not have one."""

    name: str
    port: int | None


def parse_host(host: str) -> HostPort | None:
    """Return the name and port of a Host header, or None if it is malformed."""
    match = _HOST.fullmatch(host.strip().lower())
    if match is None:
        return None
    port = int(match[2]) if match[2] else None
    if port is not None and not 0 < port < 65_536:
        return None
    return HostPort(match[1].strip("[]").removesuffix("."), port)


def parse_origin(origin: str) -> HostPort | None:
    """Return the host and port of an Origin header, or None if it does not have them."""
    scheme, separator, rest = origin.strip().lower().partition("://")
    host = parse_host(rest) if separator and scheme in _PORTS else None
    return host and HostPort(host.name, host.port or _PORTS[scheme])


def is_loopback(name: str) -> bool:
    """Return whether a host name or address is a loopback address."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name.strip("[]"))
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def is_same_origin(origin: HostPort, host: HostPort) -> bool:
    """Return whether *origin* and *host* have the same port, and the same name or both loopback."""
    # Behind a TLS proxy the Host header has no port; the origin has the default port.
    same_port = origin.port == host.port or (host.port is None and origin.port in _PORTS.values())
    if not same_port:
        return False
    return origin.name == host.name or (is_loopback(origin.name) and is_loopback(host.name))
