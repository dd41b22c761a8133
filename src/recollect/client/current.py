"""
Which session of `learning()` a piece of code runs in.

A context variable says so: tasks, callbacks and nested blocks inherit it as Python hands contexts
on. Threads begin with an empty context, so a thread that is started, or a function that is handed
to a pool, inside a block takes its session along (`intercept/patch.py` sees to that). Any other
thread belongs to no session, however many are open elsewhere.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from recollect.client.session import Session

_CURRENT: ContextVar[Optional["Session"]] = ContextVar("recollect_learning", default=None)


def current() -> "Session | None":
    """Return the innermost open session this code runs in, or None."""
    session = _CURRENT.get()
    while session is not None and not session.is_open:
        session = session.outer  # it began in an inner block that is over by now
    return session


def enter(session: "Session") -> None:
    """Make *session* the current one."""
    _CURRENT.set(session)


def leave(session: "Session") -> None:
    """Make the session around *session* the current one again, if it is current here."""
    # Elsewhere, or where blocks are left in another order, it is enough that it is closed.
    if _CURRENT.get() is session:
        _CURRENT.set(session.outer)


@contextmanager
def outside() -> Iterator[None]:
    """Run code of our own in no session at all."""
    with _inside(None):
        yield


@contextmanager
def adopting(thread: threading.Thread) -> Iterator[None]:
    """Let a thread that is started in this block run in the session it is started in."""
    session = current()
    if session is None:
        yield
        return
    former = thread.__dict__.get("run")

    def restore() -> None:
        if former is None:
            thread.__dict__.pop("run", None)
        else:
            thread.__dict__["run"] = former

    def run() -> None:
        # Only the thread's own context is told: a pool that runs its work in the contexts of those
        # who hand it over, as AnyIO does, must not lend this session to all of them.
        restore()
        _CURRENT.set(session)
        thread.run()

    thread.__dict__["run"] = run
    try:
        yield
    except BaseException:
        restore()  # it was not started
        raise


def carried(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return *work* so that it runs in the session it was handed over in, in whatever thread."""
    session = current()
    if session is None:
        return work

    def run(*args: Any, **named: Any) -> Any:
        with _inside(session):
            return work(*args, **named)

    return run


@contextmanager
def _inside(session: "Session | None") -> Iterator[None]:
    token = _CURRENT.set(session)
    try:
        yield
    finally:
        _CURRENT.reset(token)
