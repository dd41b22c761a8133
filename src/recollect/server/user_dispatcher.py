"""
Find the user of each request to a team's server, and pass it to that user's application.

A store without users is served as it always was. If it has users, every request needs the token of
one (pages: a session, which begins with the token). The request then goes to an application that
has only that user's memory (`UserRecollect`): the same routes as on a server for one person, so
that no route can show what is not the user's. Each request asks the store whether the token is
still good; a user who was revoked, or has a new token, is refused at once.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from dataclasses import replace
from typing import Any

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.app.local_recollect import LocalRecollect
from recollect.app.project_stores import ProjectStores
from recollect.app.space_worker import SpaceWorker
from recollect.app.user_recollect import UserRecollect
from recollect.config import Settings
from recollect.domain.team import User
from recollect.errors import RecollectError, StoreError
from recollect.server.health import HEALTH
from recollect.server.metrics_route import PATH as METRICS
from recollect.server.probes import is_probe
from recollect.server.request_guard import (
    RateLimiter,
    bearer_token,
    send_problem,
    send_refusal,
    too_many_requests,
    user_refusal,
)
from recollect.service.team import token_hash
from recollect.web import sign_in
from recollect.web.page import Site
from recollect.web.page_guard import ENTER, PAGES, cookie_name, is_page_path
from recollect.wire import problem as problems

NO_USERS_VALID_S = 1.0  # a store without users is asked so often whether it has some
MAX_OPEN = 64  # users whose application stays open while nobody uses it
STOP_S = 8.0  # how long a worker and the running requests of a user are waited for
SWEEP_S = 5.0  # how often applications of revoked users are looked for
MAX_CODES = 64
MAX_KNOWN_TOKENS = 4_096  # whose requests do not count for their address

TEAM_ROUTES = "/api/team"
MakeApp = Callable[[LocalRecollect, Settings], Any]


class UserApp:
    """The application of one user, and how many requests it carries out."""

    def __init__(self, user: User, rec: UserRecollect, app: Any) -> None:
        self.user = user
        self.rec = rec
        self.app = app
        self.requests = 0
        self.is_closing = False
        self.stop = anyio.Event()
        self.has_worker = False
        self.ended = anyio.Event()  # its worker has ended, and handed its job back

    @property
    def site(self) -> Site:
        """The pages of the user, with the sessions."""
        site: Site = self.app.state.site
        return site

    def is_for(self, user: User) -> bool:
        """Return whether it was opened for this user with this token."""
        return not self.is_closing and self.user.rotated_at == user.rotated_at


class UserDispatcher:
    """
    The applications of a team's users, beside that of the first store *rec*.

    *make_app* returns the application of a memory; *team_app* has the routes about the team itself.
    """

    def __init__(
        self,
        rec: LocalRecollect,
        settings: Settings,
        *,
        make_app: MakeApp,
        team_app: ASGIApp,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._clock = time.monotonic
        self._is_stopping = is_stopping
        self._rec = rec
        self._settings = settings
        self._make_app = make_app
        self._team_app = team_app
        self.team = rec.engine.team
        self.directory = rec.engine.team.directory
        self._projects = ProjectStores(settings, models_of=rec, clock=rec.engine.services.clock)
        self._apps: OrderedDict[str, UserApp] = OrderedDict()
        self._opening: dict[str, asyncio.Lock] = {}
        self._codes: OrderedDict[str, str] = OrderedDict()  # of pages: the id of the user
        self._tasks: TaskGroup | None = None
        self._no_users_until = 0.0
        self._has_users = False
        self._address_limiter = RateLimiter(settings.requests_per_second)
        self._user_limiter = RateLimiter(settings.user_requests_per_second)
        self._known_tokens: OrderedDict[str, None] = OrderedDict()  # hashes of good ones

    async def respond(self, first_app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application that it is for, or refuse it."""
        if scope["type"] != "http" or _is_public(scope["method"], scope["path"]):
            await first_app(scope, receive, send)
            return
        try:
            is_team = await self._is_team()
        except StoreError as error:
            # Whether it needs a user's token is not known: nothing of a memory may be returned.
            if scope["path"] in (HEALTH, METRICS):
                await first_app(scope, receive, send)
            else:
                await send_problem(send, problems.problem_from_error(error))
            return
        if not is_team:
            await first_app(scope, receive, send)
            return
        try:
            await self._serve(first_app, scope, receive, send)
        except StoreError as error:  # of the directory: the routes answer their own errors
            await send_problem(send, problems.problem_from_error(error))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the workers of users inside the block; afterwards every store is closed."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            tasks.start_soon(self._sweep)
            spaces = SpaceWorker(self._rec, is_in_use=self._is_in_use)
            spaces.start()
            try:
                yield
            finally:
                self._tasks = None
                with anyio.move_on_after(STOP_S, shield=True):
                    for user_app in self.open_apps():
                        await _stop_worker(user_app)
                    # With a thread of its own: abandoned requests may hold all others.
                    await to_thread.run_sync(spaces.stop, limiter=CapacityLimiter(1))
                tasks.cancel_scope.cancel()
        await to_thread.run_sync(self.close)

    def expire(self) -> None:
        """Ask the store at the next request whether it has users."""
        self._no_users_until = 0.0

    def open_apps(self) -> list[UserApp]:
        """Return the applications that are open."""
        return list(self._apps.values())

    def close(self) -> None:
        """Close the stores of users and projects."""
        for user_app in list(self._apps.values()):
            user_app.rec.close()
        self._apps.clear()
        self._projects.close()

    def _is_in_use(self, space_id: str) -> bool:
        """Return whether the store of a space is open, and so has a worker of its own."""
        return space_id in self._apps or self._projects.is_open(space_id)

    async def _is_team(self) -> bool:
        if self._has_users:
            return True  # users are revoked, never deleted
        if self._clock() < self._no_users_until:
            return False
        # In a context of its own: it is no step of the request that happens to be first.
        self._has_users = await to_thread.run_sync(Context().run, self.directory.has_users)
        self._no_users_until = self._clock() + NO_USERS_VALID_S
        return self._has_users

    async def _serve(self, first_app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == ENTER:
            if not await self._refuse_address(scope, send):
                await sign_in.respond(self, scope, receive, send)
            return
        if is_page_path(path) or path == "/":
            user_app = await self._app_of_session(Request(scope))
            if user_app is None:
                if not await self._refuse_address(scope, send):
                    await sign_in.redirect_to_form(scope, receive, send)
                return
            if await self._refuse_user(user_app.user, send):
                return
        else:
            token = bearer_token(scope)
            digest = token_hash(token)
            # Whoever guesses tokens is limited before the store is asked.
            if digest not in self._known_tokens and await self._refuse_address(scope, send):
                return
            user = await to_thread.run_sync(self.directory.user_of_token, token) if token else None
            if user is None:
                self._known_tokens.pop(digest, None)
                await send_refusal(user_refusal(has_token=bool(token)), send)
                return
            self._note_good_token(digest)
            if await self._refuse_user(user, send):
                return
            if path == TEAM_ROUTES or path.startswith(f"{TEAM_ROUTES}/"):
                scope.setdefault("state", {}).update(user=user, dispatcher=self)
                await self._team_app(scope, receive, send)
                return
            if path == METRICS and user.is_admin:  # of the whole server
                self._use_server_token(scope)
                await first_app(scope, receive, send)
                return
            user_app = await self.app_of(user)
        await self._pass_on(user_app, scope, receive, send)

    async def _refuse_address(self, scope: Scope, send: Send) -> bool:
        """Refuse a request if its address sends too many without a token that is known as good."""
        client = scope.get("client")
        wait_s = self._address_limiter.wait_s(client[0] if client else "", self._clock())
        if wait_s:
            await send_refusal(too_many_requests(wait_s), send)
        return wait_s > 0

    async def _refuse_user(self, user: User, send: Send) -> bool:
        """Refuse a request if its user sends too many: those behind a proxy share an address."""
        wait_s = self._user_limiter.wait_s(user.id, self._clock())
        if wait_s:
            await send_refusal(too_many_requests(wait_s, of_user=True), send)
        return wait_s > 0

    def _note_good_token(self, digest: str) -> None:
        self._known_tokens[digest] = None
        self._known_tokens.move_to_end(digest)
        if len(self._known_tokens) > MAX_KNOWN_TOKENS:
            self._known_tokens.popitem(last=False)

    def _use_server_token(self, scope: Scope) -> None:
        """Put the token of the server into *scope*: its own application asks for it."""
        headers = [(name, value) for name, value in scope["headers"] if name != b"authorization"]
        if self._settings.token:
            headers.append((b"authorization", f"Bearer {self._settings.token}".encode("ascii")))
        scope["headers"] = headers

    async def _pass_on(self, user_app: UserApp, scope: Scope, receive: Receive, send: Send) -> None:
        user_app.requests += 1
        try:
            await user_app.app(scope, receive, send)
        finally:
            user_app.requests -= 1

    async def user_of_token(self, token: str) -> User | None:
        """Return the active user whose token this is, or None."""
        return await to_thread.run_sync(self.directory.user_of_token, token)

    async def app_of(self, user: User) -> UserApp:
        """Return the application of *user*, opened if it is not open."""
        async with self._opening.setdefault(user.id, asyncio.Lock()):
            user_app = self._apps.get(user.id)
            if user_app is not None and not user_app.is_for(user):
                await self._close_app(user_app)
                user_app = None
            if user_app is None:
                user_app = await to_thread.run_sync(self._open, user)
                if self._tasks is not None:
                    await self._tasks.start(_run_lifespan, user_app)
                self._apps[user.id] = user_app
            self._apps.move_to_end(user.id)
        await self._close_idle()
        return user_app

    def add_code(self, code: str, user: User) -> None:
        """Remember whose one-time code this is."""
        self._codes[code] = user.id
        while len(self._codes) > MAX_CODES:
            self._codes.popitem(last=False)

    async def user_of_code(self, code: str) -> User | None:
        """Return the active user who got a one-time code, or None."""
        user_id = self._codes.pop(code, "")
        return await self._active_user(user_id) if user_id else None

    async def _active_user(self, user_id: str) -> User | None:
        user = await to_thread.run_sync(self.directory.user, user_id)
        return user if user is not None and user.is_active else None

    async def _app_of_session(self, request: Request) -> UserApp | None:
        cookie = request.cookies.get(cookie_name(request.headers.get("host", ""), "session"), "")
        if not cookie:
            return None
        for user_app in list(self._apps.values()):
            if user_app.site.sessions.find(cookie) is not None:
                user = await self._active_user(user_app.user.id)
                return user_app if user is not None and user_app.is_for(user) else None
        return None

    def _open(self, user: User) -> UserApp:
        rec = UserRecollect(
            self._settings,
            user,
            directory=self.directory,
            projects=self._projects,
            models_of=self._rec,
            clock=self._rec.engine.services.clock,
        )
        try:
            # Requests are limited here, by user: behind a proxy all have the same address.
            app = self._make_app(rec, replace(rec.engine.services.settings, requests_per_second=0))
        except BaseException:
            rec.close()
            raise
        user_app = UserApp(user, rec, app)
        user_app.site.is_stopping = lambda: user_app.is_closing or self._is_stopping()
        return user_app

    async def _close_idle(self) -> None:
        idle = [user_app for user_app in self._apps.values() if not user_app.requests]
        for user_app in idle[: max(0, len(self._apps) - MAX_OPEN)]:
            await self._close_app(user_app)

    async def _close_app(self, user_app: UserApp) -> None:
        """End the sessions and the worker of a user, and close the store when it is unused."""
        user_app.is_closing = True
        if self._apps.get(user_app.user.id) is user_app:
            del self._apps[user_app.user.id]
        with anyio.move_on_after(STOP_S):
            await _stop_worker(user_app)
            while user_app.requests:
                await anyio.sleep(0.01)
        await to_thread.run_sync(user_app.rec.close)

    async def _sweep(self) -> None:
        """Close the applications of users who were revoked or have a new token."""
        while True:
            await anyio.sleep(SWEEP_S)
            with suppress(RecollectError):
                for user_app in list(self._apps.values()):
                    user = await self._active_user(user_app.user.id)
                    if user is None or not user_app.is_for(user):
                        await self._close_app(user_app)


class UserDispatchMiddleware:
    """ASGI middleware that lets a dispatcher decide which application a request is for."""

    def __init__(self, app: ASGIApp, *, dispatcher: UserDispatcher) -> None:
        self._app = app
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        await self._dispatcher.respond(self._app, scope, receive, send)


def _is_public(method: str, path: str) -> bool:
    """Return whether a request gets nothing of any memory and needs no token."""
    return is_probe(method, path) or path.startswith(f"{PAGES}/static/")


async def _run_lifespan(
    user_app: UserApp, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    user_app.has_worker = True
    try:
        async with user_app.app.router.lifespan_context(user_app.app):
            task_status.started()
            await user_app.stop.wait()
    finally:
        user_app.ended.set()


async def _stop_worker(user_app: UserApp) -> None:
    """End the worker of a user; its sessions end too."""
    user_app.is_closing = True
    user_app.stop.set()
    if user_app.has_worker:
        await user_app.ended.wait()
