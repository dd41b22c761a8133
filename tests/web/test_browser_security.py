"""Every page in Chromium: no violation of the policy, no foreign request, no axe violation."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from browser_pages import PageServer, chromium, serve_pages, visit
from recollect import LocalRecollect
from recollect.domain.limits import MAX_CONTENT
from web_pages import add_candidates

pytestmark = pytest.mark.door

HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    "<iframe src=javascript:window.hacked=1>",
    "<a href=javascript:window.hacked=1>click</a>",
    "<body onload=window.hacked=1>",
    "<details open ontoggle=window.hacked=1>",
    "<input autofocus onfocus=window.hacked=1>",
    "<math><mtext></mtext><script>window.hacked=1</script></math>",
    "<style>@import url(http://evil.example/x.css)</style>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<base href=http://evil.example/>",
    "<form action=http://evil.example/><button>Keep</button></form>",
    "<object data=http://evil.example/x.swf></object>",
    "<embed src=http://evil.example/x.swf>",
    "<video src=http://evil.example/x.mp4 autoplay>",
    "</textarea><script>window.hacked=1</script>",
    "</title><script>window.hacked=1</script>",
    "</blockquote></article></main><script>window.hacked=1</script>",
    '" onmouseover="window.hacked=1',
    "' autofocus onfocus='window.hacked=1",
    "`;window.hacked=1;//",
    "${window.hacked=1}",
    "{{ 7 * 7 }}{% raw %}{{ self.__init__.__globals__ }}",
    "{{constructor.constructor('window.hacked=1')()}}",
    "<!--<script>--><script>window.hacked=1</script>",
    "<![CDATA[<script>window.hacked=1</script>]]>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "&#60;script&#62;window.hacked=1&#60;/script&#62;",
    "javascript:window.hacked=1",
    "data:text/html,<script>window.hacked=1</script>",
    "[click](javascript:window.hacked=1)",
    "![x](http://evil.example/pixel.png)",
    "http://evil.example/?q=secret",
    "safe \u202etxt.exe\u202c \u2066hidden\u2069",
    "zero\u200bwidth\ufeff joiner \U000e0041",
    "\x1b[2J\x1b]0;title\x07",
    "quote “The port is 8080.” — said the user (not)",
    "x" * MAX_CONTENT,  # a line of 1 MB
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def served(words_only: LocalRecollect) -> Iterator[PageServer]:
    with serve_pages(words_only) as server:
        yield server


def fill(rec: LocalRecollect) -> list[str]:
    """Put something on every page; return the addresses of all of them."""
    add_candidates(rec, 3)
    old = rec.ingest("The port is 8080.", project="site", tags=["net"], rationale="It is free.")
    new = rec.ingest("The port is 9090.", project="site")
    rec.link(new.id, "contradicts", old.id)
    rec.capture_session([{"role": "user", "content": "We decided to use Go."}], project="site")
    agent = rec.agents.create("coder", system_prompt="Be kind.")
    block = rec.blocks.set("coder", "persona", "first")
    rec.blocks.set("coder", "human", "Name: Ada", by="agent", author="coder")
    talk = rec.conversations.start(agent="coder", title="Deploys")
    rec.conversations.append(talk, "user", "When do we deploy?")
    rec.search("which port?", project="site", agent="coder")
    retrieval = rec.retrievals.list(limit=1)[0]
    return [
        "/ui/",
        "/ui/inbox",
        "/ui/memories",
        f"/ui/memories/{old.id}",
        f"/ui/memories/{old.id}/edit",
        f"/ui/memories/{old.id}/forget",
        "/ui/search?q=port&more=1",
        "/ui/search?q=zebra",
        "/ui/retrievals",
        f"/ui/retrievals/{retrieval.id}",
        "/ui/conflicts",
        "/ui/agents",
        f"/ui/agents/{agent.id}",
        f"/ui/blocks/{block.id}",
        "/ui/conversations?q=deploy",
        f"/ui/conversations/{talk.id}",
        "/ui/projects",
        "/ui/timeline",
        "/ui/jobs",
        "/ui/models",
        "/ui/skills",
        "/ui/settings",
        "/ui/health",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_an_axe_violation_or_breaks_its_policy(
    words_only: LocalRecollect, browser: Browser, served: PageServer, theme: str
) -> None:
    paths = fill(words_only)
    guest = visit(browser, served, color_scheme=theme)
    # axe is a script of the test; the policy would refuse it as it refuses every other.
    checker = visit(browser, served, color_scheme=theme, bypass_csp=True)

    for path in paths:
        guest.go(path)
        assert guest.problems == [], path
        violations = Axe().run(checker.go(path)).response["violations"]
        nodes = [(entry["id"], node["html"]) for entry in violations for node in entry["nodes"]]
        assert nodes == [], path
    guest.context.close()
    checker.context.close()


def test_every_page_fits_a_small_screen(
    words_only: LocalRecollect, browser: Browser, served: PageServer
) -> None:
    paths = fill(words_only)
    guest = visit(browser, served, viewport={"width": 360, "height": 700})

    for path in paths:
        page = guest.go(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
    guest.context.close()


def test_hostile_text_executes_nothing_and_is_shown_as_text(
    words_only: LocalRecollect, browser: Browser, served: PageServer
) -> None:
    for text in HOSTILE:
        words_only.ingest(text, status="inbox", project="site", type="project")
    name = "<img src=x onerror=window.hacked=1>"
    active = [
        words_only.ingest(text, project=f"{name} {number}") for number, text in enumerate(HOSTILE)
    ]
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "\n".join(HOSTILE[:30]))
    guest = visit(browser, served)

    paths = ["/ui/", "/ui/inbox", "/ui/memories", "/ui/memories?page=2", "/ui/timeline"]
    paths += ["/ui/projects", f"/ui/blocks/{block.id}", "/ui/search?q=script+window+hacked"]
    paths += [f"/ui/memories/{memory.id}" for memory in [*active[::8], active[-1]]]
    paths += [f"/ui/memories/{memory.id}/edit" for memory in [*active[17:20], active[-1]]]
    paths += [f"/ui/inbox?after={memory_id}" for memory_id in words_only.inbox.order()[9::10]]
    shown = ""
    for path in paths:
        page = guest.go(path)
        assert page.evaluate("window.hacked") is None, path
        assert guest.problems == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        shown += page.inner_text("main")
    for text in HOSTILE[:30]:
        assert text in shown
    guest.context.close()


def test_a_page_on_another_port_cannot_act_with_the_cookie(
    words_only: LocalRecollect, browser: Browser, served: PageServer, tmp_path: Path
) -> None:
    (candidate,) = add_candidates(words_only, 1)
    guest = visit(browser, served)
    target = f"{served.url}/ui/inbox/decide"
    (tmp_path / "evil.html").write_text(
        f"<form id=f method=post action='{target}'><input name=id value='{candidate}'>"
        "<input name=verdict value=keep></form><iframe id=i></iframe>"
        f"<script>fetch('{target}', {{method: 'POST', credentials: 'include', mode: 'no-cors',"
        f" body: new URLSearchParams({{id: '{candidate}', verdict: 'keep'}})}})"
        ".finally(() => document.getElementById('f').submit())</script>"
    )
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    evil = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=evil.serve_forever)
    thread.start()
    try:
        page = guest.context.new_page()
        page.goto(f"http://127.0.0.1:{evil.server_port}/evil.html")
        page.wait_for_url(target)
        assert "comes from another page" in page.inner_text("body")
        page.goto((tmp_path / "evil.html").as_uri())
        page.wait_for_url(target)
    finally:
        evil.shutdown()
        thread.join()
        evil.server_close()

    assert words_only.memories.get(candidate).status == "inbox"
    guest.context.close()
