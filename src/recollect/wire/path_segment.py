"""
Encode names as single path segments, and decode them.

Agent names, labels and keys may contain any character. A slash is sent as `%2F`. ASGI servers
decode the path before they match a route and would see two segments, so our server first replaces
`%2F` by a control character and decodes it when it reads the name. An empty name is a control
character too. Control characters inside names are escaped.
"""

import re
from urllib.parse import quote, unquote

SLASH = "\x1f"
EMPTY = "\x1e"
ESCAPE = "\x1d"
_ESCAPED = {ESCAPE: f"{ESCAPE}0", EMPTY: f"{ESCAPE}1", SLASH: f"{ESCAPE}2"}
_NAME = re.compile(r"{(\w+)}")
_WRITTEN_SLASH = re.compile("%2f", re.IGNORECASE)


def placeholder_names(path: str) -> tuple[str, ...]:
    """Return the names of the placeholders in a path template."""
    return tuple(_NAME.findall(path))


def fill_path(path: str, names: dict[str, str]) -> str:
    """Return a path template with each placeholder replaced by its encoded name."""
    return _NAME.sub(lambda match: encode_segment(names[match[1]]), path)


def encode_segment(name: str) -> str:
    """Return *name* encoded as one path segment."""
    if name in (".", ".."):
        return name.replace(".", "%2E")  # unescaped, clients resolve them
    # An empty segment would be a different path.
    escaped = "".join(_ESCAPED.get(char, char) for char in name)
    return quote(escaped or EMPTY, safe="", errors="surrogatepass")


def decode_path(raw_path: str) -> str:
    """Return a raw request path decoded, with `%2F` replaced by `SLASH`."""
    return unquote(_WRITTEN_SLASH.sub("%1F", raw_path))


def decode_segment(segment: str) -> str:
    """Return the name that a segment of a decoded path encodes."""
    if segment == EMPTY:
        return ""
    name = segment.replace(SLASH, "/")
    for char in (SLASH, EMPTY, ESCAPE):
        name = name.replace(_ESCAPED[char], char)
    return name
