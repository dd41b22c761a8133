"""
The web application: middleware, error handlers, the background worker and the routes.

Routes are defined in other files and added here with `app.include_router`. The middleware, from the
outside in: request observer, user dispatcher, request guard, wake worker, unexpected errors, path
decoding, client names, error handlers.
"""

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from starlette.routing import Route

from recollect import __version__
from recollect.app.background_worker import BackgroundWorker
from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.mcp.http_transport import ENDPOINT_PATH, McpEndpoint
from recollect.mcp.session_routing import BegunSessions
from recollect.server import error_handlers, memory_server_routes
from recollect.server.client_names import ClientNameMiddleware
from recollect.server.described_app import DescribedApp
from recollect.server.file_routes import file_routes
from recollect.server.health import HealthReader, health_router
from recollect.server.hook_routes import hook_router
from recollect.server.idempotency import IdempotentResponses
from recollect.server.letta_v1.letta_app import letta_mount
from recollect.server.metrics import RequestMetrics
from recollect.server.metrics_route import metrics_router
from recollect.server.path_decoding import PathDecodingMiddleware
from recollect.server.preload import preload
from recollect.server.request_guard import GuardRules, RequestGuard
from recollect.server.request_observer import RequestObserver, ServerLifecycle
from recollect.server.route_index import RouteIndex
from recollect.server.team_routes import team_app
from recollect.server.user_dispatcher import UserDispatcher, UserDispatchMiddleware
from recollect.server.verb_routes import ServedStore, verb_routes
from recollect.server.wake_worker import WakeWorkerMiddleware
from recollect.web.site import make_site, web_routes

# FastAPI can send traces and logs to a collector from the environment. Turn all of that off.
NO_TELEMETRY: Any = {
    "auto_configure": False,
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
}


def web_app(rec: LocalRecollect, settings: Settings) -> FastAPI:
    """
    Return the application that serves *rec*. The caller closes the memory.

    If its store has users, each of them is served by an application of its own.
    """
    lifecycle, sessions = ServerLifecycle(), BegunSessions()
    requests = RequestMetrics() if settings.metrics else None
    dispatcher = UserDispatcher(
        rec,
        settings,
        make_app=partial(store_app, lifecycle=lifecycle, sessions=sessions),
        team_app=team_app(settings, clock=time.monotonic),
        is_stopping=lambda: lifecycle.is_stopping,
    )
    app = store_app(
        rec,
        settings,
        lifecycle=lifecycle,
        sessions=sessions,
        requests=requests,
        also_running=dispatcher.running,
    )
    app.state.dispatcher = dispatcher
    app.add_middleware(UserDispatchMiddleware, dispatcher=dispatcher)
    observe = None if requests is None else requests.observe
    app.add_middleware(RequestObserver, lifecycle=lifecycle, observe=observe)
    return app


def store_app(
    rec: LocalRecollect,
    settings: Settings,
    *,
    lifecycle: ServerLifecycle,
    sessions: BegunSessions,
    requests: RequestMetrics | None = None,
    also_running: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> FastAPI:
    """
    Return the application that serves one memory; *also_running* is entered while it runs.

    The applications of a server share its *lifecycle* and its MCP *sessions*. The one with
    *requests* answers `/metrics`.
    """
    background = BackgroundWorker(rec)
    mcp = McpEndpoint(
        rec,
        max_body_bytes=GuardRules.from_settings(settings).max_body_bytes,
        begun=sessions,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        background.start()
        # In a separate thread, so that the start does not wait for it.
        threading.Thread(target=preload, name="recollect-warm", daemon=True).start()
        async with mcp.running(), also_running():
            yield
        # With a thread of its own: requests that were abandoned may hold all others.
        await to_thread.run_sync(background.stop, limiter=CapacityLimiter(1))

    app = DescribedApp(
        title="Recollect",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # these pages load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,  # clients should not depend on redirects
        responses=error_handlers.PROBLEM_RESPONSES,
        telemetry=NO_TELEMETRY,
    )
    app.state.background = background
    app.state.lifecycle = lifecycle
    reader = HealthReader(rec, background, lifecycle)
    app.include_router(health_router(reader))
    if requests is not None:
        app.include_router(metrics_router(rec, background, reader, requests))
    app.state.served = ServedStore(rec, IdempotentResponses(rec))
    # `include_router` would build every route again for this application, which takes 0.2 s.
    app.router.routes.extend(memory_server_routes.router(settings).routes)
    app.router.routes.extend(verb_routes())
    app.router.routes.extend(file_routes().routes)
    for path in (ENDPOINT_PATH, f"{ENDPOINT_PATH}/"):  # some clients follow no redirect
        app.router.routes.append(Route(path, mcp, include_in_schema=False))
    app.router.routes.append(letta_mount())
    app.include_router(hook_router(rec))
    app.state.site = make_site(rec)
    app.state.settings = settings
    app.router.routes.extend(web_routes())
    app.router.routes.insert(0, RouteIndex(app.router.routes))
    error_handlers.add_error_handlers(app)
    # The middleware added last is the outermost.
    app.add_middleware(ClientNameMiddleware)
    app.add_middleware(PathDecodingMiddleware)
    app.add_middleware(error_handlers.UnexpectedErrorMiddleware)
    app.add_middleware(WakeWorkerMiddleware, wake=background.wake)
    app.add_middleware(RequestGuard, rules=GuardRules.from_settings(settings), clock=time.monotonic)
    return app
