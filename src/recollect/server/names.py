"""
Host names and origins: which of them mean this machine.

Pure, and without any look-up: a name that only resolves to this machine today may resolve elsewhere
tomorrow, so only `localhost` and the loopback addresses count.
"""

import re
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


class Place(NamedTuple):
    """A host and a port, as a request names them; None where it names no port."""

    name: str
    port: int | None


def place_of(written: str) -> Place | None:
    """Return what a Host header names, or None where it is not well formed."""
    found = _HOST.fullmatch(written.strip().lower())
    if found is None:
        return None
    port = int(found[2]) if found[2] else None
    if port is not None and not 0 < port < 65_536:
        return None
    return Place(found[1].strip("[]").removesuffix("."), port)


def origin_place(origin: str) -> Place | None:
    """Return the host and port of an Origin header, or None where it names none."""
    scheme, found, rest = origin.strip().lower().partition("://")
    place = place_of(rest) if found and scheme in _PORTS else None
    return place and Place(place.name, place.port or _PORTS[scheme])


def is_this_machine(name: str) -> bool:
    """Say whether a host name or address is the loopback of the machine that uses it."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name.strip("[]"))
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


def same_place(origin: Place, host: Place) -> bool:
    """Say whether a page of *origin* talks to where it came from, or this machine to itself."""
    # Behind something that speaks TLS the Host has no port, and the page the port of its scheme.
    same_port = origin.port == host.port or (host.port is None and origin.port in _PORTS.values())
    if not same_port:
        return False
    return origin.name == host.name or (is_this_machine(origin.name) and is_this_machine(host.name))
