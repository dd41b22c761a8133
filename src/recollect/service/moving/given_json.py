"""
Read hostile JSON: every value is asked for by name, checked, and refused with its place.

`read_json` takes a file apart (plain, gzipped, or JSON inside a JSON string); `Given` is one object
of it that knows where it stands, so that an error can say `$.blocks[3].limit`. Texts come out
storable and without secrets. This file knows no format.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, NoReturn, TypeVar

from recollect.errors import ImportRefused, InvalidInput
from recollect.service import inputs
from recollect.text.redact import RedactionResult, redact

MAX_BYTES = 1024 * 1024 * 1024
MAX_DEPTH = 200
MAX_ID = 200
MOST_STRINGS = 4  # how often JSON may be wrapped in a JSON string

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")


def read_json(path: Path) -> Any:
    """Return what the file holds, or refuse it."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            data = _read(gzip.GzipFile(fileobj=raw) if packed else raw, path)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    value = _parsed(data, path)
    for _ in range(MOST_STRINGS):
        if not isinstance(value, str):
            break
        value = _parsed(value, path)
    return value


def _read(file: IO[bytes] | gzip.GzipFile, path: Path) -> bytes:
    try:
        data = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefused(
            f"{path} cannot be read to its end: {error}; nothing was changed. Copy it again"
        ) from error
    if len(data) > MAX_BYTES:
        raise ImportRefused(
            f"{path} holds more than {MAX_BYTES:,} bytes; nothing was changed. An agent's file "
            "is smaller: is it the right one?"
        )
    return data


def _parsed(data: bytes | str, path: Path) -> Any:
    try:
        value = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ImportRefused(
            f"{path} is not JSON, or is cut off ({error}); nothing was changed. "
            "Copy or export it again"
        ) from error
    if _is_deep(value):
        raise ImportRefused(
            f"{path} is nested more than {MAX_DEPTH} levels deep; nothing was changed. "
            "No agent's file is: is it the right one?"
        )
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                inner.extend(one.values())
            elif isinstance(one, list):
                inner.extend(one)
        if not inner:
            return False
        level = inner
    return True


class Given:
    """
    One object of a file, and where it stands.

    *slack* widens the limits of texts: a secret's mark may be longer than the secret was, so what
    was stored may be longer than what may be written.
    """

    def __init__(self, value: Any, file: str, where: str = "$", *, slack: int = 1) -> None:
        if not isinstance(value, dict):
            _refuse(file, where, f"must be an object, not {_kind(value)}")
        self.fields: Mapping[str, Any] = value
        self.file = file
        self.where = where
        self._slack = slack
        self._asked: set[str] = set()

    def refuse(self, name: str, what: str) -> NoReturn:
        """Refuse the whole file because of a field."""
        _refuse(self.file, f"{self.where}.{name}" if name else self.where, what)

    def has(self, name: str) -> bool:
        """Say whether a field is there and not null."""
        return self.fields.get(name) is not None

    def raw(self, name: str) -> Any:
        """Return a field as it stands; it must be there."""
        self._asked.add(name)
        if name not in self.fields:
            self.refuse(name, "is missing")
        return self.fields[name]

    def said(self, name: str, most: int) -> RedactionResult:
        """Return a text with what was taken out of it."""
        return self._ask(name, lambda value: self._redacted(name, value, most))

    def text(self, name: str, most: int) -> str:
        """Return a text without secrets."""
        return self.said(name, most).text

    def verbatim(self, name: str, most: int) -> str:
        """Return a text as it stands, for whoever compares it with one that has no secrets."""
        return self._ask(name, lambda value: inputs.text_of(name, value, most=most))

    def name(self, name: str) -> str:
        """Return a name: not empty, no secret."""
        return self._ask(name, lambda value: inputs.name_of(name, value))

    def id(self, name: str = "id") -> str:
        """Return an id."""
        value = self.text(name, MAX_ID)
        if not value:
            self.refuse(name, "is empty; an id names something")
        return value

    def optional_id(self, name: str) -> str | None:
        """Return an id, or None where it is null."""
        return None if self.raw(name) is None else self.id(name)

    def count(self, name: str, *, least: int = 0, most: int = 2**53) -> int:
        """Return a whole number."""
        return self._ask(name, lambda value: inputs.count_of(name, value, least=least, most=most))

    def share(self, name: str) -> float:
        """Return a number from 0 to 1."""
        return self._ask(name, lambda value: inputs.share_of(name, value))

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.raw(name)
        if not isinstance(value, bool):
            self.refuse(name, f"must be true or false, not {_kind(value)}")
        return value

    def choice(self, name: str, kind: type[E]) -> E:
        """Return a member of an enumeration."""
        return self._ask(name, lambda value: inputs.one_of(name, kind, value))

    def moment(self, name: str) -> datetime:
        """Return a moment."""
        found = self.optional_moment(name)
        if found is None:
            self.refuse(name, "must be a time, not null")
        return found

    def optional_moment(self, name: str) -> datetime | None:
        """Return a moment, or None where it is null."""
        value = self.raw(name)
        if value is not None and not isinstance(value, str):
            self.refuse(name, f"must be a time as text, not {_kind(value)}")
        return self._ask(name, lambda value: inputs.moment_of(name, value))

    def mapping(self, name: str) -> dict[str, Any]:
        """Return an object as JSON without secrets."""
        if self.raw(name) is None:
            self.refuse(name, "must be an object, not null")
        return self._ask(name, lambda value: inputs.json_object_of(name, value))

    def values(self, name: str) -> tuple[Any, ...]:
        """Return a list of any JSON, without secrets."""
        self._list(name)
        return self._ask(name, lambda value: tuple(inputs.json_of(name, value)))

    def clean(self) -> "Given":
        """Return the same object without secrets anywhere in it."""
        try:
            return Given(inputs.json_of(self.where, self.fields), self.file, self.where)
        except InvalidInput as error:
            self.refuse("", str(error))

    def texts(self, name: str, most: int, *, at_most: int) -> tuple[str, ...]:
        """Return a list of texts without secrets."""
        value = self._list(name)
        if len(value) > at_most:
            self.refuse(name, f"has {len(value):,} entries; the limit is {at_most:,}")
        return self._ask(
            name,
            lambda value: tuple(self._redacted(name, one, most).text for one in value),
        )

    def objects(self, name: str) -> list["Given"]:
        """Return a list of objects, each with its place."""
        value = self._list(name)
        return [
            Given(one, self.file, f"{self.where}.{name}[{number}]", slack=self._slack)
            for number, one in enumerate(value)
        ]

    def object(self, name: str) -> "Given":
        """Return an object with its place."""
        return Given(self.raw(name), self.file, f"{self.where}.{name}", slack=self._slack)

    def done(self) -> None:
        """Refuse fields nobody asked for: what is not understood is not dropped in silence."""
        unknown = sorted(self.fields.keys() - self._asked)
        if unknown:
            self.refuse(
                unknown[0],
                "is not known to this version; the file may come from a newer Recollect: "
                "upgrade with pip install -U recollect",
            )

    def _redacted(self, name: str, value: Any, most: int) -> RedactionResult:
        return redact(inputs.text_of(name, value, most=most * self._slack))

    def _list(self, name: str) -> list[Any]:
        value = self.raw(name)
        if not isinstance(value, list):
            self.refuse(name, f"must be a list, not {_kind(value)}")
        return value

    def _ask(self, name: str, check: Callable[[Any], T]) -> T:
        try:
            return check(self.raw(name))
        except InvalidInput as error:
            self.refuse(name, str(error))


def _refuse(file: str, where: str, what: str) -> NoReturn:
    raise ImportRefused(f"{file}: {where}: {what}. Nothing was changed; mend or export it again")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
