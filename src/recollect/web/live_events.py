"""
Live counts for open pages, as server-sent events.

A stream sends the counts when they change. It ends when the server stops, when the session ends or
after some minutes; the browser then connects again.
"""

import json
from collections.abc import AsyncIterator, Callable

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from recollect.domain.maintenance import PendingCounts
from recollect.errors import RecollectError
from recollect.web.page import Site, json_response
from recollect.web.page_guard import SECURITY_HEADERS, cookie_name, foreign_request

INTERVAL_S = 1.0
MAX_ROUNDS = 300
RETRY_MS = 3_000


async def stream_counts(request: Request) -> Response:
    """Respond with a stream of the counts."""
    site: Site = request.app.state.site
    name = cookie_name(request.headers.get("host", ""), "session")
    cookie = request.cookies.get(name, "")
    if foreign_request(request.method, request.headers) or site.sessions.find(cookie) is None:
        return json_response({"error": "there is no session"}, 401)
    headers = {**SECURITY_HEADERS, "cache-control": "no-store"}

    def is_over() -> bool:
        return site.is_stopping() or site.sessions.find(cookie) is None

    events = count_events(site.counts.current, is_over)
    return StreamingResponse(events, headers=headers, media_type="text/event-stream")


async def count_events(
    read: Callable[[], PendingCounts],
    is_over: Callable[[], bool],
    *,
    interval_s: float = INTERVAL_S,
) -> AsyncIterator[str]:
    """Yield an event whenever the counts differ from those before."""
    yield f"retry: {RETRY_MS}\n\n"
    last: PendingCounts | None = None
    for _ in range(MAX_ROUNDS):
        if is_over():
            return
        try:
            counts = await run_in_threadpool(read)
        except RecollectError:  # the store is busy or gone: the browser asks again
            return
        if counts != last:
            yield f"event: counts\ndata: {json.dumps(vars(counts))}\n\n"
            last = counts
        await anyio.sleep(interval_s)
