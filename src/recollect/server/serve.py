"""
The server's process: take the address, open the memory, serve until told to stop, close.

A polite signal (Ctrl-C, SIGTERM) lets requests that came in finish, then stops the worker in the
background and closes the memory. Nothing here is loaded before somebody serves.
"""

import logging
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.server import HANDLED_SIGNALS

from recollect.app.root import Recollect
from recollect.config import Settings
from recollect.server.address import listening, url_of
from recollect.server.web_app import web_app

GRACE_S = 10
KEEP_ALIVE_S = 30  # longer than clients keep one: they must not write into a closing connection

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, kw_only=True)
class Serving:
    """What a server that listens has to say of itself."""

    url: str
    host: str
    port: int
    db: str


def serve(
    settings: Settings,
    *,
    log: Callable[[Serving], None],
    verbose: bool = False,
    made: Callable[[Recollect, Settings], FastAPI] = web_app,
) -> None:
    """
    Serve until a signal says stop. *log* is told once, when requests are taken.

    *made* makes the application; it is expected to keep its worker as `app.state.background`.
    """
    with listening(settings) as socket, Recollect(settings, reach=settings.folders) as memory:
        port = socket.getsockname()[1]
        app = made(memory, settings)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=log_config(verbose=verbose),
            access_log=verbose,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        server = uvicorn.Server(config)
        with _stopping(server):
            log(
                Serving(
                    url=url_of(settings.host, port),
                    host=settings.host,
                    port=port,
                    db=str(memory.path.absolute()),
                )
            )
            try:
                server.run(sockets=[socket])
            finally:
                app.state.background.stop()  # after a second Ctrl-C nobody else has


def log_config(*, verbose: bool) -> dict[str, Any]:
    """Return what is logged: warnings to the error output; with *verbose* every request too."""
    level = "INFO" if verbose else "WARNING"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": OneLine,
                "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            }
        },
        "handlers": {
            "errors": {
                "class": "logging.StreamHandler",
                "formatter": "line",
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


class OneLine(logging.Formatter):
    """A message may quote what was stored or asked; it must not forge lines of the log."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # logging's name
        """Return the message as one line; a traceback may have more."""
        return _CONTROL.sub("�", super().formatMessage(record))


@contextmanager
def _stopping(server: uvicorn.Server) -> Iterator[None]:
    """
    Have a polite signal end *server*, and nothing else.

    Uvicorn raises a signal it was stopped by once more when it is done, and that must not end the
    process before the memory is closed. One that comes before uvicorn listens for it counts too.
    """

    def told(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, told) for number in HANDLED_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
