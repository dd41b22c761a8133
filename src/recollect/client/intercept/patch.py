"""
Where calls are intercepted: the one place every call of every vendor's client passes.

Theory of operation. The packages of OpenAI and Anthropic end every call, plain, parsed, streamed or
raw, in `Client.send` or `AsyncClient.send` of HTTPX (or its fork HTTPX2), looked up on the class at
that moment. So these two methods are replaced while a session is open, whatever client was made
when; a call outside of any session passes straight on. Threads started and work handed to pools
inside a session are told whose they are (`client/current.py`). When the last session ends the
classes are as they were found.

Everything that is ours is guarded: if it fails, the call goes out as it came.
"""

import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import httpx2

from recollect.client import current
from recollect.client.waiting import waiting

Original = Callable[..., Any]

_lock = threading.Lock()
_sessions = 0
_replaced: list[tuple[type, str, Original, Original]] = []  # class, name, as found, ours


def install() -> None:
    """Intercept calls from now on; each `install` wants its `uninstall`."""
    global _sessions
    with _lock:
        _sessions += 1
        if _sessions == 1:
            for http in _libraries():
                _replace(http.Client, "send", _sending(http))
                _replace(http.AsyncClient, "send", _sending_async(http))
            _replace(threading.Thread, "start", _starting)
            _replace(ThreadPoolExecutor, "submit", _submitting)


def uninstall() -> None:
    """Leave the classes as they were found, once nobody intercepts any more."""
    global _sessions
    with _lock:
        _sessions -= 1
        if _sessions:
            return
        while _replaced:
            owner, name, found, ours = _replaced.pop()
            if owner.__dict__.get(name) is ours:  # else somebody replaced it again: theirs stays
                setattr(owner, name, found)


def _begin_anew() -> None:
    """In a forked process: the lock may have been held by a thread that is not there."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def _libraries() -> list[ModuleType]:
    """Return HTTPX2, and HTTPX where it is installed: earlier versions of the packages use it."""
    found: list[ModuleType] = [httpx2]
    if "httpx" in sys.modules or importlib.util.find_spec("httpx") is not None:
        found.append(importlib.import_module("httpx"))
    return found


def _replace(owner: type, name: str, wrap: Callable[[Original], Original]) -> None:
    found = owner.__dict__[name]
    ours = wrap(found)
    _replaced.append((owner, name, found, ours))
    setattr(owner, name, ours)


def _sending(http: ModuleType) -> Callable[[Original], Original]:
    def wrap(found: Original) -> Original:
        def send(self: Any, request: Any, **how: Any) -> Any:
            session = current.current()
            asked = session and session.understood(request)
            if not session or not asked:
                return found(self, request, **how)
            request = session.told(asked, request)
            with current.outside():  # once is enough, should we stand here twice
                response = found(self, request, **how)
            session.overhear(asked, http, response)
            return response

        return _as(found, send)

    return wrap


def _sending_async(http: ModuleType) -> Callable[[Original], Original]:
    def wrap(found: Original) -> Original:
        async def send(self: Any, request: Any, **how: Any) -> Any:
            session = current.current()
            asked = session and session.understood(request)
            if not session or not asked:
                return await found(self, request, **how)
            if session.recalls:
                # Asking memory blocks; the event loop must not wait for it.
                request = await waiting(session.told, asked, request)
            with current.outside():  # as above
                response = await found(self, request, **how)
            session.overhear(asked, http, response)
            return response

        return _as(found, send)

    return wrap


def _starting(found: Original) -> Original:
    def start(self: threading.Thread) -> None:
        with current.adopting(self):
            found(self)

    return _as(found, start)


def _submitting(found: Original) -> Original:
    def submit(self: ThreadPoolExecutor, work: Any, /, *args: Any, **named: Any) -> Any:
        carried = current.carried(work)
        with current.outside():  # the pool's own threads outlive the session
            return found(self, carried, *args, **named)

    return _as(found, submit)


def _as(found: Original, ours: Any) -> Original:
    ours.__name__ = found.__name__
    ours.__qualname__ = found.__qualname__
    ours.__doc__ = found.__doc__
    ours.__module__ = found.__module__
    ours.__wrapped__ = found  # so that signatures and debuggers show the real one
    return ours  # type: ignore[no-any-return]
