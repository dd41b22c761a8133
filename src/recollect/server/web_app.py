"""
The web application: guard, problems, the worker in the background, and the routes.

Routes are in files of their own; each is added here with `app.include_router`. What stands around
them, from the outside in: guard, waking, last resort, segments, the translation of errors.
"""

import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from recollect import __version__
from recollect.app.background import Background
from recollect.app.root import Recollect
from recollect.config import Settings
from recollect.mcp.http_transport import PATH, McpEndpoint
from recollect.server import transfers, verbs
from recollect.server.guard import Guard, Rules
from recollect.server.health import health_router
from recollect.server.hooks import hook_router, warm
from recollect.server.once import Once
from recollect.server.problems import RESPONSES, LastResort, answer_with_problems
from recollect.server.routes import memory_server
from recollect.server.segments import Segments
from recollect.server.waking import Waking

# FastAPI can send traces and logs to a collector that the environment names. Nothing leaves here.
NO_TELEMETRY: Any = {
    "auto_configure": False,
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
}


def web_app(memory: Recollect, settings: Settings) -> FastAPI:
    """Return the application that serves *memory*. Closing the memory stays with the caller."""
    background = Background(memory)
    mcp = McpEndpoint(memory, max_body_bytes=Rules.of(settings).max_body_bytes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        background.start()
        # A thread of its own: nobody waits for it, and it ends by itself.
        threading.Thread(target=warm, name="recollect-warm", daemon=True).start()
        async with mcp.running():
            yield
        await run_in_threadpool(background.stop)

    app = FastAPI(
        title="Recollect",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # these pages fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # another address is no answer
        responses=RESPONSES,
        telemetry=NO_TELEMETRY,
    )
    app.state.background = background
    app.include_router(health_router(memory, background))
    once = Once(memory)
    app.include_router(memory_server.router(memory, settings, once))
    app.state.served = verbs.Served(memory, once)
    app.include_router(verbs.router())
    app.include_router(transfers.router(memory, once))
    app.router.routes.append(Route(PATH, mcp, include_in_schema=False))
    app.include_router(hook_router(memory))
    answer_with_problems(app)
    # The one added last stands outermost.
    app.add_middleware(Segments)
    app.add_middleware(LastResort)
    app.add_middleware(Waking, wake=background.wake)
    app.add_middleware(Guard, rules=Rules.of(settings), clock=time.monotonic)
    return app
