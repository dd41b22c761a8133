"""
Add one table to a TOML text as a block at its end, and take it out again.

The block is a line of comment, a header and its lines; it ends where the next header begins. There
is no line that marks its end: programs that write TOML put new tables before such a comment, and so
into the block. Every result is read with `tomllib`, and must say what was meant.

A program may add tables below ours (`[mcp_servers.recollect.tools.search]`): they go with it.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_HEADER = re.compile(r"[ \t]*\[\[?(?P<name>[^\]#]+)\]\]?[ \t]*(?:#.*)?$")
_PART = re.compile(
    r"""\s*(?:"(?P<double>[^"\\]*)"|'(?P<single>[^']*)'|(?P<bare>[\w-]+))\s*(?:\.|$)"""
)
# Strings and comments. The alternatives for three quotes come first; the text is TOML already.
_OPAQUE = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'|#[^\n]*''', re.DOTALL
)

Name = tuple[str, ...]


class Malformed(ValueError):
    """The text is not TOML, or the block cannot be written into it."""


@dataclass(frozen=True)
class _Table:
    """The lines of one table: from its header to the next one."""

    name: Name
    first: int
    end: int


def read_table(text: str, name: Name) -> Mapping[str, Any] | None:
    """Return the table called *name*, None where there is none."""
    value: Any = _read(text)
    for step in name:
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    if not isinstance(value, dict):
        raise Malformed(f"{'.'.join(name)} is no table")
    return value


def add_table(text: str, name: Name, values: Mapping[str, str | list[str]], *, comment: str) -> str:
    """Return *text* with a new table at its end, and a last line break only if it had one."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([f"# {comment}", f"[{'.'.join(name)}]", *_lines(values)])
    if not text.removeprefix("\ufeff"):
        new = f"{text}{block}{newline}"
    elif text.endswith("\n"):
        new = f"{text}{newline}{block}{newline}"
    else:
        new = f"{text}{newline}{newline}{block}"
    return _checked(new, _with(_read(text), name, dict(values)))


def set_values(text: str, name: Name, values: Mapping[str, str | list[str]]) -> str:
    """Return *text* with other values in the table; lines of other keys stay."""
    lines = text.splitlines(keepends=True)
    table = next((table for table in _tables(lines) if table.name == name), None)
    if table is None:
        raise Malformed(f"[{'.'.join(name)}] is not written as a table of its own")
    for key, written in zip(values, _lines(values), strict=True):
        places = [
            place
            for place in range(table.first + 1, table.end)
            if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", lines[place])
        ]
        ending = _ending(lines[table.first])
        if places:
            lines[places[0]] = written + (_ending(lines[places[0]]))
        else:
            lines[table.first] = (
                f"{lines[table.first].rstrip(chr(13) + chr(10))}{ending}{written}{ending}"
            )
    return _checked("".join(lines), _with(_read(text), name, dict(values)))


def remove_table(text: str, name: Name, *, comment: str) -> str:
    """Return *text* without the table, those below it, and the comment above it."""
    lines = text.splitlines(keepends=True)
    for table in reversed(_tables(lines)):
        if table.name[: len(name)] != name:
            continue
        first, end = table.first, table.end
        if first and lines[first - 1].removeprefix("\ufeff").strip() == f"# {comment}":
            first -= 1
        at_end_without_break = end == len(lines) and not lines[-1].endswith("\n")
        if first and not lines[first - 1].strip():
            first -= 1  # the blank line that was put before it
        start = "\ufeff" if first == 0 and text.startswith("\ufeff") else ""
        lines[first:end] = [start] if start else []
        if at_end_without_break and lines:
            lines[-1] = lines[-1].rstrip("\r\n")
    new = "".join(lines)
    if (
        _without(_read(new), name) != _without(_read(text), name)
        or read_table(new, name) is not None
    ):
        raise Malformed(f"[{'.'.join(name)}] is not written as a table of its own")
    return new


def _tables(lines: list[str]) -> list[_Table]:
    """Return the tables with a header, in order; comments above a header belong to it."""
    spans = [found.span() for found in _OPAQUE.finditer("".join(lines))]
    headers: list[tuple[Name, int]] = []
    start = 0
    for place, line in enumerate(lines):
        found = _HEADER.match(line.removeprefix("\ufeff").rstrip("\r\n"))
        if found and not any(begin < start < end for begin, end in spans):
            headers.append((_parts(found["name"]), place))
        start += len(line)
    ends = [place for _, place in headers[1:]] + [len(lines)]
    tables = []
    for (name, first), limit in zip(headers, ends, strict=False):
        end = limit
        while end > first + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip()[0] == "#"):
            end -= 1
        tables.append(_Table(name, first, end))
    return tables


def _parts(written: str) -> Name:
    parts, place = [], 0
    while place < len(written) and (found := _PART.match(written, place)):
        parts.append(found["double"] or found["single"] or found["bare"] or "")
        place = found.end()
    return tuple(parts) if place >= len(written) else (written,)


def _lines(values: Mapping[str, str | list[str]]) -> list[str]:
    return [f"{key} = {_literal(value)}" for key, value in values.items()]


def _literal(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(one) for one in value)}]"
    escaped = "".join(
        f"\\u{ord(char):04x}" if char < " " or char == "\x7f" else char
        for char in value.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'


def _ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise Malformed(str(error)) from error


def _checked(text: str, expected: Any) -> str:
    if _read(text) != expected:
        raise Malformed("the change cannot be made without touching something else")
    return text


def _with(value: Any, name: Name, values: dict[str, Any]) -> dict[str, Any]:
    inner = value.get(name[0], {})
    if not isinstance(inner, dict):
        raise Malformed(f"{name[0]} is no table")
    if len(name) > 1:
        return {**value, name[0]: _with(inner, name[1:], values)}
    return {**value, name[0]: {**inner, **values}}


def _without(value: Any, name: Name) -> dict[str, Any]:
    """Return *value* without what is called *name*, and without tables that are empty then."""
    rest = {key: inner for key, inner in value.items() if key != name[0]}
    if len(name) == 1 or name[0] not in value:
        return rest
    inner = _without(value[name[0]], name[1:])
    return {**value, name[0]: inner} if inner else rest
