"""
Run the server process: bind the address, open the store, serve until a signal, close.

Ctrl-C or SIGTERM lets running requests finish, then stops the background worker and closes the
store. Only the command that serves imports this module.
"""

import logging
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from socket import socket as Socket
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.server import HANDLED_SIGNALS

from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.lazy_dataclass import dataclass
from recollect.server.connection_limits import ConnectionLimits, limited_protocol
from recollect.server.listen_address import BACKLOG, listen, local_url
from recollect.server.log_rate_limit import RepeatedLogFilter
from recollect.server.web_app import web_app

GRACE_S = 10
KEEP_ALIVE_S = 30  # longer than clients keep connections, so that they do not use a closing one

_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")


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
        LocalRecollect(settings, readable_folders=settings.file_root_paths) as rec,
    ):
        port = socket.getsockname()[1]
        app = make_app(rec, settings)
        limits = ConnectionLimits.from_settings(settings)
        config = uvicorn.Config(
            app,
            http=limited_protocol(limits),
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=log_config(verbose=verbose),
            access_log=verbose,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
            timeout_keep_alive=KEEP_ALIVE_S,
            backlog=limits.accepted_at_once,
        )
        server = _UvicornServer(config)
        app.state.site.is_stopping = lambda: server.should_exit  # ends the streams of open pages
        with _stop_on_signal(server):
            on_start(
                ServerStarted(
                    url=local_url(settings.host, port),
                    host=settings.host,
                    port=port,
                    db=rec.engine.store_location,
                    key=app.state.site.sessions.key,
                )
            )
            try:
                server.run(sockets=[socket])
            finally:
                app.state.background.stop()  # a second Ctrl-C skips the lifespan shutdown


class _UvicornServer(uvicorn.Server):
    """Uvicorn, with a long queue of connections that are not accepted yet."""

    async def startup(self, sockets: list[Socket] | None = None) -> None:
        """Start, and lengthen the queue: asyncio sets it to what it accepts at once."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)


def log_config(*, verbose: bool) -> dict[str, Any]:
    """Return the logging configuration: warnings to stderr; with *verbose* every request too."""
    level = "INFO" if verbose else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": SingleLineFormatter,
                "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            }
        },
        "filters": {"repeated": {"()": RepeatedLogFilter}},
        "handlers": {
            "errors": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["repeated"],
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["errors"], "level": "WARNING"},
        "loggers": {
            "recollect": {"level": "INFO"},
            "uvicorn": {"level": level},
            "uvicorn.access": {"level": level},
        },
    }


class SingleLineFormatter(logging.Formatter):
    """A log formatter that replaces control characters, so that input cannot forge log lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # overrides logging.Formatter
        """Return the message as one line; a traceback may have more."""
        return _CONTROL_CHARACTER.sub("�", super().formatMessage(record))


@contextmanager
def _stop_on_signal(server: uvicorn.Server) -> Iterator[None]:
    """
    Stop *server* on a signal, without ending the process.

    Uvicorn raises the signal that stopped it again when it is done; that must not end the process
    before the store is closed. A signal before uvicorn installs its handlers counts too.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    previous = {number: signal.signal(number, stop) for number in HANDLED_SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
