"""A server of a test's own memory, in a thread of this process: for tests that look into both."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from recollect import Recollect
from recollect.config import Settings
from recollect.server.web_app import web_app

LOCAL = "http://127.0.0.1:8283"  # what the guard lets pass, for clients without a network


@contextmanager
def hosted(memory: Recollect, *, worker: bool = False, **settings: Any) -> Iterator[str]:
    """Serve *memory* inside the block; give the address. Without *worker* nothing else happens."""
    app = web_app(memory, Settings(requests_per_second=0, **settings))
    # With its protocol named, or asyncio leaves Nagle's delay of 40 ms on every answer.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(128)  # at once: who asks before the server runs waits for it
        config = uvicorn.Config(app, lifespan="on" if worker else "off", log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
