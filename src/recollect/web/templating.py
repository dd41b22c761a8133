"""
Render templates. Text of the store is hostile: it is escaped, and what is invisible is shown.

`visible` and `shorten` return text; Jinja2 escapes it. No template turns stored text into markup.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from recollect.text.visible_text import visible

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
MEDIA_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
MAX_SHOWN = 20_000  # characters of one text on a page


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a template filled with *values*."""
    return _environment().get_template(template).render(values)


@cache
def static_file(name: str) -> tuple[bytes, str] | None:
    """Return the content and the media type of a script or style sheet, or None."""
    path = FOLDER / "static" / name
    if path.parent != FOLDER / "static" or path.suffix not in MEDIA_TYPES or not path.is_file():
        return None
    return path.read_bytes(), MEDIA_TYPES[path.suffix]


def static_url(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    content = static_file(name)
    digest = hashlib.sha256(content[0]).hexdigest()[:12] if content else ""
    return f"/ui/static/{name}?v={digest}"


def visible_text(text: object, limit: int = MAX_SHOWN) -> str:
    """Return *text* with its invisible characters shown, cut at *limit* characters."""
    whole = str(text)
    shortened = whole if len(whole) <= limit else f"{whole[:limit]}… ({len(whole):,} characters)"
    return visible(shortened)


def shorten(text: object, limit: int = 160) -> str:
    """Return *text* on one line of at most *limit* characters, invisible characters shown."""
    line = " ".join(str(text)[: limit * 4].split())
    return visible(line if len(line) <= limit else line[: limit - 1] + "…")


def moment(value: datetime | None) -> str:
    """Return a time in UTC to the minute, '' for None; a script shows it in the local time."""
    return "" if value is None else f"{day(value)}, {value:%H:%M}"


def day(value: datetime) -> str:
    """Return a date for people: 5 Nov 2026."""
    return f"{value.day} {value:%b %Y}"


def size(number: int) -> str:
    """Return a number of bytes for people."""
    amount = float(number)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1_000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1_000
    return f"{amount:.1f} GB"


def words(value: object) -> str:
    """Return the name of an enum member or field as words: `task_hint` is `task hint`."""
    return str(value).replace("_", " ")


@cache
def _environment() -> "Environment":
    # Imported here: a server whose pages nobody opens does not load it.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "visible": visible_text,
        "shorten": shorten,
        "moment": moment,
        "day": day,
        "size": size,
        "words": words,
        "segment": lambda text: quote(str(text), safe=""),
    }
    environment.globals |= {"static": static_url}
    return environment
