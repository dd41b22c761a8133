"""Chromium on the pages of a test's memory."""

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app

FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@dataclass
class PageServer:
    """A server of pages that a test can stop."""

    url: str
    app: Any
    server: uvicorn.Server
    thread: threading.Thread

    def entry(self) -> str:
        """Return an address that starts a session."""
        sessions = self.app.state.site.sessions
        return f"{self.url}/enter?code={sessions.mint_code(sessions.key)}"

    def stop(self) -> None:
        """Stop serving."""
        self.app.state.site.is_stopping = lambda: True
        self.server.should_exit = True
        self.thread.join()


@contextmanager
def serve_pages(rec: LocalRecollect) -> Iterator[PageServer]:
    """Serve the pages of *rec* inside the block."""
    app = web_app(rec, Settings(requests_per_second=0))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        config = uvicorn.Config(app, lifespan="off", log_level="error", timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        served = PageServer(f"http://127.0.0.1:{listener.getsockname()[1]}", app, server, thread)
        try:
            yield served
        finally:
            served.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Debian's Chromium; fail with what to install if there is none."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("these tests need Chromium: apt-get install -y chromium")
    driver: Playwright
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS.split())
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visit:
    """One browser with a session, and what went wrong in it."""

    server: PageServer
    context: BrowserContext
    page: Page
    problems: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        """Open a page of the server."""
        self.page.goto(f"{self.server.url}{path}")
        return self.page

    def tab(self, path: str) -> Page:
        """Open a page in another tab."""
        page = self.context.new_page()
        _watch(page, self)
        page.goto(f"{self.server.url}{path}")
        return page


def visit(browser: Browser, server: PageServer, **options: Any) -> Visit:
    """Enter with a new browser; every console error, foreign request and dialog is a problem."""
    context = browser.new_context(**options)
    context.set_default_timeout(20_000)
    visitor = Visit(server, context, context.new_page())
    _watch(visitor.page, visitor)
    visitor.page.goto(server.entry())
    return visitor


def _watch(page: Page, visitor: Visit) -> None:
    def on_request(address: str) -> None:
        if not address.startswith((visitor.server.url, "data:")):
            visitor.problems.append(f"a request left: {address}")

    page.on("request", lambda request: on_request(request.url))
    page.on("pageerror", lambda error: visitor.problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: visitor.problems.append(f"dialog: {dialog.message}"))
    page.on(
        "console",
        lambda entry: (
            visitor.problems.append(f"console: {entry.text}") if entry.type == "error" else None
        ),
    )
