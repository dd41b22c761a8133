"""
Dataclasses whose methods are made on first use.

The standard decorator compiles up to six methods for each class, which takes 0.3 ms, and a command
that loads two hundred classes uses a few of them. Here a class gets its fields at once and its
`__init__` with its first object; the other methods are the same functions for all classes. Apart
from that these are dataclasses of the standard library: `fields`, `replace`, `asdict` and `match`
work as with others.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # A type checker sees the standard decorator, so that it knows the parameters of each class.
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls=None, /, *, frozen=False, kw_only=False, slots=False, unsafe_hash=False, **others
    ):
        """
        Make *cls* a dataclass.

        With other options, with methods of its own or derived from a dataclass, it gets all of its
        methods at once.
        """

        def decorate(cls):
            options = {"kw_only": kw_only, "slots": slots}
            methods = {"frozen": frozen, "unsafe_hash": unsafe_hash}
            if others or not _is_plain(cls):
                return dataclasses.dataclass(cls, **options, **methods, **others)
            return _with_lazy_methods(cls, **options, **methods)

        return decorate if cls is None else decorate(cls)


class _NotGiven:
    """The default of a field whose value a function makes."""


def _is_plain(cls: type[Any]) -> bool:
    """Return whether nothing that a dataclass would define is defined already."""
    is_derived = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
    return not is_derived and cls.__dict__.keys().isdisjoint(_METHODS)


def _with_lazy_methods(
    cls: type[Any], *, frozen: bool, unsafe_hash: bool, **options: bool
) -> type[Any]:
    # Without a text the standard library would write the signature there, which is slow.
    cls.__doc__ = cls.__doc__ or cls.__name__
    cls = dataclasses.dataclass(cls, init=False, repr=False, eq=False, **options)
    methods = {"__init__": _first_init(cls), "__repr__": _repr, **_comparison_methods(cls)}
    if frozen:
        methods |= _FROZEN_METHODS
    elif not unsafe_hash:
        methods["__hash__"] = None
    for name, method in methods.items():
        setattr(cls, name, method)
    params: Any = cls.__dict__["__dataclass_params__"]
    params.frozen = frozen  # a class that is derived from it must be frozen too
    return cls


def _first_init(cls: type[Any]) -> Callable[..., None]:
    """Return an `__init__` that replaces itself by the compiled one."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        compiled = _compiled_init(cls)
        cls.__init__ = compiled
        compiled(self, *args, **kwargs)

    return __init__


def _compiled_init(cls: type[Any]) -> Callable[..., None]:
    """Compile the `__init__` that sets the fields of *cls*."""
    names: dict[str, Any] = {"_set": object.__setattr__, "_NotGiven": _NotGiven}
    is_frozen = cls.__dict__["__dataclass_params__"].frozen
    positional, keywords, lines = ["self"], ["*"], [" pass"]
    for field in dataclasses.fields(cls):
        default, value = "", field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{field.name}"] = field.default_factory
            default, value = "=_NotGiven", f"_make_{field.name}()"
            if field.init:
                value += f" if {field.name} is _NotGiven else {field.name}"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{field.name}"] = field.default
            default = f"=_default_{field.name}"
        if field.init:
            (keywords if field.kw_only else positional).append(field.name + default)
        if field.init or default == "=_NotGiven":
            name = field.name
            lines.append(
                f" _set(self, {name!r}, {value})" if is_frozen else f" self.{name} = {value}"
            )
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join(positional + (keywords if len(keywords) > 1 else []))
    exec("\n".join([f"def __init__({parameters}):", *lines]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def _comparison_methods(cls: type[Any]) -> dict[str, Any]:
    """Return `__eq__` and `__hash__` of *cls*."""
    fields = dataclasses.fields(cls)
    compared = _values([field for field in fields if field.compare])
    hashed = _values([f for f in fields if (f.compare if f.hash is None else f.hash)])

    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(compared(self) == compared(other))

    def __hash__(self: Any) -> int:
        return hash(hashed(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _values(fields: list[dataclasses.Field[Any]]) -> Callable[[Any], Any]:
    """Return a function that returns the values of *fields* of an object."""
    return attrgetter(*(field.name for field in fields)) if fields else lambda record: ()


@recursive_repr()
def _repr(self: Any) -> str:
    printed_names = [field.name for field in dataclasses.fields(self) if field.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in printed_names)
    return f"{self.__class__.__qualname__}({values})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN_METHODS: dict[str, Any] = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _get_state,  # copying and pickling must not set attributes
    "__setstate__": _set_state,
}
_METHODS = {"__init__", "__repr__", "__eq__", "__hash__", *_FROZEN_METHODS}
