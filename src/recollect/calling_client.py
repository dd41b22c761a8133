"""
The program on whose behalf this thread calls: a coding agent, an SDK, a browser; and the user.

Each entry point names the program with `use_client`; what is stored and asked is counted by that
name. It is for people who look at their memory. No rule relies on it, because a program can give
any name. The user is the one whose token a server has checked; a database with policies is told.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LIBRARY = "Python library"  # a program that uses `recollect` directly
COMMAND_LINE = "command line"
LEARNING = "learning()"
BROWSER = "browser"
MAX_NAME_CHARS = 60

_CLIENT: ContextVar[str] = ContextVar("recollect_client", default="")
_USER: ContextVar[tuple[str, str]] = ContextVar("recollect_user", default=("", ""))


@contextmanager
def use_client(name: str) -> Iterator[None]:
    """Name the client of the calls in this block; if *name* is empty, the one outside of it."""
    token = _CLIENT.set(printable_name(name) or _CLIENT.get())
    try:
        yield
    finally:
        _CLIENT.reset(token)


def calling_client() -> str:
    """Return the name of the client; '' if no entry point named one."""
    return _CLIENT.get()


@contextmanager
def use_user(user_id: str, *, writes_as: str | None = None) -> Iterator[None]:
    """
    Carry out the calls in this block for the user, or the space, with that id.

    *writes_as* is who makes the writes that a read may need, such as embedding new items.
    """
    token = _USER.set((user_id, user_id if writes_as is None else writes_as))
    try:
        yield
    finally:
        _USER.reset(token)


def calling_user(*, writes: bool = False) -> str:
    """Return the id of the user for whom this thread reads, or *writes*; '' if there is none."""
    reader, writer = _USER.get()
    return writer if writes else reader


def printable_name(name: str) -> str:
    """Return *name* on one line, without characters that cannot be shown, and not too long."""
    printable = "".join(char if char.isprintable() else " " for char in name)
    return " ".join(printable.split())[:MAX_NAME_CHARS].rstrip()


def name_from_user_agent(header: str) -> str:
    """Return the first product of a User-Agent header, without its version."""
    product = header.split(maxsplit=1)[0] if header.strip() else ""
    return printable_name(product.partition("/")[0])
