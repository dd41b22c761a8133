"""
Run the server process: bind the address, open the store, serve until a signal, close.

Ctrl-C or SIGTERM lets running requests finish, then stops the background worker and closes the
store. Before that, SIGTERM leaves a load balancer time to notice (`shutdown_delay_s`). Only the
command that serves imports this module.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from socket import socket as Socket
from types import FrameType

import uvicorn
from fastapi import FastAPI
from uvicorn.server import HANDLED_SIGNALS

from recollect.app.local_recollect import LocalRecollect, store_location
from recollect.config import Settings
from recollect.lazy_dataclass import dataclass
from recollect.server.connection_limits import ConnectionLimits, limited_protocol
from recollect.server.listen_address import BACKLOG, listen, local_url
from recollect.server.log_format import log_config
from recollect.server.otel_tracer import traces_to
from recollect.server.request_observer import ServerLifecycle
from recollect.server.web_app import web_app

GRACE_S = 10
KEEP_ALIVE_S = 30  # longer than clients keep connections, so that they do not use a closing one


@dataclass(frozen=True, kw_only=True)
class ServerStarted:
    """
    The address and the store of a server that accepts requests.

    *key* proves to the server that a program runs as the same user: `recollect open` needs it.
    """

    url: str
    host: str
    port: int
    db: str
    key: str = field(repr=False)


def serve(
    settings: Settings,
    *,
    on_start: Callable[[ServerStarted], None],
    verbose: bool = False,
    make_app: Callable[[LocalRecollect, Settings], FastAPI] = web_app,
) -> None:
    """
    Serve until a signal. *on_start* is called once, when requests are accepted.

    *make_app* returns the application, with its worker in `app.state.background`.
    """
    with (
        listen(settings) as socket,
        traces_to(settings.trace_endpoint),
        LocalRecollect(settings, readable_folders=settings.file_root_paths) as rec,
    ):
        port = socket.getsockname()[1]
        app = make_app(rec, settings)
        limits = ConnectionLimits.from_settings(settings)
        as_json = settings.log_format == "json"
        config = uvicorn.Config(
            app,
            http=limited_protocol(limits),
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=log_config(verbose=verbose, as_json=as_json),
            access_log=verbose and not as_json,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
            timeout_keep_alive=KEEP_ALIVE_S,
            backlog=limits.accepted_at_once,
        )
        lifecycle: ServerLifecycle = app.state.lifecycle
        server = _UvicornServer(
            config,
            lifecycle,
            delay_s=settings.shutdown_delay_s,
            hand_over=app.state.background.stop,
        )
        app.state.site.is_stopping = lambda: lifecycle.is_stopping  # ends streams of open pages
        with _stop_on_signal(server):
            on_start(
                ServerStarted(
                    url=local_url(settings.host, port),
                    host=settings.host,
                    port=port,
                    db=store_location(rec),
                    key=app.state.site.sessions.key,
                )
            )
            try:
                server.run(sockets=[socket])
            finally:
                app.state.background.stop()  # a second Ctrl-C skips the lifespan shutdown


class _UvicornServer(uvicorn.Server):
    """
    Uvicorn, with a long queue of connections that are not accepted yet, and a delay before its end.

    On SIGTERM it serves for *delay_s* more: `/ready` and `/health` answer 503, so that a load
    balancer sends no new requests, and *hand_over* is called in a thread. A second signal, or
    Ctrl-C, ends the delay.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        lifecycle: ServerLifecycle,
        *,
        delay_s: float,
        hand_over: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._lifecycle = lifecycle
        self._delay_s = delay_s
        self._hand_over = hand_over

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop; called in the main thread between two instructions."""
        is_first, self._lifecycle.is_stopping = not self._lifecycle.is_stopping, True
        if not is_first or sig != signal.SIGTERM or not self._delay_s:
            super().handle_exit(sig, frame)
            return
        threading.Thread(target=self._hand_over, name="recollect-hand-over", daemon=True).start()
        timer = threading.Timer(self._delay_s, super().handle_exit, (sig, frame))
        timer.daemon = True
        timer.start()

    async def startup(self, sockets: list[Socket] | None = None) -> None:
        """Start, and lengthen the queue: asyncio sets it to what it accepts at once."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)


@contextmanager
def _stop_on_signal(server: uvicorn.Server) -> Iterator[None]:
    """
    Stop *server* on a signal, without ending the process.

    Uvicorn raises the signal that stopped it again when it is done; that must not end the process
    before the store is closed. A signal before uvicorn installs its handlers counts too.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True  # it does not serve yet, or not any more

    previous = {number: signal.signal(number, stop) for number in HANDLED_SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
