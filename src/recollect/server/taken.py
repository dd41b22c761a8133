"""
What a verb takes over HTTP, read from the signature of the Python door.

The door says what each verb takes, in Python's words: an agent by name or as itself, a path, a
moment. Over HTTP an agent is a name, a path and a moment are text; everything else is what it is.
This file translates types and nothing else; whether a value is right is decided where it always is.
"""

import dataclasses
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import reduce
from inspect import Parameter, signature
from operator import or_
from os import PathLike
from typing import Any, Union, Unpack, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, ConfigDict, create_model

_SEQUENCES = (list, tuple, Sequence)


@dataclasses.dataclass(frozen=True)
class Taken:
    """One thing a verb takes: its name, its type over HTTP, and whether it must be given."""

    name: str
    kind: Any
    required: bool
    default: Any = None  # as it is shown; the verb applies its own
    named_anyhow: bool = False  # the verb wants it even where it is None


def taken_by(verb: Callable[..., Any]) -> list[Taken]:
    """Return what *verb* takes by name, `self` left out and named options laid open."""
    hints = get_type_hints(verb)
    found: list[Taken] = []
    for parameter in list(signature(verb).parameters.values())[1:]:
        hint = hints[parameter.name]
        if parameter.kind is Parameter.VAR_KEYWORD:
            found += _options(hint)
        else:
            found.append(_one(parameter, over_http(hint)))
    return found


def model_of(name: str, taken: Sequence[Taken], *, in_query: bool) -> type[BaseModel]:
    """Return a model of what is taken, from a JSON body or from a query, where all is text."""
    fields: dict[str, Any] = {
        one.name: (
            _in_query(one.kind) if in_query else one.kind,
            ... if one.required else _shown(one.default),
        )
        for one in taken
    }
    config = ConfigDict(strict=not in_query, extra="forbid")
    return create_model(name, __config__=config, **fields)


def over_http(hint: Any) -> Any:
    """Return the type a value of the Python type *hint* has over HTTP."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return _any_of(over_http(one) for one in get_args(hint) if not _is_python_only(one))
    if origin in _SEQUENCES or hint in _SEQUENCES:
        inner = [over_http(one) for one in get_args(hint) if one is not Ellipsis] or [Any]
        return list[_any_of(inner)]  # type: ignore[misc]
    if origin in (dict, Mapping) or hint is Mapping:
        _, value = get_args(hint) or (str, Any)
        return dict[str, over_http(value)]  # type: ignore[misc]
    return hint


def _one(parameter: Parameter, kind: Any) -> Taken:
    if parameter.default is not Parameter.empty:
        return Taken(parameter.name, kind, required=False, default=parameter.default)
    open_to_none = type(None) in get_args(kind)
    return Taken(parameter.name, kind, required=not open_to_none, named_anyhow=open_to_none)


def _options(hint: Any) -> list[Taken]:
    (options,) = get_args(hint) if get_origin(hint) is Unpack else (hint,)
    if not is_typeddict(options):
        raise TypeError(f"{hint} names no options; declare them as a TypedDict")
    return [
        Taken(name, over_http(kind) | None, required=False)
        for name, kind in get_type_hints(options).items()
    ]


def _is_python_only(hint: Any) -> bool:
    """Say whether a type has no form over HTTP, since another of its union stands for it there."""
    bare = get_origin(hint) or hint
    if bare in (PathLike, datetime):
        return True
    return isinstance(bare, type) and dataclasses.is_dataclass(bare)


def _any_of(kinds: Iterable[Any]) -> Any:
    return reduce(or_, dict.fromkeys(kinds))


def _in_query(kind: Any) -> Any:
    """Return *kind* as a query writes it: what may be one or many is many, repeated."""
    many = [one for one in get_args(kind) if get_origin(one) is list]
    return _any_of([*many, type(None)]) if many else kind


def _shown(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default
