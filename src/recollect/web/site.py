"""
The routes of the pages, and how a browser enters.

`POST /enter` returns a one-time code to a program that has the server's key; `GET /enter?code=…`
exchanges the code for a session cookie. The pages are under `/ui`, and so is the cookie: the API
never sees it.
"""

import time
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from recollect.app.local_recollect import LocalRecollect
from recollect.errors import NotFound
from recollect.web.browser_sessions import BrowserSessions
from recollect.web.live_events import stream_counts
from recollect.web.page import PageRequest, Site, enter_pages, html_response, json_response, page
from recollect.web.page_guard import (
    ENTER,
    PAGES,
    SECURITY_HEADERS,
    foreign_request,
)
from recollect.web.pages import (
    agents,
    blocks,
    conflicts,
    conversations,
    home,
    inbox,
    memory,
    operations,
    projects,
    retrievals,
    search,
)
from recollect.web.store_counts import StoreCounts
from recollect.web.templating import render, static_file

KEY_HEADER = "x-recollect-key"
CODE_REFUSED = (
    "This code was used already, or it is older than a minute. "
    "Run `recollect open` in a terminal again."
)


def make_site(rec: LocalRecollect) -> Site:
    """Return the site of a store; it is `app.state.site` of the application."""
    return Site(rec, BrowserSessions(time.monotonic), StoreCounts(rec, time.monotonic))


def web_routes() -> Sequence[BaseRoute]:
    """Return the routes of the pages. None of them is part of the API's description."""
    pages: list[BaseRoute] = [
        Route("/static/{name}", _static),
        Route("/events", stream_counts),
        *home.routes,
        *inbox.routes,
        *search.routes,
        *memory.routes,
        *retrievals.routes,
        *conflicts.routes,
        *agents.routes,
        *blocks.routes,
        *conversations.routes,
        *projects.routes,
        *operations.routes,
        Route("/{path:path}", page(_not_found), methods=["GET"]),
    ]
    return [
        Route("/", _redirect_to(f"{PAGES}/"), include_in_schema=False),
        Route(PAGES, _redirect_to(f"{PAGES}/"), include_in_schema=False),
        Route(ENTER, _enter, methods=["GET"], include_in_schema=False),
        Route(ENTER, _mint, methods=["POST"], include_in_schema=False),
        Mount(PAGES, routes=pages),
    ]


def _not_found(request: PageRequest) -> Response:
    raise NotFound(f"there is no page {request.http.url.path}; see the pages at {PAGES}/")


def _redirect_to(path: str) -> Any:
    async def redirect(request: Request) -> Response:
        return Response(status_code=303, headers={"location": path, **SECURITY_HEADERS})

    return redirect


async def _mint(request: Request) -> Response:
    """Return a one-time code to a program that runs as the server's user."""
    site: Site = request.app.state.site
    code = None
    # A page cannot send this header to another origin without asking first, and is refused.
    if "origin" not in request.headers and "sec-fetch-site" not in request.headers:
        code = site.sessions.mint_code(request.headers.get(KEY_HEADER, ""))
    if code is None:
        return json_response({"error": "the key is wrong; use `recollect open`"}, 403)
    return json_response({"code": code})


async def _enter(request: Request) -> Response:
    """Exchange a code for a session cookie, and go to the first page."""
    site: Site = request.app.state.site
    refusal = foreign_request(request.method, request.headers)
    code = request.query_params.get("code", "")
    cookie = None if refusal else site.sessions.enter(code)
    if cookie is None:
        values = {"status": 403, "text": refusal or CODE_REFUSED, "form": [], "path": ENTER}
        return html_response(render("error.html", values), 403)
    return enter_pages(request, cookie)


async def _static(request: Request) -> Response:
    content = static_file(request.path_params["name"])
    if content is None:
        return Response(status_code=404, headers=dict(SECURITY_HEADERS))
    # The address changes with the content, so a browser may keep it.
    headers = {**SECURITY_HEADERS, "cache-control": "max-age=31536000, immutable"}
    return Response(content[0], headers=headers, media_type=content[1])
