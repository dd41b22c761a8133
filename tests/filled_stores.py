"""
Stores that many tests begin with: filled once per process, then copied.

Filling a store through the verbs takes up to a second, copying its file a millisecond. Only for
what does not depend on the test: its folder, its settings, the machine's clock.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar, cast

from recollect import LocalRecollect
from support import START, FakeClock, open_memory

T = TypeVar("T")


@dataclass(frozen=True)
class StoreTemplate:
    """The bytes of a store, what the function that filled it returned, and its clock."""

    content: bytes
    result: object
    moment: datetime
    issued: int


_templates: dict[Hashable, StoreTemplate] = {}


def copy_filled(
    path: Path,
    fill: Callable[[LocalRecollect, FakeClock], T],
    clock: FakeClock | None = None,
    *,
    start: datetime = START,
    **options: Any,
) -> T:
    """
    Write the store that *fill* fills to *path*, and return what *fill* returned.

    *options* are those of `open_memory`; the clock of *fill* begins at *start*. *clock* is set to
    the time and the ids at which that one ended. No test may change what is returned.
    """
    key = (fill, start, *sorted((name, str(value)) for name, value in options.items()))
    if key not in _templates:
        _templates[key] = _fill(fill, FakeClock(start), options)
    template = _templates[key]
    path.touch(mode=0o600)
    path.write_bytes(template.content)
    if clock is not None:
        clock.moment, clock.issued = template.moment, template.issued
    return cast("T", template.result)


def _fill(
    fill: Callable[[LocalRecollect, FakeClock], object], clock: FakeClock, options: dict[str, Any]
) -> StoreTemplate:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with open_memory(path, clock=clock, **options) as rec:
            result = fill(rec, clock)
        return StoreTemplate(path.read_bytes(), result, clock.moment, clock.issued)
