"""Pages that show: home, search, memories, retrievals, conflicts; and downloads."""

import csv
import io
import json

import pytest

from recollect import LocalRecollect
from support import FakeClock
from web_pages import NAVIGATION, PageClient, page_client, text_of

pytestmark = pytest.mark.door


def read(client: PageClient, path: str) -> str:
    """Return the text of a page that must exist."""
    response = client.get(path, headers=NAVIGATION)
    assert response.status_code == 200, response.text
    return text_of(response.text)


def test_home_shows_first_steps_only_while_the_store_is_empty(words_only: LocalRecollect) -> None:
    client = page_client(words_only)

    empty = read(client, "/ui/")
    words_only.ingest("Use tabs.")
    client.app.state.site.counts.expire()  # type: ignore[attr-defined]
    filled = read(client, "/ui/")

    assert "First steps" in empty
    assert "First steps" not in filled
    assert "Use tabs." in filled


def test_a_hit_shows_the_parts_of_its_score_and_why(rec: LocalRecollect) -> None:
    rec.ingest("The API listens on port 8080.", project="site")

    page = read(page_client(rec), "/ui/search?q=which+port")

    assert "The API listens on port 8080." in page
    for part in ("score", "words", "meaning", "relevance", "scope", "recency", "confidence"):
        assert part in page
    assert "Matches “port”" in page


def test_filters_restrict_a_search_and_a_list(words_only: LocalRecollect) -> None:
    words_only.ingest("The port is 8080.", project="site", tags=["net"])
    words_only.ingest("The port is 9090.", project="shop", type="decision")
    site = next(item for item in words_only.projects.list() if item.name == "site")
    client = page_client(words_only)

    assert "9090" not in read(client, f"/ui/search?q=port&project={site.id}")
    assert "8080" not in read(client, "/ui/search?q=port&type=decision")
    assert "9090" not in read(client, "/ui/memories?tag=net")
    assert "No memory passes these filters." in read(client, "/ui/memories?status=archived")


def test_what_nobody_reviewed_is_shown_as_said_and_can_be_kept(words_only: LocalRecollect) -> None:
    talk = [{"role": "user", "content": "Thanks, the upload of the photos worked after lunch."}]
    words_only.capture_session(talk, project="site")
    words_only.drain()
    [hit] = words_only.search("upload of photos", everywhere=True)
    client = page_client(words_only)
    address = "/ui/search?q=upload+of+photos&"

    before = text_of(client.get(address, headers=NAVIGATION).text)
    kept = client.submit(
        f"/ui/memories/{hit.memory.id}/status", {"status": "active", "query": "q=upload+of+photos&"}
    )
    after = text_of(client.get(kept.headers["location"], headers=NAVIGATION).text)

    said = f"said on {hit.memory.observed_at:%Y-%m-%d}, not reviewed"
    assert "Only unreviewed statements answer this." in before
    assert said in before
    assert "Keep as a memory" in before
    assert kept.headers["location"] == address
    assert words_only.memories.get(hit.memory.id).status == "active"
    assert "Only unreviewed" not in after
    assert "Keep as a memory" not in after


def test_weak_matches_alone_are_shown_as_the_closest(rec: LocalRecollect) -> None:
    for number in range(12):
        rec.ingest(f"The {number} red lamps of hall {number} are green at night.")
    rec.drain()
    client = page_client(rec)

    page = client.get("/ui/search?q=green+bulbs&everywhere=true", headers=NAVIGATION).text

    assert "Nothing is clearly relevant. These are the closest memories." in text_of(page)


def test_an_empty_result_says_why_and_what_was_left_out(words_only: LocalRecollect) -> None:
    words_only.ingest("The port is 8080.", project="site")
    archived = words_only.ingest("The walnut is brown.")
    words_only.memories.set_status(archived.id, "archived")
    client = page_client(words_only)

    nothing = read(client, "/ui/search?q=zebra")
    more = read(client, "/ui/search?q=walnut&more=1")
    why = read(client, f"/ui/search?q=port&why={archived.id}")

    assert "Nothing is relevant enough" in nothing
    assert "Its status is archived" in more
    assert "Why not?" in why
    assert "Its status is archived" in why


def test_a_search_without_words_leads_to_the_list(words_only: LocalRecollect) -> None:
    response = page_client(words_only).get("/ui/search?q=+", headers=NAVIGATION)

    assert (response.status_code, response.headers["location"]) == (303, "/ui/memories")


def test_a_bad_filter_is_a_sentence_not_a_failure(words_only: LocalRecollect) -> None:
    response = page_client(words_only).get("/ui/memories?type=nonsense", headers=NAVIGATION)

    assert response.status_code == 422
    assert "nonsense" in response.text


def test_memories_come_in_pages(words_only: LocalRecollect, clock: FakeClock) -> None:
    for number in range(25):
        words_only.ingest(f"Fact number {number:03}.")
        clock.advance(seconds=1)
    client = page_client(words_only)

    first, second = read(client, "/ui/memories"), read(client, "/ui/memories?page=2")

    assert "Fact number 024." in first
    assert "Fact number 004." not in first
    assert "Fact number 004." in second


def test_retrievals_are_listed_with_who_asked_and_explained(words_only: LocalRecollect) -> None:
    words_only.agents.create("coder")
    words_only.ingest("The port is 8080.", project="site")
    words_only.search("which port?", project="site", agent="coder")
    words_only.context_for("use the port", project="site", agent="coder")
    client = page_client(words_only)

    listed = read(client, "/ui/retrievals")
    retrieval = next(item for item in words_only.retrievals.list() if item.verb == "search")
    detail = read(client, f"/ui/retrievals/{retrieval.id}")

    assert "which port?" in listed
    assert "coder" in listed
    assert "Returned: 1" in detail
    assert "The port is 8080." in detail
    assert "coder" in detail


def test_a_conflict_shows_both_quotes_and_is_settled_by_a_button(
    words_only: LocalRecollect, clock: FakeClock
) -> None:
    older = words_only.ingest("The port is 8080.", project="site")
    clock.advance(days=1)
    newer = words_only.ingest("The port is 9090.", project="site")
    words_only.link(newer.id, "contradicts", older.id)
    client = page_client(words_only)
    form = {"keep": older.id, "other": newer.id}

    page = read(client, "/ui/conflicts")
    settled = client.submit("/ui/conflicts", {**form, "verdict": "other"})
    again = client.submit("/ui/conflicts", {**form, "verdict": "both"})

    assert page.index("The port is 8080.") < page.index("The port is 9090.")
    assert page.count("The port is 8080.") == 2  # the memory and its quote
    assert settled.status_code == 303
    assert words_only.memories.get(older.id).status == "superseded"
    assert words_only.memories.get(newer.id).status == "active"
    assert again.status_code == 409


def test_a_list_can_be_downloaded_and_runs_no_formula(words_only: LocalRecollect) -> None:
    words_only.ingest('=HYPERLINK("http://evil.example")')
    client = page_client(words_only)

    as_json = client.get("/ui/memories?format=json", headers=NAVIGATION)
    as_csv = client.get("/ui/memories?format=csv", headers=NAVIGATION)

    (memory,) = json.loads(as_json.text)
    assert memory["content"].startswith("=HYPERLINK")
    (row,) = csv.DictReader(io.StringIO(as_csv.text))
    assert row["content"].startswith("'=HYPERLINK")
    assert as_csv.headers["content-disposition"] == 'attachment; filename="recollect-memories.csv"'


def test_a_conversation_without_a_title_is_called_by_what_the_user_said_first(
    words_only: LocalRecollect,
) -> None:
    agent = words_only.agents.create(name="helper")
    untitled = words_only.conversations.start(agent=agent)
    words_only.conversations.append(untitled, "system", "You are helpful.")
    words_only.conversations.append(untitled, "user", "Which day is the market?")
    words_only.conversations.start(agent=agent, title="About lamps")
    words_only.conversations.start(agent=agent)
    client = page_client(words_only)

    for path in ("/ui/conversations", "/ui/agents/helper"):
        text = read(client, path)

        assert "Which day is the market?" in text
        assert "About lamps" in text
        assert text.count("untitled") == 1
