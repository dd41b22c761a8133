"""
Send the events of a verb as they happen, as server-sent events.

A thread carries the verb out and hands its events to the event loop. If the client disconnects, the
thread closes the verb's iterator at its next event, which stops what the verb does.
"""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

from starlette.responses import StreamingResponse

from recollect.errors import RecollectError
from recollect.wire.event_stream import ERROR_EVENT, EVENT_STREAM, PING, encode_event
from recollect.wire.problem import problem, problem_from_error
from recollect.wire.request import VerbRequest

PING_S = 15.0

log = logging.getLogger(__name__)


def wants_events(request_class: type[VerbRequest[Any]], accept: str) -> bool:
    """Return whether a client that accepts *accept* gets the events of this verb."""
    return request_class.event_type is not None and EVENT_STREAM in accept.lower()


def event_response(request: VerbRequest[Any], events: Iterator[Any]) -> StreamingResponse:
    """Return a response that sends *events* of a verb."""
    return stream_response(events, request.event_adapter().dump_json)


def stream_response(
    events: Iterator[Any],
    dump: Callable[[Any], bytes],
    headers: Mapping[str, str] | None = None,
) -> StreamingResponse:
    """Return a response that sends *events*; *dump* returns the data of one."""
    return StreamingResponse(
        _event_bytes(events, dump),
        media_type=EVENT_STREAM,
        headers={"cache-control": "no-store", **(headers or {})},
    )


async def _event_bytes(events: Iterator[Any], dump: Callable[[Any], bytes]) -> AsyncIterator[bytes]:
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes | None]()
    is_over = threading.Event()

    def put(data: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # the server has stopped
            loop.call_soon_threadsafe(queue.put_nowait, data)

    def pump() -> None:
        try:
            for event in events:
                put(encode_event(dump(event)))
                if is_over.is_set():
                    break
        except RecollectError as error:
            put(_error(problem_from_error(error)))
        except Exception:  # the thread's boundary: the client has to learn that nothing follows
            log.exception("the events of a request failed")
            put(_error(problem(500, "internal error; see the log of the server")))
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()
            put(None)

    threading.Thread(target=pump, name="recollect-events", daemon=True).start()
    try:
        while True:
            try:
                data = await asyncio.wait_for(queue.get(), PING_S)
            except TimeoutError:
                yield PING
                continue
            if data is None:
                return
            yield data
    finally:
        is_over.set()


def _error(body: Any) -> bytes:
    return encode_event(json.dumps({"type": ERROR_EVENT, "problem": dict(body)}).encode())
