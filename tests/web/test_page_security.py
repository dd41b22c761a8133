"""Who may see and change the memory through a browser: sessions, origins, headers."""

import pytest

from in_process_server import LOCAL
from recollect import LocalRecollect
from recollect.web.browser_sessions import CODE_VALID_S, MAX_CODES, BrowserSessions
from recollect.web.page_guard import SECURITY_HEADERS, cookie_name, foreign_request, is_page_path
from tables import each_row
from web_pages import NAVIGATION, OWN, add_candidates, page_client

pytestmark = pytest.mark.door

HOST = LOCAL.removeprefix("http://")


def test_a_browser_without_a_session_sees_nothing_and_is_told_what_to_do(
    words_only: LocalRecollect,
) -> None:
    words_only.ingest("The launch code is walnut.", status="inbox")
    client = page_client(words_only, entered=False)

    response = client.get("/ui/inbox", headers=NAVIGATION)

    assert response.status_code == 401
    assert "walnut" not in response.text
    assert "recollect open" in response.text


def test_a_code_lets_one_browser_in_once(words_only: LocalRecollect) -> None:
    client = page_client(words_only, entered=False)
    sessions = client.app.state.site.sessions  # type: ignore[attr-defined]
    code = sessions.mint_code(sessions.key)

    first = client.get(f"/enter?code={code}", headers=NAVIGATION)
    second = client.get(f"/enter?code={code}", headers=NAVIGATION)

    assert (first.status_code, first.headers["location"]) == (303, "/ui/")
    assert second.status_code == 403
    assert "set-cookie" not in second.headers
    cookie = first.headers["set-cookie"]
    assert cookie.startswith("recollect_session_8283=")
    assert {"HttpOnly", "SameSite=strict", "Path=/ui"} <= set(cookie.split("; "))


def test_a_code_ends_after_a_minute_and_unused_ones_do_not_pile_up() -> None:
    now = 0.0
    sessions = BrowserSessions(lambda: now)
    old = sessions.mint_code(sessions.key)
    assert old is not None
    now += CODE_VALID_S + 1

    assert sessions.enter(old) is None
    codes = [sessions.mint_code(sessions.key) or "" for _ in range(MAX_CODES + 1)]
    assert sessions.enter(codes[0]) is None
    assert sessions.enter(codes[-1]) is not None


@each_row("key", ["", "wrong", "ключ"])
def test_only_the_key_of_the_server_gets_a_code(words_only: LocalRecollect, key: str) -> None:
    client = page_client(words_only, entered=False)

    refused = client.post("/enter", headers=[(b"x-recollect-key", key.encode())])
    right = client.app.state.site.sessions.key  # type: ignore[attr-defined]
    accepted = client.post("/enter", headers={"x-recollect-key": right})
    from_page = client.post("/enter", headers={"x-recollect-key": right, "origin": LOCAL})

    assert refused.status_code == 403
    assert from_page.status_code == 403
    assert accepted.json()["code"]


def test_the_cookie_of_another_port_or_server_is_no_session(words_only: LocalRecollect) -> None:
    client = page_client(words_only)
    value = client.cookies.get("recollect_session_8283", path="/ui")
    stranger = page_client(words_only, entered=False)

    other_name = {**NAVIGATION, "cookie": f"recollect_session_9999={value}"}
    other_server = {**NAVIGATION, "cookie": f"recollect_session_8283={value}"}

    assert client.get("/ui/inbox", headers=NAVIGATION).status_code == 200
    client.cookies.clear()
    assert client.get("/ui/inbox", headers=other_name).status_code == 401
    assert stranger.get("/ui/inbox", headers=other_server).status_code == 401


@each_row(
    ("method", "headers", "accepted"),
    [
        ("GET", {"sec-fetch-site": "none"}, True),
        ("GET", {"sec-fetch-site": "same-origin"}, True),
        ("GET", {"sec-fetch-site": "same-site"}, False),  # another port of this machine
        ("GET", {"sec-fetch-site": "cross-site"}, False),
        ("GET", {}, True),
        ("POST", {"sec-fetch-site": "same-origin", "origin": LOCAL}, True),
        ("POST", {"sec-fetch-site": "none"}, True),
        ("POST", {"sec-fetch-site": "same-origin", "origin": "null"}, True),  # no referrer
        ("POST", {"sec-fetch-site": "same-site", "origin": LOCAL}, False),
        ("POST", {"sec-fetch-site": "", "origin": LOCAL}, False),
        ("POST", {"origin": LOCAL}, True),
        ("POST", {}, False),
        ("POST", {"origin": "null"}, False),  # a form in a file
        ("POST", {"origin": "http://127.0.0.1:9999"}, False),
        ("POST", {"origin": "http://localhost:8283"}, False),
        ("POST", {"origin": "http://evil.example"}, False),
        ("POST", {"origin": f"{LOCAL}.evil.example"}, False),
    ],
)
def test_a_request_must_come_from_our_own_pages(
    method: str, headers: dict[str, str], accepted: bool
) -> None:
    assert (foreign_request(method, {"host": HOST, **headers}) is None) is accepted


@each_row(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "null"},
        {"host": "rebound.example", "sec-fetch-site": "same-origin"},
        {"host": "rebound.example:8283", "origin": "http://rebound.example:8283"},
    ],
)
def test_another_origin_changes_nothing_although_it_sends_the_cookie(
    words_only: LocalRecollect, headers: dict[str, str]
) -> None:
    (candidate,) = add_candidates(words_only, 1)
    client = page_client(words_only)

    response = client.post(
        "/ui/inbox/decide", data={"id": candidate, "verdict": "keep"}, headers=headers
    )

    assert response.status_code == 403
    assert words_only.memories.get(candidate).status == "inbox"


def test_the_cookie_opens_no_route_of_the_api(words_only: LocalRecollect) -> None:
    client = page_client(words_only, token="secret-token-for-the-api")

    assert client.get("/ui/inbox", headers=OWN).status_code == 200
    assert client.get("/api/inbox", headers=OWN).status_code == 401
    assert client.get("/health", headers=OWN).status_code == 401


@each_row(
    ("path", "is_page"),
    [
        ("/", False),
        ("/enter", True),
        ("/ui", True),
        ("/ui/inbox", True),
        ("/uixyz", False),
        ("/enter/x", False),
        ("/api/memories", False),
        ("/mcp", False),
        ("//ui", False),
    ],
)
def test_only_pages_are_without_the_token(path: str, is_page: bool) -> None:
    assert is_page_path(path) is is_page


def test_no_path_with_tricks_reaches_the_api_without_the_token(words_only: LocalRecollect) -> None:
    client = page_client(words_only, token="secret-token-for-the-api")

    for path in ("/ui/../api/memories", "/ui/%2e%2e/api/memories", "/ui//api/memories"):
        response = client.get(path, headers=OWN)
        assert response.status_code in (401, 404), path


@each_row("path", ["/", "/ui", "/ui/", "/ui/inbox", "/ui/static/style.css", "/enter?code=x"])
def test_every_response_has_the_security_headers(words_only: LocalRecollect, path: str) -> None:
    response = page_client(words_only).get(path, headers=NAVIGATION)

    for name, value in SECURITY_HEADERS.items():
        assert response.headers[name] == value
    if "static" not in path and response.status_code == 200:
        assert response.headers["cache-control"] == "no-store"


def test_nothing_of_the_token_or_the_key_is_in_a_page(words_only: LocalRecollect) -> None:
    client = page_client(words_only, token="secret-token-for-the-api")
    key = client.app.state.site.sessions.key  # type: ignore[attr-defined]

    html = client.get("/ui/inbox", headers=NAVIGATION).text

    assert "secret-token" not in html
    assert key not in html


@each_row("name", ["../page.py", "..%2fpage.py", "page.py", "style.css/x", "x.js"])
def test_only_scripts_and_styles_are_static_files(words_only: LocalRecollect, name: str) -> None:
    response = page_client(words_only).get(f"/ui/static/{name}", headers=NAVIGATION)

    assert response.status_code in (401, 404)
    assert "import" not in response.text


@each_row(
    ("host", "name"),
    [
        ("127.0.0.1:8283", "recollect_session_8283"),
        ("localhost", "recollect_session_80"),
        ("[::1]:9", "recollect_session_9"),
    ],
)
def test_a_cookie_is_named_after_the_port(host: str, name: str) -> None:
    assert cookie_name(host, "session") == name


def test_a_form_of_a_page_without_a_referrer_is_accepted(words_only: LocalRecollect) -> None:
    (candidate,) = add_candidates(words_only, 1)
    form = {"id": candidate, "verdict": "keep"}

    response = page_client(words_only).submit("/ui/inbox/decide", form, origin="null")

    assert response.status_code == 303
