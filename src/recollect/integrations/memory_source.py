"""The store that an adapter uses: an open one, the path of a file, or the address of a server."""

from collections.abc import Callable
from os import PathLike
from typing import TypeGuard

from recollect import connect
from recollect import open as open_store
from recollect.api.recollect import Recollect

MemorySetting = Recollect | str | PathLike[str] | None


def open_memory(memory: MemorySetting) -> tuple[Recollect, Callable[[], None]]:
    """
    Return the store that *memory* names, and what closes it.

    A store that is open already is not closed. None is the default file, as in `recollect.open`.
    """
    if isinstance(memory, Recollect):
        return memory, lambda: None
    opened = connect(memory) if _is_address(memory) else open_store(memory)
    return opened, opened.close


def _is_address(memory: str | PathLike[str] | None) -> TypeGuard[str]:
    return isinstance(memory, str) and memory.startswith(("http://", "https://"))
