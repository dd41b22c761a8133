"""
Take the pictures of the pages for the documents: docs/pages-*.png.

    python scripts/page_screenshots.py

A temporary store gets a few memories and a captured session; Debian's Chromium shows the pages.
"""

import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import uvicorn
from playwright.sync_api import sync_playwright

from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app

DOCS = Path(__file__).resolve().parent.parent / "docs"
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
Theme = Literal["light", "dark"]
TALK = [
    {
        "role": "user",
        "content": "From now on let's use SQLite because it is one file. I prefer short answers.",
    },
    {"role": "assistant", "content": "Understood: SQLite. I will keep my answers short."},
    {
        "role": "user",
        "content": "We decided to drop Redis, because nobody needs the queue. "
        "The API listens on port 9090 now.",
    },
]


def main() -> None:
    """Take all pictures."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("this needs Chromium: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_sample(Path(folder)) as (rec, pages),
        serve(rec) as (url, code),
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS.split())
        page = browser.new_page(viewport={"width": 1040, "height": 680})
        page.goto(f"{url}/enter?code={code}")
        for name, (path, theme) in pages.items():
            page.emulate_media(color_scheme=theme)
            page.goto(f"{url}{path}")
            page.locator("main").wait_for()
            page.screenshot(path=DOCS / f"pages-{name}.png")
            print(f"wrote pages-{name}.png")
        browser.close()


@contextmanager
def open_sample(folder: Path) -> Iterator[tuple[LocalRecollect, dict[str, tuple[str, Theme]]]]:
    """Open a store with something on every page; yield it and the pages to show."""
    settings = Settings(db=str(folder / "memory.db"), embedding_backend="none")
    with LocalRecollect(settings) as rec:
        rec.ingest("The API listens on port 8080.", type="project", project="site")
        rec.ingest("Use pnpm, not npm.", type="decision", project="site", rationale="Faster CI.")
        rec.capture_session(TALK, project="site", title="Storage")
        rec.drain()
        memory = rec.search("SQLite", project="site", types="decision")[0].memory
        rec.search("which database?", project="site")
        yield (
            rec,
            {
                "inbox": ("/ui/inbox", "light"),
                "memory": (f"/ui/memories/{memory.id}", "dark"),
                "search": ("/ui/search?q=which+port", "light"),
            },
        )


@contextmanager
def serve(rec: LocalRecollect) -> Iterator[tuple[str, str]]:
    """Serve the store in a thread; yield the address and a code to enter."""
    app = web_app(rec, Settings(requests_per_second=0))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        config = uvicorn.Config(app, lifespan="off", log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        sessions = app.state.site.sessions
        try:
            port = listener.getsockname()[1]
            yield f"http://127.0.0.1:{port}", sessions.mint_code(sessions.key)
        finally:
            app.state.site.is_stopping = lambda: True
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main()
