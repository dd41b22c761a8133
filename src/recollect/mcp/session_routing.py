"""
Serve MCP over HTTP by several servers, any of which may get any request.

Since protocol version 2026-07-28 no request belongs to a session. Older clients begin a session,
which lives in the server that began it: its id is in a header of their later requests. A request of
a session that this server did not begin is answered without one. It then lacks only the client's
capabilities, so that no question is put to the user. A session that ended here, or that
belongs to another user of this server, is answered with 404, after which a client begins a new one.
"""

from collections import OrderedDict

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SESSION_HEADER = "mcp-session-id"
MAX_REMEMBERED = 20_000  # sessions that began here; twice as many as may be open


class BegunSessions:
    """The ids of the sessions that began at a server, with its users; the oldest are forgotten."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, SessionRouting] = OrderedDict()

    def __contains__(self, session: str) -> bool:
        return session in self._ids

    def add(self, session: str, routing: "SessionRouting") -> None:
        """Record that a session began, or was used, at *routing*."""
        self._ids[session] = routing
        self._ids.move_to_end(session)
        if len(self._ids) > MAX_REMEMBERED:
            self._ids.popitem(last=False)

    def forget(self, routing: "SessionRouting") -> None:
        """Forget the sessions of *routing*, which no longer serves."""
        for session in [session for session, owner in self._ids.items() if owner is routing]:
            del self._ids[session]


class SessionRouting:
    """
    An ASGI application that passes each request on to one of two.

    *stateful* serves sessions that it begins, *stateless* requests of those that began at another
    server; *begun* has those that began at this one.
    """

    def __init__(self, stateful: ASGIApp, stateless: ASGIApp, begun: BegunSessions) -> None:
        self._stateful = stateful
        self._stateless = stateless
        self._begun = begun

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        session = Headers(scope=scope).get(SESSION_HEADER)
        if session is None or session in self._begun:
            await self._stateful(scope, receive, self._noting_session(send))
        elif scope["method"] == "POST":
            await self._stateless(scope, receive, send)
        else:  # a stream of messages of the server, or the end of a session: not here
            response = PlainTextResponse(
                "another server began this session", status_code=405, headers={"allow": "POST"}
            )
            await response(scope, receive, send)

    def _noting_session(self, send: Send) -> Send:
        async def note(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                session = Headers(raw=message.get("headers", [])).get(SESSION_HEADER)
                if session is not None:
                    self._begun.add(session, self)
            await send(message)

        return note
