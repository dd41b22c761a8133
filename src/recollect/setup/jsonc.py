"""
Read JSON as people write it, and remember where everything stands.

Settings files of editors have comments, trailing commas and a byte order mark. `scan` reads all of
that and gives a tree whose nodes know their place in the text, so that `jsonc_edit` can change one
member and leave every other character alone. This file knows nothing of clients or of disks.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

DEEPEST = 200  # far below Python's own limit; no settings are nested like that

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.])"
)

Path = tuple[str | int, ...]


class Malformed(ValueError):
    """The text is not JSON, even with comments and trailing commas allowed."""


class Member(NamedTuple):  # there are hundred thousands of them in a large file
    """A member of an object, or an element of an array, which has no key."""

    key: str | None
    start: int  # where its key begins, or its value
    node: "Node"
    comma: int | None  # where the comma after it stands

    @property
    def end(self) -> int:
        """Where its value ends."""
        return self.node.end


class Node(NamedTuple):
    """A value and its place: `text[start:end]`."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    members: tuple[Member, ...] = ()
    scalar: Any = None


@lru_cache(maxsize=4)  # one change asks about the same text several times
def scan(text: str) -> Node:
    """Return the tree of *text*, or raise `Malformed` with the line and what is wrong there."""
    reader = _Reader(text)
    start = 1 if text.startswith("\ufeff") else 0
    node = reader.value(reader.after_trivia(start), depth=0)
    rest = reader.after_trivia(node.end)
    if rest != len(text):
        raise reader.malformed(rest, "there is something after the end")
    return node


def is_blank(text: str) -> bool:
    """Return whether there is nothing in *text* at all: no value, no comment."""
    return not text.removeprefix("\ufeff").strip(" \t\r\n")


def blank_from(text: str, at: int) -> int:
    """Return where the white space that ends at *at* begins."""
    while at > 0 and text[at - 1] in " \t\r\n":
        at -= 1
    return at


def value_of(node: Node) -> Any:
    """Return the value of *node*; of two members of one name the last counts, as everywhere."""
    if node.kind == "object":
        return {member.key: value_of(member.node) for member in node.members}
    if node.kind == "array":
        return [value_of(member.node) for member in node.members]
    return node.scalar


def at(node: Node, path: Path) -> Node | None:
    """Return the node at *path* below *node*, None where there is none."""
    for step in path:
        member = member_at(node, step)
        if member is None:
            return None
        node = member.node
    return node


def member_at(node: Node, step: str | int) -> Member | None:
    """Return one member of an object by its key, or of an array by its place."""
    if node.kind == "object":
        named = [member for member in node.members if member.key == step]
        if len(named) > 1:
            raise Malformed(f"the key {step!r} is there twice; keep one of them")
        return named[0] if named else None
    if node.kind == "array" and isinstance(step, int) and 0 <= step < len(node.members):
        return node.members[step]
    return None


def comments_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the comments of *text*, which is nothing but white space, comments and commas."""
    yield from re.finditer(r"//[^\r\n]*|/\*.*?\*/", text, re.DOTALL)


class _Reader:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def value(self, at: int, *, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.malformed(at, "it is nested too deeply")
        opener = self.text[at : at + 1]
        if opener == "{":
            return self._container(at, "object", "}", depth)
        if opener == "[":
            return self._container(at, "array", "]", depth)
        if opener == '"':
            end, string = self._string(at)
            return Node("scalar", at, end, scalar=string)
        found = _SCALAR.match(self.text, at)
        if found is None:
            raise self.malformed(at, "a value is missing")
        try:
            return Node("scalar", at, found.end(), scalar=json.loads(found.group()))
        except ValueError as error:  # a number of thousands of digits
            raise self.malformed(at, str(error)) from error

    def after_trivia(self, at: int) -> int:
        found = _TRIVIA.match(self.text, at)
        return found.end() if found else at

    def malformed(self, at: int, what: str) -> Malformed:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return Malformed(f"line {line}, column {column}: {what}")

    def _container(
        self, start: int, kind: Literal["object", "array"], closer: str, depth: int
    ) -> Node:
        members: list[Member] = []
        at = self.after_trivia(start + 1)
        while self.text[at : at + 1] != closer:
            if members and members[-1].comma is None:
                raise self.malformed(at, f"a comma or {closer!r} is missing")
            begun, key = at, None
            if kind == "object":
                at, key = self._string(at)
                at = self.after_trivia(at)
                if self.text[at : at + 1] != ":":
                    raise self.malformed(at, "a colon is missing after the key")
                at = self.after_trivia(at + 1)
            node = self.value(at, depth=depth + 1)
            at = self.after_trivia(node.end)
            comma = at if self.text[at : at + 1] == "," else None
            members.append(Member(key, begun, node, comma))
            if comma is not None:
                at = self.after_trivia(comma + 1)
        return Node(kind, start, at + 1, tuple(members))

    def _string(self, at: int) -> tuple[int, str]:
        found = _STRING.match(self.text, at)
        if found is None:
            raise self.malformed(at, 'a string in "double quotes" is missing or not closed')
        try:
            return found.end(), str(json.loads(found.group()))
        except ValueError as error:
            raise self.malformed(at, f"the string is not JSON: {error}") from error
