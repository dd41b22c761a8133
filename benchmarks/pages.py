"""
Measure the pages: `python -m benchmarks.pages`.

Every page of a store of 100,000 memories, 5,000 of them candidates, is requested a number of times
after one request that does not count. Server time is the time from the request to the whole
response in this process, as CPU time of the process and as wall time. First-load bytes are the page
with its style sheet and scripts, compressed. A key press in the inbox is timed in Chromium: from
the key to the frame that shows the next candidate, and to the server's response.
"""

import argparse
import gzip
import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright
from starlette.testclient import TestClient

import recollect
from benchmarks.generated_sentences import questions, sentences
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.page_store import fill, open_store
from benchmarks.quality import RESULTS
from recollect.app.local_recollect import LocalRecollect
from recollect.config import Settings
from recollect.server.web_app import web_app
from scripts.page_screenshots import FLAGS, serve

OUT = RESULTS / "pages.md"
OWN = {"sec-fetch-site": "same-origin"}
LIMIT_MS = 50
KEYS = "ynylyyny"
# Runs in the page: notes each key, and when the frame after it was shown.
TIMER = """
window.timings = [];
document.addEventListener("keydown", (event) => {
  const timing = { pressed: event.timeStamp };
  window.timings.push(timing);
  requestAnimationFrame(() => setTimeout(() => { timing.shown = performance.now(); }));
}, { capture: true });
"""
RESPONSES = """
performance.getEntriesByType("resource")
  .filter((entry) => entry.name.endsWith("/decide")).map((entry) => entry.responseEnd)
"""


@dataclass(frozen=True, kw_only=True)
class PageTimes:
    """What one page costs."""

    page: str
    cpu_ms: Sequence[float]
    wall_ms: Sequence[float]
    html_bytes: int
    first_load_bytes: int


@dataclass(frozen=True, kw_only=True)
class KeyTimes:
    """How long key presses took in a browser, in ms."""

    shown: Sequence[float]
    answered: Sequence[float]


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    with TemporaryDirectory(prefix="recollect-pages-") as folder:
        db = options.db or Path(folder) / "memory.db"
        is_new = not db.exists()
        with open_store(db) as rec:
            if is_new:
                fill(rec, memories=options.memories, candidates=options.candidates)
        with open_store(db) as rec:
            active = sentences(options.memories)[options.candidates :]
            paths = page_paths(rec, [question.text for question in questions(active, 80, seed=11)])
            times = [measure_page(rec, name, paths[name], options.times) for name in paths]
            keys = None if shutil.which("chromium") is None else measure_keys(rec)
            by_status = rec.maintenance.status().memories_by_status
    report = render(times, keys, by_status, options.times)
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def page_paths(rec: LocalRecollect, queries: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the addresses of every page, by its name; a search asks another query each time."""
    has_hits = {query: bool(rec.search(query, everywhere=True)) for query in queries}
    memory = rec.memories.list(everywhere=True, limit=1)[0]
    agent = rec.agents.list()[0]
    block = rec.blocks.list(agent)[0]
    conversation = rec.conversations.list(limit=1)[0]
    retrieval = rec.retrievals.list(limit=1)[0]
    paths = {
        "home": "/ui/",
        "inbox": "/ui/inbox",
        "memories": "/ui/memories",
        "memories, page 20": "/ui/memories?page=20",
        "memory": f"/ui/memories/{memory.id}",
        "memory, edit": f"/ui/memories/{memory.id}/edit",
        "retrievals": "/ui/retrievals",
        "retrieval": f"/ui/retrievals/{retrieval.id}",
        "conflicts": "/ui/conflicts",
        "agents": "/ui/agents",
        "agent": f"/ui/agents/{agent.id}",
        "block": f"/ui/blocks/{block.id}",
        "conversations": "/ui/conversations",
        "conversation": f"/ui/conversations/{conversation.id}",
        "projects": "/ui/projects",
        "timeline": "/ui/timeline",
        "jobs": "/ui/jobs",
        "models": "/ui/models",
        "skills": "/ui/skills",
        "settings": "/ui/settings",
        "health": "/ui/health",
    }
    by_name: dict[str, Sequence[str]] = {name: [path] for name, path in paths.items()}
    answered = [query for query in queries if has_hits[query]]
    by_name["search"] = [_search_path(query) for query in answered]
    by_name["search of one project"] = [
        _search_path(query, project=memory.project_id or "") for query in answered
    ]
    by_name["search, nothing found"] = [
        _search_path(query) for query in queries if not has_hits[query]
    ]
    return by_name


def measure_page(rec: LocalRecollect, name: str, paths: Sequence[str], times: int) -> PageTimes:
    """Request a page; return the times of all requests but the first."""
    client = _client(rec)
    text = _get(client, paths[0])
    cpu_ms, wall_ms = [], []
    for number in range(times):
        # Every count is read again, as if the last request had been long ago.
        client.app.state.site.counts.expire()  # type: ignore[attr-defined]
        wall, cpu = perf_counter(), process_time()
        _get(client, paths[(number + 1) % len(paths)])
        cpu_ms.append(1000 * (process_time() - cpu))
        wall_ms.append(1000 * (perf_counter() - wall))
    linked = re.findall(r'(?:href|src)="(/ui/static/[^"]+)"', text)
    files = [_get(client, address) for address in dict.fromkeys(linked)]
    return PageTimes(
        page=name,
        cpu_ms=cpu_ms,
        wall_ms=wall_ms,
        html_bytes=_compressed(text),
        first_load_bytes=sum(map(_compressed, [text, *files])),
    )


def measure_keys(rec: LocalRecollect) -> KeyTimes:
    """Review candidates by keyboard in Chromium; return how long each key took."""
    with serve(rec) as (url, code), sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=FLAGS.split()
        )
        page = browser.new_page()
        page.goto(f"{url}/enter?code={code}")
        page.goto(f"{url}/ui/inbox")
        page.locator(".candidate[aria-current]").wait_for()
        page.evaluate(TIMER)
        for key in KEYS * 2:
            with page.expect_response("**/decide"):
                page.keyboard.press(key)
        timings = page.evaluate("window.timings")
        _undo_everything(page)
        responses = page.evaluate(RESPONSES)
        browser.close()
    return KeyTimes(
        shown=[timing["shown"] - timing["pressed"] for timing in timings],
        answered=[
            ended - timing["pressed"] for timing, ended in zip(timings, responses, strict=True)
        ],
    )


def _undo_everything(page: Page) -> None:
    """Leave the store as it was."""
    decided = len(KEYS.replace("l", "")) * 2
    for _ in range(decided):
        with page.expect_response("**/undo"):
            page.keyboard.press("u")


def _client(rec: LocalRecollect) -> TestClient:
    app = web_app(rec, Settings(requests_per_second=0))
    client = TestClient(app, base_url="http://127.0.0.1:8283")
    sessions = app.state.site.sessions
    client.get(f"/enter?code={sessions.mint_code(sessions.key)}", headers=OWN)
    return client


def _get(client: TestClient, path: str) -> str:
    response = client.get(path, headers=OWN)
    if response.status_code != 200:
        raise SystemExit(f"pages: {path} answered {response.status_code}")
    return response.text


def _search_path(query: str, **fields: str) -> str:
    return f"/ui/search?{urlencode({'q': query, **fields})}"


def _compressed(text: str) -> int:
    return len(gzip.compress(text.encode()))


def render(
    times: Sequence[PageTimes],
    keys: KeyTimes | None,
    by_status: Mapping[str, int],
    requests: int,
) -> str:
    """Return the report."""
    rows: list[list[Any]] = [
        [
            row.page,
            *(f"{percentile(row.cpu_ms, rank):.1f}" for rank in (50, 95)),
            *(f"{percentile(row.wall_ms, rank):.1f}" for rank in (50, 95)),
            f"{row.html_bytes / 1000:.1f}",
            f"{row.first_load_bytes / 1000:.1f}",
        ]
        for row in times
    ]
    cores = os.cpu_count()
    slow = [row.page for row in times if percentile(row.cpu_ms, 95) > LIMIT_MS]
    report = [
        "# The pages",
        "",
        f"`python -m benchmarks.pages --times {requests} --write`, Recollect "
        f"{recollect.__version__}, Python {platform.python_version()}, "
        f"{sum(by_status.values()):,} memories, {by_status.get('inbox', 0):,} of them in the "
        f"inbox, default embedder for queries; {requests} requests of each page, {cores} cores, "
        f"load average {os.getloadavg()[1]:.1f}: above the number of cores, times are too high.",
        "",
        "Server time of one page in ms, and bytes of the first load in kB, compressed.",
        "",
        *table(["page", "CPU p50", "CPU p95", "wall p50", "wall p95", "HTML", "first load"], rows),
        "",
        f"Over {LIMIT_MS} ms of CPU at p95: {', '.join(slow) or 'none'}.",
    ]
    if keys is not None:
        report += [
            "",
            "A key press in the inbox, in Chromium, in ms:",
            "",
            *table(
                ["until", "p50", "p95", "slowest"],
                [
                    [name, *(f"{percentile(list(values), rank):.0f}" for rank in (50, 95, 100))]
                    for name, values in (
                        ("the next candidate is shown", keys.shown),
                        ("the decision is stored", keys.answered),
                    )
                ],
            ),
        ]
    return "\n".join(report) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--candidates", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=20, help="requests of each page")
    parser.add_argument("--db", type=Path, help="keep the store in this file, or use the one there")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
