"""Download a list as JSON or CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from starlette.responses import Response

from recollect.web.page import PageRequest
from recollect.web.page_guard import SECURITY_HEADERS

FORMATS = {"json": "application/json", "csv": "text/csv; charset=utf-8"}
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def download(request: PageRequest, name: str, items: Sequence[Any]) -> Response | None:
    """Return *items* as the file that the request asks for, or None if it asks for a page."""
    form = request.query("format")
    if form not in FORMATS:
        return None
    rows = [_plain(item) for item in items]
    text = json.dumps(rows, ensure_ascii=False, indent=1) if form == "json" else _csv(rows)
    headers = {
        **SECURITY_HEADERS,
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="recollect-{name}.{form}"',
    }
    return Response(text, headers=headers, media_type=FORMATS[form])


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    output = io.StringIO()
    writer = csv.writer(output)
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow([_cell(value) for value in row.values()])
    return output.getvalue()


def _cell(value: Any) -> Any:
    """Return the text of a cell. A spreadsheet would run a text that starts like a formula."""
    if value is None or isinstance(value, int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple() | frozenset():
            return [_plain(item) for item in value]
    return value
