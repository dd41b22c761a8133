"""
Change one member of a JSON text and leave every other character alone.

`put` sets a member, `append` adds an element, `drop` takes one out; each gives the new text.
Dropping what was put gives the text from before, byte for byte, with one exception: the blank
inside of an empty `{ }` cannot be seen afterwards. So `put` and `append` tell of it
(`Made.insides`), and of the objects and arrays they had to make, for `tidy` to take away again.

Every edit is checked: the new text must read as the value that was meant, or nothing is given.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.setup.jsonc import (
    Malformed,
    Member,
    Node,
    Path,
    at,
    blank_from,
    comments_in,
    is_blank,
    member_at,
    scan,
    value_of,
)

_NEWLINE = re.compile(r"\r\n|\n")
_INDENT = re.compile(r"[ \t]*")


@dataclass(frozen=True)
class Made:
    """What an edit made on its way: containers that were not there, and what empty ones held."""

    containers: frozenset[Path] = frozenset()
    insides: Mapping[Path, str] = field(default_factory=dict)
    blank: str | None = None  # the whole text, where there was nothing in it

    def __or__(self, other: "Made") -> "Made":
        insides = {**other.insides, **self.insides}
        blank = other.blank if self.blank is None else self.blank
        return Made(self.containers | other.containers, insides, blank)


@dataclass(frozen=True)
class _Style:
    """How a text is written."""

    newline: str
    indent: str
    one_line: bool  # nothing is broken into lines
    tight: bool  # and there is no blank after a colon


def put(text: str, path: Path, value: Any) -> tuple[str, Made]:
    """Return *text* with *value* at *path*, whose last step is a key; objects above are made."""
    root = scan(text) if not is_blank(text) else None
    present = None if root is None else at(root, path)
    if root is None or present is None:
        return _add(text, root, path[:-1], path[-1], value)
    style = _style_of(text, root)
    parent = at(root, path[:-1])
    written = _written(
        value, style, _line_indent(text, present.start), _inline(text, parent, style)
    )
    new = text[: present.start] + written + text[present.end :]
    return _checked(new, _with(value_of(root), path, value)), Made()


def append(text: str, path: Path, value: Any) -> tuple[str, Made]:
    """Return *text* with *value* as the last element of the array at *path*, made where missing."""
    root = scan(text) if not is_blank(text) else None
    if root is None or at(root, path) is None:
        new, made = _add(text, root, path[:-1], path[-1], [value])
        return new, made | Made(frozenset({path}))
    return _add(text, root, path, None, value)


def drop(text: str, path: Path) -> str:
    """Return *text* without the member or element at *path*, which must be there."""
    root = scan(text)
    parent = at(root, path[:-1])
    member = None if parent is None else member_at(parent, path[-1])
    if parent is None or member is None:
        raise Malformed(f"there is nothing at {shown_path(path)}")
    expected = _without(value_of(root), path)
    for keep_blank in (False, True):  # a line comment before it may need the line break
        try:
            return _checked(_cut(text, parent, member, keep_blank=keep_blank), expected)
        except Malformed as error:
            failed = error
    raise failed


def tidy(text: str, containers: list[Path], made: Made | None) -> str:
    """
    Return *text* without those of *containers* that are empty and were made for us.

    Without a record (*made* is None) the empty ones go: who keeps an empty list beside a server of
    ours is not known, and an empty list says nothing.
    """
    for path in sorted(set(containers), key=len, reverse=True):
        node = at(scan(text), path)
        if node is None or node.kind == "scalar" or not _is_empty(text, node):
            continue
        if path and (made is None or path in made.containers):
            text = drop(text, path)
        elif made is not None and path in made.insides:
            inside = made.insides[path]
            text = text[: node.start + 1] + inside + text[node.end - 1 :]
    return text


def shown_path(path: Path) -> str:
    """Return a path as people write it."""
    return ".".join(str(step) for step in path) or "the top"


def _add(
    text: str, root: Node | None, path: Path, key: str | int | None, value: Any
) -> tuple[str, Made]:
    """Add a member below *path*, together with the objects on the way that are not there."""
    if root is None:
        for step in (key, *reversed(path)):
            value = {step: value}
        start = "\ufeff" if text.startswith("\ufeff") else ""
        missing = frozenset(path[:length] for length in range(1, len(path) + 1))
        new = f"{start}{json.dumps(value, indent=2, ensure_ascii=False)}\n"
        return _checked(new, value), Made(missing, blank=text)
    have = 0
    parent = root
    for have in range(len(path) + 1):
        found = at(root, path[:have])
        if found is None:
            have -= 1
            break
        parent = found
    wanted = "object" if key is not None or have < len(path) else "array"
    if parent.kind != wanted:
        raise Malformed(f"{shown_path(path[:have])} is no {wanted}")
    expected = _with(value_of(root), (*path, key), value)
    steps = [*path[have:], key]
    for step in reversed(steps[1:]):
        value = {step: value}
    missing = frozenset(path[:length] for length in range(have + 1, len(path) + 1))
    inside = text[parent.start + 1 : parent.end - 1]
    new = _insert(text, parent, steps[0], value, _style_of(text, root))
    only_blank = not parent.members and inside and not inside.strip()
    return _checked(new, expected), Made(missing, {path[:have]: inside} if only_blank else {})


def _insert(text: str, parent: Node, key: str | int | None, value: Any, style: _Style) -> str:
    """Return *text* with one more member at the end of *parent*."""
    closer = parent.end - 1
    place = max(blank_from(text, closer), parent.start + 1)
    tail = text[place:closer]
    base = _line_indent(text, parent.start)
    last = parent.members[-1] if parent.members else None
    if last is None:
        inline = style.one_line if place == parent.start + 1 else not _NEWLINE.search(tail)
        indent = base + style.indent
    else:
        inline = _inline(text, parent, style)
        indent = _line_indent(text, last.start) if not inline else base
    begin = ("" if style.tight else " ") if inline else style.newline + indent
    name = (
        "" if key is None else json.dumps(key, ensure_ascii=False) + (":" if style.tight else ": ")
    )
    written = name + _written(value, style, indent, inline)
    if last is None and place == parent.start + 1:  # nothing but blank inside
        around = ("", "") if inline else (begin, style.newline + base)
        return text[:place] + around[0] + written + around[1] + text[closer:]
    if last is None or last.comma is not None:
        ending = "," if last is not None else ""
        return text[:place] + begin + written + ending + text[place:]
    return text[: last.end] + "," + text[last.end : place] + begin + written + text[place:]


def _cut(text: str, parent: Node, member: Member, *, keep_blank: bool) -> str:
    """Return *text* without *member* and the one comma that went with it."""
    begin = member.start if keep_blank else blank_from(text, member.start)
    cuts = [(begin, member.end)]
    place = parent.members.index(member)
    if member.comma is not None:
        cuts.append((member.comma, member.comma + 1))
    elif place > 0 and (before := parent.members[place - 1].comma) is not None:
        cuts.append((before, before + 1))
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    if len(parent.members) > 1:
        return text
    closer = parent.end - 1 - sum(end - start for start, end in cuts)
    inside = text[parent.start + 1 : closer]
    return text if inside.strip() else text[: parent.start + 1] + text[closer:]


def _inline(text: str, parent: Node | None, style: _Style) -> bool:
    """Return whether the members of *parent* stand on one line, so that a new one should."""
    if parent is None or not parent.members:
        return style.one_line
    last = parent.members[-1]
    after = text[last.end : parent.end - 1]
    if any(comment.group().startswith("//") for comment in comments_in(after)):
        return False
    line = text.rfind("\n", 0, last.start) + 1
    return line <= parent.start or bool(text[line : last.start].strip())


def _written(value: Any, style: _Style, indent: str, inline: bool) -> str:
    if inline:
        between = (",", ":") if style.tight else (", ", ": ")
        return json.dumps(value, ensure_ascii=False, separators=between)
    lines = json.dumps(value, ensure_ascii=False, indent=style.indent).split("\n")
    return f"{style.newline}{indent}".join(lines)


def _style_of(text: str, root: Node) -> _Style:
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
    return _Style(newline.group() if newline else "\n", indent, one_line, tight)


def _line_indent(text: str, place: int) -> str:
    """Return the blank at the start of the line on which *place* is."""
    start = text.rfind("\n", 0, place) + 1
    if text.startswith("\ufeff") and start == 0:
        start = 1
    found = _INDENT.match(text, start, place)
    return found.group() if found else ""


def _is_empty(text: str, node: Node) -> bool:
    return not node.members and not text[node.start + 1 : node.end - 1].strip()


def _checked(text: str, expected: Any) -> str:
    if value_of(scan(text)) != expected:
        raise Malformed("the change cannot be made without touching something else")
    return text


def _with(value: Any, path: tuple[str | int | None, ...], new: Any) -> Any:
    if not path:
        return new
    step, rest = path[0], path[1:]
    if step is None:
        return [*value, new]
    if isinstance(step, int):
        return [_with(one, rest, new) if place == step else one for place, one in enumerate(value)]
    if rest == (None,) and step not in value:
        return {**value, step: [new]}
    return {**value, step: _with(value.get(step, {}), rest, new)}


def _without(value: Any, path: Path) -> Any:
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not rest:
            return [one for place, one in enumerate(value) if place != step]
        return [_without(one, rest) if place == step else one for place, one in enumerate(value)]
    if not rest:
        return {key: one for key, one in value.items() if key != step}
    return {**value, step: _without(value[step], rest)}
