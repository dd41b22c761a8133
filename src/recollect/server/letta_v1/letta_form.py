"""Read a form that a client uploads: `multipart/form-data`, whole in memory."""

import re

from recollect.errors import InvalidInput

_BOUNDARY = re.compile(r'boundary="?([^";,]+)"?', re.IGNORECASE)
_NAME = re.compile(r'\bname="([^"]*)"')


def form_parts(content_type: str, body: bytes) -> dict[str, bytes]:
    """Return the parts of a form by their names."""
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise InvalidInput("the form has no boundary in its Content-Type")
    parts: dict[str, bytes] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode("latin-1"))[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = _NAME.search(head.decode("utf-8", errors="replace"))
        if name is not None:
            parts[name[1]] = content
    return parts
