"""A browser without a browser: a client with a session on the pages of a test's memory."""

import re
from collections.abc import Mapping
from typing import Any

from starlette.testclient import TestClient

from in_process_server import LOCAL
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app

NAVIGATION = {"sec-fetch-site": "none"}  # the user typed the address
OWN = {"sec-fetch-site": "same-origin"}
CHATTER = [
    "We decided to use pnpm, because npm is slow.",
    "I prefer short answers.",
    "Remember that the staging server is on port 8080.",
    "From now on always run the linter before a commit.",
    "The payments service is written in Go.",
]


class PageClient(TestClient):
    """A client that sends what a browser sends from our own pages."""

    def enter(self) -> None:
        """Get a session."""
        site = self.app.state.site  # type: ignore[attr-defined]
        code = site.sessions.mint_code(site.sessions.key)
        assert self.get(f"/enter?code={code}", headers=NAVIGATION).status_code == 303

    def submit(self, path: str, fields: Mapping[str, Any], **headers: str) -> Any:
        """Send a form as a browser does, and do not follow the redirect."""
        return self.post(path, data=dict(fields), headers={**OWN, **headers})


def page_client(rec: LocalRecollect, *, entered: bool = True, **settings: Any) -> PageClient:
    """Return a client of the pages of *rec*; without *entered* it has no session."""
    app = web_app(rec, Settings(requests_per_second=0, **settings))
    client = PageClient(app, base_url=LOCAL, follow_redirects=False)
    if entered:
        client.enter()
    return client


def add_candidates(rec: LocalRecollect, count: int, *, project: str = "site") -> list[str]:
    """Add *count* candidates that say different things; return their ids in review order."""
    for number in range(count):
        rec.ingest(
            f"Service {_word(number)} listens on port {8000 + number}.",
            status="inbox",
            project=project,
            type="project",
        )
    return [item.memory.id for item in rec.inbox.list(limit=count)]


def _word(number: int) -> str:
    trees = ("alder", "birch", "cedar", "elm", "fir", "ginkgo", "hazel", "ilex", "oak", "yew")
    return f"{trees[number % 10]}{trees[number // 10 % 10]}"


def text_of(html: str) -> str:
    """Return the text of a page, without markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())
