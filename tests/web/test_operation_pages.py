"""Conversations, projects, timeline, jobs, models, skills, settings, health, live counts."""

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from recollect import LocalRecollect, Status
from recollect.config import Settings, load_settings
from recollect.domain.maintenance import PendingCounts
from recollect.domain.memory import MemoryType
from recollect.web.live_events import count_events
from recollect.web.pages.projects import validity_periods
from support import START, FakeClock, active_memory
from tables import each_row
from web_pages import NAVIGATION, OWN, PageClient, add_candidates, page_client, text_of

pytestmark = pytest.mark.door

COUNTS = PendingCounts(inbox=1, conflicts=0, jobs=0, failed_jobs=0, proposals=0)


@pytest.fixture
def client(words_only: LocalRecollect) -> PageClient:
    return page_client(words_only)


def read(client: PageClient, path: str) -> str:
    response = client.get(path, headers=NAVIGATION)
    assert response.status_code == 200, response.text
    return text_of(response.text)


def test_a_conversation_is_read_in_parts_and_found_by_its_words(
    words_only: LocalRecollect, client: PageClient
) -> None:
    talk = words_only.conversations.start(agent="coder", project="site", title="Deploys")
    messages = [{"role": "user", "content": f"Sentence {number}."} for number in range(70)]
    words_only.conversations.append_many(talk, messages)
    words_only.conversations.append(talk, "assistant", "The walnut server is down.")
    words_only.conversations.pin(talk, "Ticket 17", kind="ticket")

    listed = read(client, "/ui/conversations?q=walnut")
    first = read(client, f"/ui/conversations/{talk.id}")
    rest = read(client, f"/ui/conversations/{talk.id}?start=50")

    assert "Deploys" in listed
    assert "The walnut server is down." in listed
    assert "Sentence 49." in first
    assert "Sentence 50." not in first
    assert "Ticket 17" in first
    assert "The walnut server is down." in rest


def test_a_timeline_shows_what_was_believed_until_when(
    words_only: LocalRecollect, clock: FakeClock, client: PageClient
) -> None:
    old = words_only.ingest("The port is 8080.", project="site")
    clock.advance(days=3)
    words_only.memories.edit(old.id, content="The port is 9090.")
    site = words_only.projects.list()[0]

    page = read(client, f"/ui/timeline?project={site.id}")
    topic = read(client, "/ui/timeline?q=port")

    assert page.index("8080") < page.index("9090")
    assert "8 May 2026, 12:00 – 11 May 2026, 12:00" in page
    assert "– now" in page
    assert "8080" in topic
    assert "site" in read(client, "/ui/projects")


def test_periods_lie_on_the_axis_in_order() -> None:
    current = active_memory("b", MemoryType.PROJECT, "now")
    past = active_memory("a", MemoryType.PROJECT, "then")
    object.__setattr__(past, "status", Status.SUPERSEDED)
    object.__setattr__(past, "updated_at", START + timedelta(days=5))

    periods = validity_periods([current, past], START + timedelta(days=10))

    assert [(period.memory.id, round(period.width)) for period in periods] == [
        ("a", 50),
        ("b", 100),
    ]
    assert validity_periods([], START) == []


def test_jobs_are_listed_and_retried(words_only: LocalRecollect, client: PageClient) -> None:
    words_only.capture_session([{"role": "user", "content": "I prefer tabs."}], project="site")
    job = words_only.jobs.list()[0]

    page = read(client, "/ui/jobs")
    retried = client.submit("/ui/jobs", {"job": job.id})
    unknown = client.submit("/ui/jobs", {"job": "nothing"})

    assert "extract" in page
    assert "waiting" in page
    assert (retried.status_code, unknown.status_code) == (303, 404)


@each_row(
    ("address", "words"),
    [
        ("/ui/models", "Embedding models"),
        ("/ui/skills", "Skills"),
        ("/ui/health", "Not embedded yet"),
        ("/ui/projects", "No project is known yet."),
        ("/ui/conversations", "No conversation is recorded."),
    ],
)
def test_a_page_of_an_empty_store_says_so(client: PageClient, address: str, words: str) -> None:
    assert words in read(client, address)


def test_the_store_can_be_checked_from_the_page(client: PageClient) -> None:
    assert "0 problems" in text_of(client.submit("/ui/health", {}).text)


def test_settings_show_their_value_and_origin_but_no_secret(words_only: LocalRecollect) -> None:
    environ = {
        "RECOLLECT_TOKEN": "secret-token",
        "RECOLLECT_MAX_BODY_MB": "7",
        "RECOLLECT_PASSPHRASE": "secret-words",
        "RECOLLECT_DB": "postgresql://anna:secret-word@db.example/team",
        "RECOLLECT_DB_OWNER": "postgresql://owner:secret-word@db.example/team",
        "OLLAMA_BASE_URL": "http://anna:secret-word@models.example",
        "RECOLLECT_TRACE_ENDPOINT": "https://anna:secret-word@traces.example",
    }
    settings = load_settings(environ, port=9_999)
    client = page_client(words_only)
    client.app.state.settings = settings  # type: ignore[attr-defined]

    page = read(client, "/ui/settings")

    assert "token set RECOLLECT_TOKEN" in page
    assert "secret-" not in page
    assert "postgresql://anna@db.example/team" in page
    assert "max_body_mb 7 RECOLLECT_MAX_BODY_MB" in page
    assert "port 9999 argument" in page
    assert "single_user False default" in page
    assert "http://anna@models.example" in page
    assert "https://anna@traces.example" in page


def test_the_path_of_a_file_is_shown_as_it_is(words_only: LocalRecollect) -> None:
    client = page_client(words_only)
    client.app.state.settings = Settings(db="/srv/memory.db")  # type: ignore[attr-defined]

    assert "db /srv/memory.db default" in read(client, "/ui/settings")


def test_theme_and_shortcuts_are_remembered_by_the_browser(client: PageClient) -> None:
    client.submit("/ui/settings", {"theme": "dark"})

    html = client.get("/ui/settings", headers=NAVIGATION).text
    client.submit("/ui/settings", {"theme": "<script>", "shortcuts": "on"})
    reset = client.get("/ui/settings", headers=NAVIGATION).text

    assert '<html lang="en" data-theme="dark" data-keys="off">' in html
    assert '<html lang="en" data-theme="system" data-keys="on">' in reset


def test_live_counts_need_a_session_and_our_own_page(words_only: LocalRecollect) -> None:
    stranger = page_client(words_only, entered=False)

    assert stranger.get("/ui/events", headers=OWN).status_code == 401
    own = page_client(words_only)
    assert own.get("/ui/events", headers={"sec-fetch-site": "same-site"}).status_code == 403


def test_a_stream_sends_counts_that_changed_and_ends_with_the_server() -> None:
    rounds: Iterator[PendingCounts] = iter(
        [COUNTS, COUNTS, PendingCounts(**{**vars(COUNTS), "inbox": 2})]
    )
    left = [False, False, False, True]

    async def collect() -> list[str]:
        events = count_events(lambda: next(rounds), lambda: left.pop(0), interval_s=0)
        return [event async for event in events]

    retry, first, second = asyncio.run(collect())

    assert retry.startswith("retry:")
    assert json.loads(first.partition("data: ")[2])["inbox"] == 1
    assert json.loads(second.partition("data: ")[2])["inbox"] == 2


def test_the_navigation_counts_what_waits(words_only: LocalRecollect) -> None:
    add_candidates(words_only, 3)

    html = page_client(words_only).get("/ui/", headers=NAVIGATION).text

    assert '<span class="count" data-live="inbox" >3</span>' in html
