"""
Change one member of a JSONC text and leave every other character unchanged.

`put` sets a member, `append` adds an element, `delete` removes item; each returns the new text.
Deleting a member that was put restores the text byte for byte, except for the white space inside
an empty `{ }`. So `put` and `append` return that white space (`CreatedParts.original_insides`) and
the objects and arrays they created, so that `remove_empty` can undo them.

Every edit is verified: the new text must parse to the expected value, or `MalformedJson` is raised.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.setup import jsonc_parser as jsonc

_NEWLINE = re.compile(r"\r\n|\n")
_INDENT = re.compile(r"[ \t]*")


@dataclass(frozen=True)
class CreatedParts:
    """What an edit created: new containers, and the white space inside formerly empty ones."""

    containers: frozenset[jsonc.JsonPath] = frozenset()
    original_insides: Mapping[jsonc.JsonPath, str] = field(default_factory=dict)
    original_blank_text: str | None = None  # the whole text, if it had no value

    def __or__(self, other: "CreatedParts") -> "CreatedParts":
        insides = {**other.original_insides, **self.original_insides}
        blank = self.original_blank_text
        if blank is None:
            blank = other.original_blank_text
        return CreatedParts(self.containers | other.containers, insides, blank)


@dataclass(frozen=True)
class _JsonStyle:
    """The formatting of a text."""

    newline: str
    indent: str
    one_line: bool  # without line breaks
    tight: bool  # on one line and without spaces after colons


def put(text: str, path: jsonc.JsonPath, value: Any) -> tuple[str, CreatedParts]:
    """Return *text* with *value* at *path*, which ends in a key; create missing objects."""
    root = jsonc.scan(text) if not jsonc.is_blank(text) else None
    present = None if root is None else jsonc.node_at(root, path)
    if root is None or present is None:
        return _add(text, root, path[:-1], path[-1], value)
    style = _style_of(text, root)
    parent = jsonc.node_at(root, path[:-1])
    indent, inline = _line_indent(text, present.start), _is_inline(text, parent, style)
    written = _render(value, style, indent, inline)
    new = text[: present.start] + written + text[present.end :]
    return _verify(new, _value_with(jsonc.value_of(root), path, value)), CreatedParts()


def append(text: str, path: jsonc.JsonPath, value: Any) -> tuple[str, CreatedParts]:
    """Return *text* with *value* appended to the array at *path*; create a missing array."""
    root = jsonc.scan(text) if not jsonc.is_blank(text) else None
    if root is None or jsonc.node_at(root, path) is None:
        new, created = _add(text, root, path[:-1], path[-1], [value])
        return new, created | CreatedParts(frozenset({path}))
    return _add(text, root, path, None, value)


def delete(text: str, path: jsonc.JsonPath) -> str:
    """Return *text* without the member or element at *path*, which must exist."""
    root = jsonc.scan(text)
    parent = jsonc.node_at(root, path[:-1])
    member = None if parent is None else jsonc.member_at(parent, path[-1])
    if parent is None or member is None:
        raise jsonc.MalformedJson(f"there is no value at {format_path(path)}")
    expected = _value_without(jsonc.value_of(root), path)
    for keep_blank in (False, True):  # a line comment before it may need its line break
        try:
            return _verify(_delete_member(text, parent, member, keep_blank=keep_blank), expected)
        except jsonc.MalformedJson as error:
            failed = error
    raise failed


def remove_empty(text: str, containers: list[jsonc.JsonPath], created: CreatedParts | None) -> str:
    """
    Return *text* without those of *containers* that are empty and that setup created.

    Without a record (*created* is None) all empty ones are removed: it is unknown who created them,
    and an empty container has no effect.
    """
    for path in sorted(set(containers), key=len, reverse=True):
        node = jsonc.node_at(jsonc.scan(text), path)
        if node is None or node.kind == "scalar" or not _is_empty(text, node):
            continue
        if path and (created is None or path in created.containers):
            text = delete(text, path)
        elif created is not None and path in created.original_insides:
            inside = created.original_insides[path]
            text = text[: node.start + 1] + inside + text[node.end - 1 :]
    return text


def format_path(path: jsonc.JsonPath) -> str:
    """Return *path* with dots between the steps."""
    return ".".join(str(step) for step in path) or "the top"


def _add(
    text: str, root: jsonc.JsonNode | None, path: jsonc.JsonPath, key: str | int | None, value: Any
) -> tuple[str, CreatedParts]:
    """Add a member below *path*, and create the missing objects above it."""
    if root is None:
        for step in (key, *reversed(path)):
            value = {step: value}
        start = "\ufeff" if text.startswith("\ufeff") else ""
        missing = frozenset(path[:length] for length in range(1, len(path) + 1))
        new = f"{start}{json.dumps(value, indent=2, ensure_ascii=False)}\n"
        return _verify(new, value), CreatedParts(missing, original_blank_text=text)
    depth = 0
    parent = root
    for depth in range(len(path) + 1):
        node = jsonc.node_at(root, path[:depth])
        if node is None:
            depth -= 1
            break
        parent = node
    expected_kind = "object" if key is not None or depth < len(path) else "array"
    if parent.kind != expected_kind:
        raise jsonc.MalformedJson(f"{format_path(path[:depth])} is not an {expected_kind}")
    expected = _value_with(jsonc.value_of(root), (*path, key), value)
    steps = [*path[depth:], key]
    for step in reversed(steps[1:]):
        value = {step: value}
    missing = frozenset(path[:length] for length in range(depth + 1, len(path) + 1))
    inside = text[parent.start + 1 : parent.end - 1]
    new = _insert(text, parent, steps[0], value, _style_of(text, root))
    only_blank = not parent.members and inside and not inside.strip()
    insides = {path[:depth]: inside} if only_blank else {}
    return _verify(new, expected), CreatedParts(missing, insides)


def _insert(
    text: str, parent: jsonc.JsonNode, key: str | int | None, value: Any, style: _JsonStyle
) -> str:
    """Return *text* with one more member at the end of *parent*."""
    closer = parent.end - 1
    position = max(jsonc.whitespace_start(text, closer), parent.start + 1)
    tail = text[position:closer]
    base = _line_indent(text, parent.start)
    last = parent.members[-1] if parent.members else None
    if last is None:
        inline = style.one_line if position == parent.start + 1 else not _NEWLINE.search(tail)
        indent = base + style.indent
    else:
        inline = _is_inline(text, parent, style)
        indent = _line_indent(text, last.start) if not inline else base
    begin = ("" if style.tight else " ") if inline else style.newline + indent
    colon = ":" if style.tight else ": "
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + colon
    written = name + _render(value, style, indent, inline)
    if last is None and position == parent.start + 1:  # only white space inside
        around = ("", "") if inline else (begin, style.newline + base)
        return text[:position] + around[0] + written + around[1] + text[closer:]
    if last is None or last.comma is not None:
        ending = "," if last is not None else ""
        return text[:position] + begin + written + ending + text[position:]
    return text[: last.end] + "," + text[last.end : position] + begin + written + text[position:]


def _delete_member(
    text: str, parent: jsonc.JsonNode, member: jsonc.JsonMember, *, keep_blank: bool
) -> str:
    """Return *text* without *member* and its comma."""
    begin = member.start if keep_blank else jsonc.whitespace_start(text, member.start)
    cuts = [(begin, member.end)]
    position = parent.members.index(member)
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
    elif position > 0 and (before := parent.members[position - 1].comma) is not None:
        cuts.append((before, before + 1))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    if len(parent.members) > 1:
        return text
    closer = parent.end - 1 - sum(end - start for start, end in cuts)
    inside = text[parent.start + 1 : closer]
    return text if inside.strip() else text[: parent.start + 1] + text[closer:]


def _is_inline(text: str, parent: jsonc.JsonNode | None, style: _JsonStyle) -> bool:
    """Return whether the members of *parent* are on one line, as a new one should be."""
    if parent is None or not parent.members:
        return style.one_line
    last = parent.members[-1]
    after = text[last.end : parent.end - 1]
    if any(comment.group().startswith("//") for comment in jsonc.comments_in(after)):
        return False
    line = text.rfind("\n", 0, last.start) + 1
    return line <= parent.start or bool(text[line : last.start].strip())


def _render(value: Any, style: _JsonStyle, indent: str, inline: bool) -> str:
    if inline:
        between = (",", ":") if style.tight else (", ", ": ")
        return json.dumps(value, ensure_ascii=False, separators=between)
    lines = json.dumps(value, ensure_ascii=False, indent=style.indent).split("\n")
    return f"{style.newline}{indent}".join(lines)


def _style_of(text: str, root: jsonc.JsonNode) -> _JsonStyle:
    newline = _NEWLINE.search(text)
    indent = "  "
    if root.members:
        own = _line_indent(text, root.members[0].start)
        outer = _line_indent(text, root.start)
        if len(own) > len(outer) and own.startswith(outer):
            indent = own[len(outer) :]
    inner = text[root.start : root.end]
    one_line = bool(root.members) and not _NEWLINE.search(inner)
    tight = one_line and not re.search(r"[:,]\s", inner)
    return _JsonStyle(newline.group() if newline else "\n", indent, one_line, tight)


def _line_indent(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    if text.startswith("\ufeff") and start == 0:
        start = 1
    match = _INDENT.match(text, start, position)
    return match.group() if match else ""


def _is_empty(text: str, node: jsonc.JsonNode) -> bool:
    return not node.members and not text[node.start + 1 : node.end - 1].strip()


def _verify(text: str, expected: Any) -> str:
    if jsonc.value_of(jsonc.scan(text)) != expected:
        raise jsonc.MalformedJson("the change would alter other settings")
    return text


def _value_with(value: Any, path: tuple[str | int | None, ...], new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if step is None:
        return [*value, new]
    if isinstance(step, int):
        return [*value[:step], _value_with(value[step], rest, new), *value[step + 1 :]]
    if rest == (None,) and step not in value:
        return {**value, step: [new]}
    return {**value, step: _value_with(value.get(step, {}), rest, new)}


def _value_without(value: Any, path: jsonc.JsonPath) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not rest:
            return [*value[:step], *value[step + 1 :]]
        return [*value[:step], _value_without(value[step], rest), *value[step + 1 :]]
    if not rest:
        return {key: item for key, item in value.items() if key != step}
    return {**value, step: _value_without(value[step], rest)}
