"""
The memory server's design document as data: endpoints, examples, defaults, settings.

Nothing of the document is repeated here. What it says in prose is read with expressions that match
its own words ("Returns 404", "optional, default 5, max 20").
"""

import json
import re
from dataclasses import dataclass
from typing import Any

_ENDPOINT = re.compile(r"^\*\*(GET|POST|PUT|PATCH|DELETE) (/\S*)\*\*$", re.MULTILINE)
_JSON = r":[^\n]*\n```json\n(.*?)```"
_COMMENT = re.compile(r"\s//[^\n]*")
_FIELD = re.compile(r'^\s*"(\w+)":[^\n]*?//([^\n]*)$', re.MULTILINE)
_PARAMETER = re.compile(r"^- `(\w+)` \((\w+), default (\w+)\)", re.MULTILINE)
_NAMED = re.compile(r"^Response: (?:Updated )?(Array of )?(\w+) objects?", re.MULTILINE)
_ROW = re.compile(r"^\| (\w+) \| ([A-Z]+_[A-Z_]+) \| (.*?) \| .* \|$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One endpoint as the document describes it."""

    method: str
    path: str
    request: dict[str, Any] | None
    comments: dict[str, str]  # of the fields of the request
    response: Any  # an example; a list of one where an array is meant
    statuses: frozenset[int]  # besides success
    defaults: dict[str, int]  # of its query parameters

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def in_path(self) -> frozenset[str]:
        """The names in its path."""
        return frozenset(re.findall(r"{(\w+)}", self.path))

    @property
    def optional(self) -> frozenset[str]:
        """The fields of its request that may be left out."""
        said = {name for name, text in self.comments.items() if "optional" in text}
        return frozenset(said) | self.in_path

    def number(self, field: str, what: str) -> int:
        """Return what a comment says of a field, as in "default 5" or "max 20"."""
        found = re.search(rf"\b{what} (\d+)", self.comments[field])
        assert found, f"{self}: {field} says nothing of {what}"
        return int(found[1])

    def choices(self, field: str) -> list[str]:
        """Return the values a comment lists for a field."""
        return re.findall(r'"(\w+)"', self.comments.get(field, ""))


@dataclass(frozen=True)
class Setting:
    """One row of the table of settings."""

    name: str
    variable: str
    default: str

    def __str__(self) -> str:
        return self.variable


def endpoints(text: str) -> list[Endpoint]:
    """Return every endpoint of the document."""
    heads = list(_ENDPOINT.finditer(text))
    sections = []
    for at, head in enumerate(heads):
        last = heads[at + 1].start() if at + 1 < len(heads) else text.find("\n---", head.end())
        sections.append((head[1], head[2], text[head.end() : last]))
    shapes = {
        named[2]: example
        for _, _, body in sections
        if (named := _NAMED.search(body)) and (example := _example("Response", body)) is not None
    }
    return [_endpoint(method, path, body, shapes) for method, path, body in sections]


def settings(text: str) -> list[Setting]:
    """Return the rows of the table of settings."""
    return [Setting(*row) for row in _ROW.findall(text)]


def _endpoint(method: str, path: str, body: str, shapes: dict[str, Any]) -> Endpoint:
    named = _NAMED.search(body)
    response = _example("Response", body)
    if response is None and named is not None:
        response = [shapes[named[2]]] if named[1] else shapes[named[2]]
    asked = re.search("Request" + _JSON, body, re.DOTALL)
    return Endpoint(
        method=method,
        path=path,
        request=_example("Request", body),
        comments=dict(_FIELD.findall(asked[1])) if asked else {},
        response=response,
        statuses=frozenset(int(status) for status in re.findall(r"Returns (\d{3})", body)),
        defaults={name: int(value) for name, _, value in _PARAMETER.findall(body)},
    )


def _example(kind: str, body: str) -> Any:
    found = re.search(kind + _JSON, body, re.DOTALL)
    return json.loads(_COMMENT.sub("", found[1])) if found else None
