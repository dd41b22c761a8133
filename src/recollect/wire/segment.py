"""
Names in the paths of requests: any name an agent, a label or a key may have fits into one segment.

A slash inside a name is written `%2F`. Servers decode paths before they look for the route, and
would see two segments; so ours first puts a stand-in for it, a control character, and takes it out
again where the name is read. An empty name has a stand-in too; stand-ins themselves are escaped.
"""

import re
from urllib.parse import quote, unquote

SLASH = "\x1f"
NOTHING = "\x1e"
ESCAPE = "\x1d"
_ESCAPED = {ESCAPE: f"{ESCAPE}0", NOTHING: f"{ESCAPE}1", SLASH: f"{ESCAPE}2"}
_NAME = re.compile(r"{(\w+)}")
_WRITTEN_SLASH = re.compile("%2f", re.IGNORECASE)


def names_in(path: str) -> tuple[str, ...]:
    """Return the names a path's template leaves open."""
    return tuple(_NAME.findall(path))


def filled(path: str, names: dict[str, str]) -> str:
    """Return a path's template with every name in its place."""
    return _NAME.sub(lambda found: written(names[found[1]]), path)


def written(name: str) -> str:
    """Return *name* as one segment of a path."""
    if name in (".", ".."):
        return name.replace(".", "%2E")  # or it would be taken for a way up
    # An empty segment would be another path.
    escaped = "".join(_ESCAPED.get(char, char) for char in name)
    return quote(escaped or NOTHING, safe="", errors="surrogatepass")


def decoded(raw_path: str) -> str:
    """Return a request's raw path with its segments decoded and still apart."""
    return unquote(_WRITTEN_SLASH.sub("%1F", raw_path))


def read(segment: str) -> str:
    """Return the name a decoded segment stands for."""
    if segment == NOTHING:
        return ""
    name = segment.replace(SLASH, "/")
    for char in (SLASH, NOTHING, ESCAPE):
        name = name.replace(_ESCAPED[char], char)
    return name
