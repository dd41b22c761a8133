"""
Parse JSON with comments (JSONC) and keep the position of every value.

Settings files of editors have comments, trailing commas and a byte order mark. `scan` accepts these
and returns a tree whose nodes have positions in the text, so that `jsonc_edit` can change one
member and leave every other character unchanged.
"""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal, NamedTuple

MAX_DEPTH = 200  # far below Python's recursion limit

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(
    r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.])"
)

JsonPath = tuple[str | int, ...]


class MalformedJson(ValueError):
    """The text is not JSON, even with comments and trailing commas allowed."""


class JsonMember(NamedTuple):  # a tuple, because a large file has hundreds of thousands
    """A member of an object, or an element of an array (then `key` is None)."""

    key: str | None
    start: int  # of the key, or of the value if there is no key
    node: "JsonNode"
    comma: int | None  # position of the comma after it

    @property
    def end(self) -> int:
        """The end of its value."""
        return self.node.end


class JsonNode(NamedTuple):
    """A value and its position: `text[start:end]`."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    members: tuple[JsonMember, ...] = ()
    scalar: Any = None


@lru_cache(maxsize=4)  # one change scans the same text several times
def scan(text: str) -> JsonNode:
    """Return the tree of *text*, or raise `MalformedJson` with the line and the error."""
    reader = _JsoncReader(text)
    start = 1 if text.startswith("\ufeff") else 0
    node = reader.read_value(reader.skip_trivia(start), depth=0)
    rest = reader.skip_trivia(node.end)
    if rest != len(text):
        raise reader.error_at(rest, "unexpected text after the end")
    return node


def is_blank(text: str) -> bool:
    """Return whether *text* has neither a value nor a comment."""
    return not text.removeprefix("\ufeff").strip(" \t\r\n")


def whitespace_start(text: str, at: int) -> int:
    """Return the start of the white space that ends at *at*."""
    while at > 0 and text[at - 1] in " \t\r\n":
        at -= 1
    return at


def value_of(node: JsonNode) -> Any:
    """Return the value of *node*. If a key occurs twice, the last value is used."""
    if node.kind == "object":
        return {member.key: value_of(member.node) for member in node.members}
    if node.kind == "array":
        return [value_of(member.node) for member in node.members]
    return node.scalar


def node_at(node: JsonNode, path: JsonPath) -> JsonNode | None:
    """Return the node at *path* below *node*, None if there is none."""
    for step in path:
        member = member_at(node, step)
        if member is None:
            return None
        node = member.node
    return node


def member_at(node: JsonNode, step: str | int) -> JsonMember | None:
    """Return the member of an object by its key, or of an array by its index."""
    if node.kind == "object":
        members = [member for member in node.members if member.key == step]
        if len(members) > 1:
            raise MalformedJson(f"the key {step!r} occurs twice; remove one of them")
        return members[0] if members else None
    if node.kind == "array" and isinstance(step, int) and 0 <= step < len(node.members):
        return node.members[step]
    return None


def comments_in(text: str) -> Iterator[re.Match[str]]:
    """Yield the comments of *text*, which consists of white space, comments and commas."""
    yield from re.finditer(r"//[^\r\n]*|/\*.*?\*/", text, re.DOTALL)


class _JsoncReader:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def read_value(self, at: int, *, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            raise self.error_at(at, "nested too deeply")
        opener = self.text[at : at + 1]
        if opener == "{":
            return self._read_container(at, "object", "}", depth)
        if opener == "[":
            return self._read_container(at, "array", "]", depth)
        if opener == '"':
            end, string = self._read_string(at)
            return JsonNode("scalar", at, end, scalar=string)
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise self.error_at(at, "a value is missing")
        try:
            return JsonNode("scalar", at, match.end(), scalar=json.loads(match.group()))
        except ValueError as error:  # a number with thousands of digits
            raise self.error_at(at, str(error)) from error

    def skip_trivia(self, at: int) -> int:
        match = _TRIVIA.match(self.text, at)
        return match.end() if match else at

    def error_at(self, at: int, message: str) -> MalformedJson:
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return MalformedJson(f"line {line}, column {column}: {message}")

    def _read_container(
        self, start: int, kind: Literal["object", "array"], closer: str, depth: int
    ) -> JsonNode:
        members: list[JsonMember] = []
        at = self.skip_trivia(start + 1)
        while self.text[at : at + 1] != closer:
            if members and members[-1].comma is None:
                raise self.error_at(at, f"a comma or {closer!r} is missing")
            member_start, key = at, None
            if kind == "object":
                at, key = self._read_string(at)
                at = self.skip_trivia(at)
                if self.text[at : at + 1] != ":":
                    raise self.error_at(at, "a colon is missing after the key")
                at = self.skip_trivia(at + 1)
            node = self.read_value(at, depth=depth + 1)
            at = self.skip_trivia(node.end)
            comma = at if self.text[at : at + 1] == "," else None
            members.append(JsonMember(key, member_start, node, comma))
            if comma is not None:
                at = self.skip_trivia(comma + 1)
        return JsonNode(kind, start, at + 1, tuple(members))

    def _read_string(self, at: int) -> tuple[int, str]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self.error_at(at, 'a string in "double quotes" is missing or not closed')
        try:
            return match.end(), str(json.loads(match.group()))
        except ValueError as error:
            raise self.error_at(at, f"the string is not JSON: {error}") from error
