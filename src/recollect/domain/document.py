"""
Documents: JSON values that a program stores under its own key and changes in place.

A document is not a memory: nothing is extracted from it, it has no evidence, and `search` and
`context_for` do not return it. It is found by its key, or by a search in its namespace.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.domain.scope import Owner, Scope
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

Namespace = tuple[str, ...]  # from the widest to the narrowest: ("users", "alice")


@dataclass(frozen=True, kw_only=True)
class Document:
    """
    One JSON value under a namespace and a key.

    `text` is what a search looks through; '' if it is not searched. `revision` begins with 1 and
    grows with each change. A document with a `lifetime_s` is gone after `expires_at`.
    """

    id: str
    namespace: tuple[str, ...]
    key: str
    value: Any
    text: str
    revision: int
    created_at: datetime
    updated_at: datetime
    lifetime_s: float | None = None
    expires_at: datetime | None = None

    @property
    def owner(self) -> Owner:
        """The owner of its entry in the index: its namespace, which no scope of memories has."""
        return namespace_owner(self.namespace)

    def is_expired(self, now: datetime) -> bool:
        """Return whether its lifetime is over."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, kw_only=True)
class DocumentHit:
    """A document that a search returned; the score is None if it was listed, not compared."""

    document: Document
    score: float | None = None
    matched_words: tuple[str, ...] = ()


def namespace_json(namespace: Sequence[str]) -> str:
    """Return a namespace as it is stored; equal namespaces give equal texts."""
    return json.dumps(list(namespace), ensure_ascii=False, separators=(",", ":"))


def namespace_owner(namespace: Sequence[str]) -> Owner:
    """Return the owner of the documents of a namespace."""
    return Owner(Scope.GLOBAL, namespace_json(namespace))


def document_text(value: Any) -> str:
    """Return the text of a value that is searched: each text and number, with its names."""
    return value if isinstance(value, str) else "\n".join(_lines(value, ""))


def _lines(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner_name, inner in value.items():
            yield from _lines(inner, str(inner_name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _lines(inner, name)
    elif value is not None and value != "":
        yield f"{name}: {value}" if name else str(value)


def _compare(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(value: Any, operand: Any) -> bool:
        numbers = all(
            isinstance(x, int | float) and not isinstance(x, bool) for x in (value, operand)
        )
        texts = isinstance(value, str) and isinstance(operand, str)
        return (numbers or texts) and holds(value, operand)

    return compare


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, operand: bool(value == operand),
    "$ne": lambda value, operand: bool(value != operand),
    "$gt": _compare(lambda value, operand: value > operand),
    "$gte": _compare(lambda value, operand: value >= operand),
    "$lt": _compare(lambda value, operand: value < operand),
    "$lte": _compare(lambda value, operand: value <= operand),
}


def check_filter(conditions: Mapping[str, Any]) -> None:
    """Raise `InvalidInput` if a condition has an operator that is not known."""
    for name, condition in conditions.items():
        if isinstance(condition, Mapping) and not _operators(condition):
            check_filter(condition)
        if str(name).startswith("$"):
            raise InvalidInput(
                f"filter: {name} is not the name of a field; a field has operators, as in "
                '{"year": {"$gt": 2000}}'
            )
        unknown = _operators(condition).keys() - OPERATORS.keys()
        if unknown:
            raise InvalidInput(
                f"filter: {name} has the unknown operator {sorted(unknown)[0]!r}; use one of "
                f"{', '.join(OPERATORS)}"
            )


def passes_filter(value: Any, conditions: Mapping[str, Any]) -> bool:
    """
    Return whether each condition holds for the field of its name, or of its path: "user.name".

    A condition is a value that the field equals, `{"$gt": 3}` with one or more operators, or an
    object with conditions for the fields of the field.
    """
    fields = value if isinstance(value, Mapping) else {}
    return all(_holds(_field(fields, name), condition) for name, condition in conditions.items())


def _field(fields: Mapping[str, Any], name: str) -> Any:
    """Return the field of a name; if there is none and the name has points, that at the path."""
    if name in fields or "." not in name:
        return fields.get(name)
    value: Any = fields
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _holds(value: Any, condition: Any) -> bool:
    operators = _operators(condition)
    if operators:
        return all(OPERATORS[name](value, operand) for name, operand in operators.items())
    if isinstance(condition, Mapping):
        return isinstance(value, Mapping) and passes_filter(value, condition)
    return bool(value == condition)


def _operators(condition: Any) -> Mapping[str, Any]:
    is_operators = isinstance(condition, Mapping) and any(
        str(name).startswith("$") for name in condition
    )
    return condition if is_operators else {}
