"""Dataclasses with methods made on first use behave as those of the standard library."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from typing import Any, ClassVar

import pytest

from recollect.domain.source import Redaction
from recollect.lazy_dataclass import dataclass

Decorator = Callable[..., Any]


def order_class(decorator: Decorator, **options: bool) -> type[Any]:
    """Return a class with every kind of field, made by *decorator*."""

    @decorator(**options)
    class Order:
        """An order."""

        Kind: ClassVar[str] = "order"
        number: int
        name: str = field(repr=False)
        tags: list[str] = field(default_factory=list)
        price: float = field(default=1.5, compare=False)
        total: float = field(init=False, default=0.0, compare=False)
        lines: list[str] = field(init=False, default_factory=list, hash=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.price * 2)

    return Order


@dataclass(frozen=True, slots=True)
class GridPoint:
    x: int
    y: int = 0


@dataclass(frozen=True)
class Empty:
    pass


@dataclass(frozen=True)
class Base:
    name: str


@dataclass(frozen=True)
class Derived(Base):
    size: int = 1


@pytest.mark.parametrize("kw_only", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
def test_objects_print_compare_and_copy_as_standard_ones(frozen: bool, kw_only: bool) -> None:
    lazy = order_class(dataclass, frozen=frozen, kw_only=kw_only)
    standard = order_class(dataclasses.dataclass, frozen=frozen, kw_only=kw_only)
    values: dict[str, Any] = {"number": 1, "name": "a", "price": 3.0}

    assert lazy(**values) != standard(**values)
    assert repr(lazy(**values)) == repr(standard(**values))
    for cls in (lazy, standard):
        order = cls(**values)
        assert order.total == 6.0
        assert order == cls(**values | {"price": 2.0})
        assert order != cls(**values | {"number": 2})
        assert copy.copy(order) == order
        assert replace(order, number=2) == cls(**values | {"number": 2})
        assert asdict(order)["lines"] == [] == order.tags
        assert order.tags is not cls(**values).tags
        assert [each.name for each in fields(cls)][:2] == ["number", "name"]


def test_wrong_arguments_are_refused_as_by_standard_ones() -> None:
    for decorator in (dataclass, dataclasses.dataclass):
        cls = order_class(decorator, kw_only=True)
        for wrong in ({}, {"number": 1}, {"number": 1, "name": "a", "other": 2}):
            with pytest.raises(TypeError, match=r"__init__\(\)"):
                cls(**wrong)
        with pytest.raises(TypeError, match="positional"):
            cls(1, "a")


def test_a_frozen_object_cannot_be_changed_before_or_after_the_first_one() -> None:
    for number in range(2):
        point = GridPoint(number)
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
            point.x = 2  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            del point.y
        with pytest.raises((FrozenInstanceError, AttributeError)):
            point.z = 2  # type: ignore[attr-defined]


def test_equal_frozen_objects_have_equal_hashes_and_others_have_none() -> None:
    assert len({GridPoint(1), GridPoint(1, 0), GridPoint(2), Empty(), Empty()}) == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(order_class(dataclass)(1, "a"))


def test_objects_with_slots_are_pickled_copied_and_matched() -> None:
    point = GridPoint(1, 2)

    assert not hasattr(point, "__dict__")
    assert pickle.loads(pickle.dumps(point)) == copy.deepcopy(point) == point
    match point:
        case GridPoint(x, y):
            assert (x, y) == (1, 2)


def test_a_derived_class_has_the_fields_of_both() -> None:
    @dataclasses.dataclass(frozen=True)
    class Standard(Base):
        size: int = 1

    for cls in (Derived, Standard):
        assert repr(cls("a", 2)).endswith("(name='a', size=2)")
        assert cls("a") == cls("a", 1) != Base("a")


def test_a_class_keeps_its_own_methods() -> None:
    @dataclass(frozen=True)
    class Name:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Name) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

    assert {Name("A"), Name("a")} == {Name("a")}


def test_a_program_may_derive_a_frozen_class_from_a_public_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class NamedRedaction(Redaction):
        name: str = ""

    assert {each.name for each in fields(NamedRedaction)} > {
        each.name for each in fields(Redaction)
    }
