"""Serve a test's memory over HTTP in a thread of this process."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app

LOCAL = "http://127.0.0.1:8283"  # an address the host check accepts, for clients without a network


@contextmanager
def serve_in_thread(rec: LocalRecollect, *, worker: bool = False, **settings: Any) -> Iterator[str]:
    """Serve *memory* inside the block and yield its URL; *worker*: also run the worker."""
    app = web_app(rec, Settings(requests_per_second=0, **settings))
    # The protocol must be given, or asyncio does not disable Nagle's algorithm (40 ms per answer).
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)  # at once: earlier requests wait for the server
        config = uvicorn.Config(app, lifespan="on" if worker else "off", log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
