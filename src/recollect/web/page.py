"""
A page: read the request, call the Python API, render a template.

`page` turns a function into an endpoint. It runs the function in a thread, requires a session, and
turns an error into a page that says what happened and shows again what the form held. A script that
sends a form asks for JSON; it gets the address to go to, or the problem.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from recollect import __version__
from recollect.app.local_recollect import LocalRecollect, store_location
from recollect.calling_client import BROWSER, use_client
from recollect.errors import InvalidInput, RecollectError
from recollect.lazy_dataclass import dataclass
from recollect.web.browser_sessions import BrowserSession, BrowserSessions
from recollect.web.page_guard import PAGES, SECURITY_HEADERS, cookie_name, foreign_request
from recollect.web.store_counts import StoreCounts
from recollect.web.templating import render

FORM_TYPE = "application/x-www-form-urlencoded"
MAX_FIELDS = 2_000
NOT_ENTERED = "You have no session with this server. Run `recollect open` in a terminal."
SEARCH = "/ui/search"
THEMES = ("system", "light", "dark")


@dataclass
class Site:
    """What every page needs: the store, the sessions, and the counts in the navigation."""

    rec: LocalRecollect
    sessions: BrowserSessions
    counts: StoreCounts
    is_stopping: Callable[[], bool] = bool  # False until the server sets it


@dataclass(frozen=True)
class Preferences:
    """How the pages look in one browser."""

    theme: str = "system"
    shortcuts: bool = True

    @classmethod
    def from_cookie(cls, cookie: str) -> "Preferences":
        """Return the preferences of a cookie; what is not valid is the default."""
        theme, _, shortcuts = cookie.partition(".")
        return cls(theme if theme in THEMES else "system", shortcuts != "off")

    def as_cookie(self) -> str:
        """Return the value of the cookie."""
        return f"{self.theme}.{'on' if self.shortcuts else 'off'}"


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """One request for a page, with its session and its form."""

    site: Site
    http: Request
    session: BrowserSession
    form: list[tuple[str, str]] = field(default_factory=list)

    @property
    def rec(self) -> LocalRecollect:
        """The store."""
        return self.site.rec

    @property
    def wants_json(self) -> bool:
        """Whether a script sent the request."""
        return "application/json" in self.http.headers.get("accept", "")

    def path(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.http.path_params[name])

    def query(self, name: str, default: str = "") -> str:
        """Return a field of the query string."""
        return self.http.query_params.get(name, default)

    def queries(self, name: str) -> list[str]:
        """Return every value of a field of the query string that is not empty."""
        return [value for value in self.http.query_params.getlist(name) if value]

    def page_number(self) -> int:
        """Return the number of the page of a list, from 1."""
        return max(1, self.number("page", 1))

    def number(self, name: str, default: int) -> int:
        """Return a field of the query string; *default* if it is not a number from 0 to 999999."""
        text = self.query(name)
        is_number = text.isascii() and text.isdigit() and len(text) < 7
        return int(text) if is_number else default

    def value(self, name: str, default: str = "") -> str:
        """Return a field of the form; line ends are those of the store."""
        return self.values(name)[0] if self.values(name) else default

    def form_has(self, name: str) -> bool:
        """Return whether the form has a field, even an empty one."""
        return any(key == name for key, _ in self.form)

    def values(self, name: str) -> list[str]:
        """Return every value of a field of the form."""
        return [text.replace("\r\n", "\n") for key, text in self.form if key == name]

    def preferences(self) -> Preferences:
        """Return how this browser wants pages to look."""
        name = cookie_name(self.http.headers.get("host", ""), "view")
        return Preferences.from_cookie(self.http.cookies.get(name, ""))

    def render(self, template: str, *, status_code: int = 200, **values: Any) -> Response:
        """Return a page. A template extends base.html, which needs the values added here."""
        shared = {
            "counts": self.site.counts.current(),
            "notice": self.session.take_notice(),
            "undoable": len(self.session.decisions),
            "preferences": self.preferences(),
            "here": self.http.url.path,
            "store_path": store_location(self.rec),
            "product_version": __version__,
            "find_query": self.query("q") if self.http.url.path == SEARCH else "",
        }
        return html_response(render(template, {**shared, **values}), status_code)

    def redirect(self, address: str, notice: str = "", **values: Any) -> Response:
        """Go to a page of this site after a form was sent; *notice* is shown there."""
        self.site.counts.expire()
        if self.wants_json:
            return json_response({"location": address, "notice": notice, **values})
        self.session.notice = notice
        return Response(status_code=303, headers={"location": address, **_page_headers()})


Endpoint = Callable[[Request], Awaitable[Response]]
PageFunction = Callable[[PageRequest], Response]


def page(show: PageFunction) -> Endpoint:
    """Return the endpoint of a page."""

    async def respond(request: Request) -> Response:
        refusal = foreign_request(request.method, request.headers)
        if refusal is not None:
            return _error_response(request, 403, refusal, [])
        body = await request.body() if request.method == "POST" else b""
        return await run_in_threadpool(_show, show, request, body)

    return respond


def enter_pages(request: Request, cookie: str) -> Response:
    """Return the response that sets the cookie of a new session and goes to the first page."""
    headers = {"location": f"{PAGES}/", "cache-control": "no-store", **SECURITY_HEADERS}
    response = Response(status_code=303, headers=headers)
    response.set_cookie(
        cookie_name(request.headers.get("host", ""), "session"),
        cookie,
        path=PAGES,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


def html_response(text: str, status: int = 200) -> Response:
    """Return an HTML response with the security headers."""
    return Response(text, status, headers=_page_headers(), media_type="text/html")


def json_response(value: Mapping[str, Any], status: int = 200) -> Response:
    """Return a JSON response with the security headers."""
    body = json.dumps(value, ensure_ascii=False)
    return Response(body, status, headers=_page_headers(), media_type="application/json")


def address(path: str, **query: object) -> str:
    """Return a path with a query string; empty values are left out."""
    fields = [(name, str(value)) for name, value in query.items() if value not in ("", None)]
    return f"{path}?{urlencode(fields)}" if fields else path


def _page_headers() -> dict[str, str]:
    return {**SECURITY_HEADERS, "cache-control": "no-store"}


def _show(show: PageFunction, request: Request, body: bytes) -> Response:
    site: Site = request.app.state.site
    name = cookie_name(request.headers.get("host", ""), "session")
    session = site.sessions.find(request.cookies.get(name, ""))
    form: list[tuple[str, str]] = []
    try:
        form = _parse_form(request, body)
        if session is None:
            return _error_response(request, 401, NOT_ENTERED, form)
        with use_client(BROWSER):
            return show(PageRequest(site=site, http=request, session=session, form=form))
    except RecollectError as error:
        return _error_response(request, error.status, _sentence(str(error)), form)


def _error_response(
    request: Request, status: int, text: str, form: list[tuple[str, str]]
) -> Response:
    if "application/json" in request.headers.get("accept", ""):
        return json_response({"error": text}, status)
    values = {"status": status, "text": text, "form": form, "path": request.url.path}
    return html_response(render("error.html", values), status)


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _parse_form(request: Request, body: bytes) -> list[tuple[str, str]]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        return []
    try:
        return parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace"
        )
    except (UnicodeDecodeError, ValueError) as error:
        raise InvalidInput(f"the form cannot be read: {error}") from None
