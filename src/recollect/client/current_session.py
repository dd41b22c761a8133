"""
Which `learning()` session the current code runs in.

The session is in a context variable, so tasks, callbacks and nested blocks inherit it. A thread
starts with an empty context. `intercept/patch_clients.py` therefore passes the session to threads
that are started, and to functions that are submitted to a pool, inside a block. All other threads
run in no session.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from recollect.client.session import LearningSession

_CURRENT: ContextVar[Optional["LearningSession"]] = ContextVar("recollect_learning", default=None)


def current_session() -> "LearningSession | None":
    """Return the innermost open session of this code, or None."""
    session = _CURRENT.get()
    while session is not None and not session.is_open:
        session = session.outer  # this code started in an inner block that has ended
    return session


def enter_session(session: "LearningSession") -> None:
    """Make *session* the current one."""
    _CURRENT.set(session)


def leave_session(session: "LearningSession") -> None:
    """Make the session around *session* the current one, if *session* is current here."""
    # In another context, or if blocks end in another order, it is enough that it is closed.
    if _CURRENT.get() is session:
        _CURRENT.set(session.outer)


@contextmanager
def no_session() -> Iterator[None]:
    """Run the block outside of any session, for requests of Recollect itself."""
    with _as_current(None):
        yield


@contextmanager
def inherited_by(thread: threading.Thread) -> Iterator[None]:
    """Let *thread*, which is started in this block, run in the current session."""
    session = current_session()
    if session is None:
        yield
        return
    previous = thread.__dict__.get("run")

    def restore() -> None:
        if previous is None:
            thread.__dict__.pop("run", None)
        else:
            thread.__dict__["run"] = previous

    def run() -> None:
        # Set it in the thread's own context only. A pool that runs work in the contexts of its
        # submitters, like AnyIO's, must not use this session for all of them.
        restore()
        _CURRENT.set(session)
        thread.run()

    thread.__dict__["run"] = run
    try:
        yield
    except BaseException:
        restore()  # the thread was not started
        raise


def bind_session(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return *work* bound to the current session, whichever thread runs it."""
    session = current_session()
    if session is None:
        return work

    def run(*args: Any, **kwargs: Any) -> Any:
        with _as_current(session):
            return work(*args, **kwargs)

    return run


@contextmanager
def _as_current(session: "LearningSession | None") -> Iterator[None]:
    token = _CURRENT.set(session)
    try:
        yield
    finally:
        _CURRENT.reset(token)
