"""
Change constants of the retrieval pipeline for one run: `--set NAME=VALUE`.

A name includes its module, as in `recollect.retrieval.ranking_constants.WORD_WEIGHT`. Modules that
imported the constant get the new value too. Values that were computed from it at import time do not
change; override those instead.
"""

import ast
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

KINDS = (bool, int, float, str, tuple, frozenset)
# Only these read: whatever is set in them, the store holds the same.
READ_ONLY_MODULES = (
    "recollect.retrieval.",
    "recollect.service.retrieval_log.",
    "recollect.service.search_memories.",
    "recollect.service.search_messages.",
)


class NotAConstant(Exception):
    """The name is of no constant, or the value does not fit it."""


@dataclass(frozen=True)
class Override:
    """One constant and the value it is to have."""

    name: str
    value: Any

    @property
    def changes_the_store(self) -> bool:
        """Whether items must be stored anew under it."""
        return not self.name.startswith(READ_ONLY_MODULES)


def parse_override(written: str) -> Override:
    """Return what `NAME=VALUE` asks for; raise `NotAConstant` with what is wrong."""
    name, sign, literal = (part.strip() for part in written.partition("="))
    if not sign:
        raise NotAConstant(f"{written!r} has no value; write NAME=VALUE")
    module, constant = _resolve(name)
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError) as error:
        raise NotAConstant(f"the value of {name} is no Python literal: {literal!r}") from error
    return Override(name, _convert_value(name, value, getattr(module, constant)))


@contextmanager
def apply_overrides(overrides: Sequence[Override]) -> Iterator[None]:
    """Let *overrides* hold inside of the `with`."""
    before = {override.name: getattr(*_resolve(override.name)) for override in overrides}
    try:
        for override in overrides:
            _set(override.name, override.value)
        yield
    finally:
        for name, value in before.items():
            _set(name, value)


def settings_of(overrides: Sequence[Override]) -> Mapping[str, Any]:
    """Return names and values as JSON can hold them."""
    return {
        override.name: sorted(override.value)
        if isinstance(override.value, frozenset)
        else override.value
        for override in overrides
    }


def _resolve(name: str) -> tuple[ModuleType, str]:
    path, _, constant = name.rpartition(".")
    if path.partition(".")[0] != "recollect":
        raise NotAConstant(
            f"{name!r} is not in recollect; name a constant with its module, "
            "for example recollect.retrieval.ranking_constants.WORD_WEIGHT"
        )
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as error:
        raise NotAConstant(f"there is no module {error.name}") from error
    if not isinstance(vars(module).get(constant), KINDS) or not constant.isupper():
        names = [key for key, value in vars(module).items() if _is_constant(key, value)]
        raise NotAConstant(
            f"{path} has no constant {constant!r}; it has {', '.join(names) or 'none'}"
        )
    return module, constant


def _is_constant(name: str, value: object) -> bool:
    return name.isupper() and isinstance(value, KINDS)


def _convert_value(name: str, value: Any, now: Any) -> Any:
    kind = type(now)
    if kind is float and type(value) is int:
        return float(value)
    if kind is frozenset and isinstance(value, set | tuple | list):
        return frozenset(value)
    if kind is tuple and isinstance(value, list):
        return tuple(value)
    if type(value) is not kind:  # not isinstance: True is no number of anything
        raise NotAConstant(
            f"{name} is a {kind.__name__} ({now!r}); {value!r} is a {type(value).__name__}"
        )
    return value


def _set(name: str, value: Any) -> None:
    home, constant = _resolve(name)
    for module in [home, *_takers(home.__name__, constant)]:
        setattr(module, constant, value)


def _takers(home: str, constant: str) -> Iterator[ModuleType]:
    """Yield the loaded modules that import *constant* from *home* under its own name."""
    for module in list(sys.modules.values()):
        named = getattr(module, "__name__", "")
        if named.startswith("recollect.") and named != home and constant in vars(module):
            tree = ast.parse(inspect.getsource(module))
            if any(_takes(node, home, constant) for node in ast.walk(tree)):
                yield module


def _takes(node: ast.AST, home: str, constant: str) -> bool:
    return (
        isinstance(node, ast.ImportFrom)
        and node.module == home
        and any(name.name == constant and name.asname is None for name in node.names)
    )
