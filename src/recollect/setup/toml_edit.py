"""
Add a table to the end of a TOML text, change it, and remove it again.

The added block is a comment, a header and its lines; it ends at the next header. No comment marks
its end, because programs that write TOML would insert new tables before that comment, inside the
block. Every result is parsed with `tomllib` and compared with the expected value.

A program may add tables below ours (`[mcp_servers.recollect.tools.search]`): they are removed too.
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from recollect.lazy_dataclass import dataclass

_HEADER = re.compile(r"[ \t]*\[\[?(?P<name>[^\]#]+)\]\]?[ \t]*(?:#.*)?$")
_PART = re.compile(
    r"""\s*(?:"(?P<double>[^"\\]*)"|'(?P<single>[^']*)'|(?P<bare>[\w-]+))\s*(?:\.|$)"""
)
# Strings and comments. Three quotes are tried first. The text is known to be valid TOML.
_OPAQUE = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'|#[^\n]*''', re.DOTALL
)

TableName = tuple[str, ...]


class MalformedToml(ValueError):
    """The text is not TOML, or the table cannot be edited in it."""


@dataclass(frozen=True)
class _TableLines:
    """The line numbers of one table: from its header to the next one."""

    name: TableName
    first: int
    end: int


def read_table(text: str, name: TableName) -> Mapping[str, Any] | None:
    """Return the table *name*, None if there is none."""
    value: Any = _parse(text)
    for step in name:
        if not isinstance(value, dict) or step not in value:
            return None
        value = value[step]
    if not isinstance(value, dict):
        raise MalformedToml(f"{'.'.join(name)} is not a table")
    return value


def add_table(
    text: str, name: TableName, values: Mapping[str, str | list[str]], *, comment: str
) -> str:
    """Return *text* with a new table at its end; keep whether it ends with a line break."""
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join([f"# {comment}", f"[{'.'.join(name)}]", *_render_lines(values)])
    if not text.removeprefix("\ufeff"):
        new = f"{text}{block}{newline}"
    elif text.endswith("\n"):
        new = f"{text}{newline}{block}{newline}"
    else:
        new = f"{text}{newline}{newline}{block}"
    return _verify(new, _value_with(_parse(text), name, dict(values)))


def set_values(text: str, name: TableName, values: Mapping[str, str | list[str]]) -> str:
    """Return *text* with new values in the table; other keys are unchanged."""
    lines = text.splitlines(keepends=True)
    table = next((table for table in _tables(lines) if table.name == name), None)
    if table is None:
        raise MalformedToml(f"[{'.'.join(name)}] is not written as a separate table")
    for key, new_line in zip(values, _render_lines(values), strict=True):
        pattern = re.compile(rf"[ \t]*{re.escape(key)}[ \t]*=")
        inside = range(table.first + 1, table.end)
        number = next((number for number in inside if pattern.match(lines[number])), None)
        if number is not None:
            lines[number] = new_line + _line_ending(lines[number])
        else:
            header, ending = lines[table.first].rstrip("\r\n"), _line_ending(lines[table.first])
            lines[table.first] = f"{header}{ending}{new_line}{ending}"
    return _verify("".join(lines), _value_with(_parse(text), name, dict(values)))


def remove_table(text: str, name: TableName, *, comment: str) -> str:
    """Return *text* without the table, its subtables, and the comment above it."""
    lines = text.splitlines(keepends=True)
    for table in reversed(_tables(lines)):
        if table.name[: len(name)] != name:
            continue
        first, end = table.first, table.end
        if first and lines[first - 1].removeprefix("\ufeff").strip() == f"# {comment}":
            first -= 1
        at_end_without_break = end == len(lines) and not lines[-1].endswith("\n")
        if first and not lines[first - 1].strip():
            first -= 1  # the blank line that `add_table` wrote
        start = "\ufeff" if first == 0 and text.startswith("\ufeff") else ""
        lines[first:end] = [start] if start else []
        if at_end_without_break and lines:
            lines[-1] = lines[-1].rstrip("\r\n")
    new = "".join(lines)
    before, after = _value_without(_parse(text), name), _value_without(_parse(new), name)
    if after != before or read_table(new, name) is not None:
        raise MalformedToml(f"[{'.'.join(name)}] is not written as a separate table")
    return new


def _tables(lines: list[str]) -> list[_TableLines]:
    """Return the tables in order; comments above a header belong to its table."""
    spans = [match.span() for match in _OPAQUE.finditer("".join(lines))]
    headers: list[tuple[TableName, int]] = []
    start = 0
    for position, line in enumerate(lines):
        match = _HEADER.match(line.removeprefix("\ufeff").rstrip("\r\n"))
        if match and not any(begin < start < end for begin, end in spans):
            headers.append((_parse_table_name(match["name"]), position))
        start += len(line)
    ends = [position for _, position in headers[1:]] + [len(lines)]
    tables = []
    for (name, first), limit in zip(headers, ends, strict=False):
        end = limit
        while end > first + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip()[0] == "#"):
            end -= 1
        tables.append(_TableLines(name, first, end))
    return tables


def _parse_table_name(header: str) -> TableName:
    parts, position = [], 0
    while position < len(header) and (match := _PART.match(header, position)):
        parts.append(match["double"] or match["single"] or match["bare"] or "")
        position = match.end()
    return tuple(parts) if position >= len(header) else (header,)


def _render_lines(values: Mapping[str, str | list[str]]) -> list[str]:
    return [f"{key} = {_literal(value)}" for key, value in values.items()]


def _literal(value: str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    escaped = "".join(
        f"\\u{ord(char):04x}" if char < " " or char == "\x7f" else char
        for char in value.replace("\\", "\\\\").replace('"', '\\"')
    )
    return f'"{escaped}"'


def _line_ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n" if line.endswith("\n") else ""


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise MalformedToml(str(error)) from error


def _verify(text: str, expected: Any) -> str:
    if _parse(text) != expected:
        raise MalformedToml("the change would alter other settings")
    return text


def _value_with(value: Any, name: TableName, values: dict[str, Any]) -> dict[str, Any]:
    inner = value.get(name[0], {})
    if not isinstance(inner, dict):
        raise MalformedToml(f"{name[0]} is not a table")
    if len(name) > 1:
        return {**value, name[0]: _value_with(inner, name[1:], values)}
    return {**value, name[0]: {**inner, **values}}


def _value_without(value: Any, name: TableName) -> dict[str, Any]:
    """Return *value* without the table *name* and tables that become empty."""
    rest = {key: inner for key, inner in value.items() if key != name[0]}
    if len(name) == 1 or name[0] not in value:
        return rest
    inner = _value_without(value[name[0]], name[1:])
    return {**value, name[0]: inner} if inner else rest
