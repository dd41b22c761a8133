"""
Sign in to the pages of a team's server with a user's token.

A browser sends the token once, in a form, and gets a session cookie. A program sends it as a header
and gets a one-time code, which it opens in a browser.
"""

from typing import Any, Protocol
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from recollect.domain.team import User
from recollect.web.page import Site, enter_pages, html_response, json_response
from recollect.web.page_guard import ENTER, PAGES, SECURITY_HEADERS, foreign_request
from recollect.web.templating import render

MAX_FORM_BYTES = 10_000
REFUSED = "The token is wrong, or it was replaced or revoked. Ask an admin of this server."
CODE_REFUSED = "This code was used already, or it is older than a minute. Sign in with the token."


class SignInUsers(Protocol):
    """Who may sign in, and the application of each."""

    async def user_of_token(self, token: str) -> User | None:
        """Return the active user whose token this is, or None."""

    async def user_of_code(self, code: str) -> User | None:
        """Return the active user who got a one-time code, or None."""

    async def app_of(self, user: User) -> Any:
        """Return the application of *user*; its `site` has the sessions."""

    def add_code(self, code: str, user: User) -> None:
        """Remember whose one-time code this is."""


async def respond(users: SignInUsers, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to a request for the page where people sign in."""
    request = Request(scope, receive)
    if request.method == "GET":
        response = await _with_code(users, request)
    elif request.method == "POST" and "authorization" in request.headers:
        response = await _new_code(users, request)
    elif request.method == "POST":
        response = await _with_form(users, request)
    else:
        response = Response(status_code=405, headers=dict(SECURITY_HEADERS))
    await response(scope, receive, send)


async def redirect_to_form(scope: Scope, receive: Receive, send: Send) -> None:
    """Send a browser without a session to the form; refuse what is not a page."""
    headers = {"location": ENTER, "cache-control": "no-store", **SECURITY_HEADERS}
    is_page = scope["method"] == "GET" and not scope["path"].startswith(f"{PAGES}/events")
    response = Response(status_code=303, headers=headers)
    if not is_page:
        response = json_response({"error": "there is no session; sign in again"}, 401)
    await response(scope, receive, send)


async def _with_code(users: SignInUsers, request: Request) -> Response:
    code = request.query_params.get("code", "")
    if not code:
        return _form("")
    if refusal := foreign_request(request.method, request.headers):
        return _form(refusal, 403)
    user = await users.user_of_code(code)
    if user is None:
        return _form(CODE_REFUSED, 403)
    site: Site = (await users.app_of(user)).site
    return _sign_in_response(request, site.sessions.enter(code))


async def _with_form(users: SignInUsers, request: Request) -> Response:
    if refusal := foreign_request(request.method, request.headers):
        return _form(refusal, 403)
    length = request.headers.get("content-length", "")
    if not length.isdecimal() or int(length[:9]) > MAX_FORM_BYTES:
        return _form(REFUSED, 403)
    fields = parse_qs((await request.body()).decode("latin-1"))
    user = await users.user_of_token(fields.get("token", [""])[0].strip())
    if user is None:
        return _form(REFUSED, 403)
    site: Site = (await users.app_of(user)).site
    code = site.sessions.mint_code(site.sessions.key)
    return _sign_in_response(request, site.sessions.enter(code or ""))


async def _new_code(users: SignInUsers, request: Request) -> Response:
    # A page of another site cannot send this header without asking first, and is refused.
    is_page = "origin" in request.headers or "sec-fetch-site" in request.headers
    scheme, _, token = request.headers["authorization"].strip().partition(" ")
    user = None
    if not is_page and scheme.lower() == "bearer":
        user = await users.user_of_token(token.strip())
    if user is None:
        return json_response({"error": "the token is wrong"}, 401)
    site: Site = (await users.app_of(user)).site
    code = site.sessions.mint_code(site.sessions.key) or ""
    users.add_code(code, user)
    return json_response({"code": code})


def _sign_in_response(request: Request, cookie: str | None) -> Response:
    if cookie is None:
        return _form(CODE_REFUSED, 403)
    return enter_pages(request, cookie)


def _form(problem: str, status_code: int = 200) -> Response:
    values = {"problem": problem, "path": ENTER}
    return html_response(render("sign_in.html", values), status_code)
