"""
What a caller gives a verb, as JSON can say it.

A memory behind a server is used as an open one is: agents, conversations and blocks may be given as
themselves, paths as paths, moments as moments. This file turns them into names and text. A path is
made whole here, where it means something: the server may work in another folder.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any

from recollect.config import at_home
from recollect.domain.agent import Agent
from recollect.domain.block import Block
from recollect.domain.conversation import Conversation, Message, Pin
from recollect.domain.memory import Memory
from recollect.domain.project import ByPath, parse_reference
from recollect.errors import InvalidInput
from recollect.text.clean import clean

_KNOWN_BY_ID = (Agent, Conversation, Message, Pin, Memory)
_WHERE = ("project", "repo")


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb is given as JSON values."""
    try:
        return {name: _plain(name, value, values) for name, value in values.items()}
    except RecursionError:
        raise InvalidInput("what was given is nested too deep, or contains itself") from None


def _plain(name: str, value: Any, among: Mapping[str, Any]) -> Any:
    match value:
        case Enum():
            return value.value
        case str():
            return _whole(clean(value)) if name in _WHERE else clean(value)
        case float() if not math.isfinite(value):
            raise InvalidInput(f"{name or 'a value'} must be a number, not {value}")
        case bool() | int() | float() | None:
            return value
        case datetime():
            return value.isoformat()
        case PathLike():
            return _text(Path(value).absolute())
        case Block():
            return value.label if _in_a_place(name, among) else value.id
        case Mapping():
            return {_key(key): _plain("", one, {}) for key, one in value.items()}
        case _ if isinstance(value, _KNOWN_BY_ID):
            return value.id
        case bytes() | bytearray():
            raise InvalidInput(f"{name} must be text, not bytes")
        case Iterable():
            return [_plain("", one, {}) for one in value]
    raise InvalidInput(f"{name or 'a value'} cannot be a {type(value).__name__}")


def _key(key: Any) -> str:
    """Return a key of an object as JSON writes it."""
    return clean(key if isinstance(key, str) else json.dumps(key, default=str))


def _in_a_place(name: str, among: Mapping[str, Any]) -> bool:
    """Say whether a block is meant by its label: it is, wherever an agent or a place is named."""
    places = ("agent", "project", "conversation")
    return name == "label" and any(among.get(place) is not None for place in places)


def _whole(written: str) -> str:
    """Return a path from its root on; a name or a remote is what it is."""
    if not written.strip() or not isinstance(parse_reference(written), ByPath):
        return written
    return _text(at_home(written).absolute())


def _text(path: Path) -> str:
    return clean(os.fspath(path))
