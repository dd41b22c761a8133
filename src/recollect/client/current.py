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
from contextvars import ContextVar, Token
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


def enter(session: "Session") -> Token[Any]:
    """Make *session* the current one; return what `leave` needs."""
    return _CURRENT.set(session)


def leave(session: "Session", token: Token[Any]) -> None:
    """Make the session before *session* the current one again."""
    try:
        _CURRENT.reset(token)
    except ValueError:
        # Left in another context than it was entered in, as some event loops do. There the block
        # is over as soon as the session is closed.
        if _CURRENT.get() is session:
            _CURRENT.set(session.outer)


@contextmanager
def outside() -> Iterator[None]:
    """Run code of our own in no session at all."""
    with _inside(None):
        yield


def adopt(thread: threading.Thread) -> None:
    """Let a thread that is about to start run in the session it is started in."""
    session = current()
    if session is None:
        return
    former = thread.__dict__.get("run")

    def run() -> None:
        # Only the thread's own context is told: a pool that runs its work in the contexts of those
        # who hand it over, as AnyIO does, must not lend this session to all of them.
        if former is None:
            del thread.__dict__["run"]
        else:
            thread.__dict__["run"] = former
        _CURRENT.set(session)
        thread.run()

    thread.__dict__["run"] = run


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
