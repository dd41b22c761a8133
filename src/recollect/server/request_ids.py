"""
The id of the request that is handled now: in the log, in the response and in problem bodies.

A caller may send an id of its own in `X-Request-Id`, so that its log and ours can be joined. It is
used if it is short and harmless; otherwise a new one is made.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

HEADER = "x-request-id"
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")

_REQUEST_ID: ContextVar[str] = ContextVar("recollect_request_id", default="")


def choose_request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the id that the caller sent if it can be used, or a new one."""
    ids = [value.decode("latin-1") for name, value in headers if name == HEADER.encode()]
    if len(ids) == 1 and _HARMLESS.fullmatch(ids[0]):
        return ids[0]
    return secrets.token_hex(8)


@contextmanager
def use_request_id(request_id: str) -> Iterator[None]:
    """Make *request_id* that of everything in the block, also of the threads it calls."""
    token = _REQUEST_ID.set(request_id)
    try:
        yield
    finally:
        _REQUEST_ID.reset(token)


def current_request_id() -> str:
    """Return the id of the request that is handled now; '' outside of requests."""
    return _REQUEST_ID.get()


def with_request_id(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a problem body with the id of the request."""
    request_id = current_request_id()
    return {**problem, "request_id": request_id} if request_id else dict(problem)
