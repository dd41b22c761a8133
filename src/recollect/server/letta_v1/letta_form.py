"""
Read a form that a client uploads: `multipart/form-data`, whole in memory.

Starlette reads forms with a package that this program does not require, and one route needs one.
"""

import re

from recollect.errors import InvalidInput

_BOUNDARY = re.compile(r'boundary=(?:"([^"]+)"|([^\s";,]+))', re.IGNORECASE)
_NAME = re.compile(r'\bname=(?:"([^"]*)"|([^\s";]+))', re.IGNORECASE)


def form_parts(content_type: str, body: bytes) -> dict[str, bytes]:
    """Return the parts of a form by their names."""
    boundary_match = _BOUNDARY.search(content_type)
    if boundary_match is None:
        raise InvalidInput("the form has no boundary in its Content-Type")
    boundary = re.escape((boundary_match[1] or boundary_match[2]).encode("latin-1"))
    # A whole line: a boundary may be the beginning of a line of the content.
    delimiter = re.compile(rb"\r\n--" + boundary + rb"(--)?[ \t]*(?=\r\n|\Z)")
    body = b"\r\n" + body
    parts: dict[str, bytes] = {}
    start: int | None = None  # of the current part
    for line in delimiter.finditer(body):
        if start is not None:
            head, _, content = body[start : line.start()].partition(b"\r\n\r\n")
            name = _NAME.search(head.decode("utf-8", errors="replace"))
            if name is not None:
                parts[name[1] if name[1] is not None else name[2]] = content
        if line[1]:
            return parts
        start = line.end()
    raise InvalidInput("the form has no closing boundary, so its file is incomplete: send it again")
