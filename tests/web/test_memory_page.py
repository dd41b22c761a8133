"""One memory in the browser: its quote, its history, and every action as a form."""

import re

import pytest

from recollect import LocalRecollect, Status
from recollect.calling_client import use_client
from recollect.domain.link import Link, LinkEnd, Relation
from recollect.domain.memory import MemoryType
from recollect.web.link_graph import MAX_NODES, link_graph
from support import START, active_memory
from web_pages import NAVIGATION, page_client, text_of

pytestmark = pytest.mark.door


def test_the_quote_is_marked_in_a_window_of_its_source(words_only: LocalRecollect) -> None:
    filler = "Some words about nothing. " * 400
    talk = [
        {"role": "assistant", "content": filler},
        {"role": "user", "content": "We decided to use SQLite because it is one file."},
        {"role": "assistant", "content": filler},
    ]
    words_only.capture_session(talk, project="site")
    words_only.drain()
    memory = next(
        item.memory for item in words_only.inbox.list() if "SQLite" in item.memory.content
    )
    client = page_client(words_only)

    page = client.get(f"/ui/memories/{memory.id}", headers=NAVIGATION).text
    wide = client.get(f"/ui/memories/{memory.id}?margin=20000", headers=NAVIGATION).text

    assert f"<mark>{memory.evidence[0].quote}</mark>" in page
    assert len(page) < len(filler) < len(wide)
    assert "Show more of the source" in page
    assert "Show more of the source" not in wide


def test_a_margin_that_is_no_number_is_the_usual_one(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The port is 8080.")
    client = page_client(words_only)

    for margin in ("abc", "-5", "", "9" * 30):
        page = client.get(f"/ui/memories/{memory.id}?margin={margin}", headers=NAVIGATION)
        assert page.status_code == 200, margin


def test_an_edit_leads_to_the_new_memory_and_undo_back_to_the_original(
    words_only: LocalRecollect,
) -> None:
    memory = words_only.ingest("The port is 8080.", project="site", type="project")
    client = page_client(words_only)
    form = {"content": "The port is 9090.", "tags": "net, ports", "reason": "it moved"}

    saved = client.submit(
        f"/ui/memories/{memory.id}/edit",
        {**form, "type": "project", "scope": "project", "project": memory.project_id},
    )
    edited_page = client.get(saved.headers["location"], headers=NAVIGATION)
    edited_id = saved.headers["location"].rpartition("/")[2]
    undone = client.submit(f"/ui/memories/{edited_id}/undo", {})

    edited = words_only.memories.get(edited_id)
    assert (edited.content, edited.tags) == ("The port is 9090.", ("net", "ports"))
    assert edited.project_id == memory.project_id
    assert "it moved" in edited_page.text
    assert "supersedes" in text_of(edited_page.text)
    assert undone.headers["location"] == f"/ui/memories/{memory.id}"
    assert words_only.memories.get(memory.id).status == "active"


def test_a_candidate_that_is_edited_is_kept_and_the_review_goes_on(
    words_only: LocalRecollect,
) -> None:
    candidate = words_only.ingest("The port is 8080.", status="inbox", type="project")
    client = page_client(words_only)
    form = {"content": "The port is 9090.", "type": "project", "scope": "global"}

    saved = client.submit(
        f"/ui/memories/{candidate.id}/edit", {**form, "observed_on": "2026-01-05"}
    )
    [edited] = words_only.memories.list(everywhere=True)
    undone = client.submit("/ui/inbox/undo", {})

    assert saved.headers["location"] == "/ui/inbox"
    assert (edited.content, f"{edited.observed_at:%Y-%m-%d}") == ("The port is 9090.", "2026-01-05")
    assert edited.evidence[0].quote == "The port is 8080."
    assert undone.status_code == 303
    assert words_only.memories.get(candidate.id).status == "inbox"


def test_an_edit_that_fails_shows_the_form_with_what_was_typed(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The port is 8080.")
    client = page_client(words_only)
    words_only.memories.edit(memory.id, content="Somebody was faster.")

    response = client.submit(f"/ui/memories/{memory.id}/edit", {"content": "My long text."})

    assert response.status_code == 409
    assert "cannot be edited" in response.text
    assert "My long text.</textarea>" in response.text


def test_a_memory_can_be_moved_to_every_project(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("Use tabs.", project="site")
    client = page_client(words_only)

    saved = client.submit(
        f"/ui/memories/{memory.id}/edit", {"content": "Use tabs.", "scope": "global"}
    )

    edited = words_only.memories.get(saved.headers["location"].rpartition("/")[2])
    assert (edited.scope, edited.project_id) == ("global", None)


def test_forgetting_shows_what_goes_first_and_a_receipt_afterwards(
    words_only: LocalRecollect,
) -> None:
    memory = words_only.ingest("The launch code is walnut.")
    client = page_client(words_only)

    asked = client.get(f"/ui/memories/{memory.id}/forget", headers=NAVIGATION)
    assert words_only.memories.get(memory.id).status == "active"
    done = client.submit(f"/ui/memories/{memory.id}/forget", {})
    gone = client.get(f"/ui/memories/{memory.id}", headers=NAVIGATION)

    assert "What would be removed" in asked.text
    assert "What was removed" in done.text
    assert "walnut" not in done.text
    assert gone.status_code == 404
    assert "Not found" in gone.text


def test_a_script_that_forgets_is_led_to_the_receipt(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The launch code is walnut.")
    client = page_client(words_only)

    path = f"/ui/memories/{memory.id}/forget"
    done = client.submit(path, {}, accept="application/json").json()

    assert "What was removed" in client.get(done["location"], headers=NAVIGATION).text
    stranger = client.get("/ui/forgotten?receipt=guess", headers=NAVIGATION)
    assert stranger.status_code == 404


def test_status_confirmation_and_undo_are_buttons(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("Use tabs.")
    client = page_client(words_only)

    client.submit(f"/ui/memories/{memory.id}/status", {"status": "archived"})
    assert words_only.memories.get(memory.id).status == "archived"
    client.submit(f"/ui/memories/{memory.id}/undo", {})
    confirmed = client.submit(f"/ui/memories/{memory.id}/confirm", {})

    assert words_only.memories.get(memory.id).status == "active"
    page = client.get(confirmed.headers["location"], headers=NAVIGATION).text
    assert "Confirmed: it counts as fresh again." in page
    assert len(re.findall(r"<li><strong>", page)) == 3


def test_a_page_shows_where_a_memory_was_returned(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The port is 8080.")
    words_only.search("which port is used?")

    page = text_of(
        page_client(words_only).get(f"/ui/memories/{memory.id}", headers=NAVIGATION).text
    )

    assert "1 retrieval in the log returned it." in page
    assert "which port is used?" in page


def test_links_are_listed_and_drawn(words_only: LocalRecollect) -> None:
    memory = words_only.ingest("The port is 8080.", project="site")
    other = words_only.ingest("The proxy forwards to 8080.", project="site")
    words_only.link(other.id, "derived_from", memory.id)
    words_only.link(memory.id, "applies_to", "project:site")

    page = page_client(words_only).get(f"/ui/memories/{memory.id}", headers=NAVIGATION).text

    assert "The proxy forwards to 8080." in page
    assert "project site" in text_of(page)
    assert page.count('<rect class="node"') == 2


def test_the_picture_has_room_for_a_few_and_counts_the_rest() -> None:
    memory = active_memory("m", MemoryType.PROJECT, "Centre")
    links = [
        Link(
            id=f"l{number}",
            from_id="m",
            relation=Relation.RELATED_TO,
            to_kind=LinkEnd.MEMORY,
            to_id=f"n{number}",
            created_at=START,
        )
        for number in range(MAX_NODES + 3)
    ]

    graph = link_graph(memory, links, {}, {})

    assert (len(graph.nodes), graph.left_out) == (MAX_NODES, 3)
    assert all(0 < node.x < graph.width and 0 < node.y < graph.height for node in graph.nodes)


def test_the_history_names_the_other_memory_and_links_to_it(words_only: LocalRecollect) -> None:
    original = words_only.ingest("The port is 8080.")
    edited = words_only.memories.edit(original.id, content="The port is 9090.")
    client = page_client(words_only)

    page = client.get(f"/ui/memories/{edited.id}", headers=NAVIGATION).text

    assert f'created as a copy of <a href="/ui/memories/{original.id}">The port is 8080.' in page
    assert f"copy of {original.id}" not in page


def test_a_quote_says_which_session_it_is_from_and_which_client_captured_it(
    words_only: LocalRecollect,
) -> None:
    talk = [{"role": "user", "content": "From now on let's use SQLite because it is one file."}]
    with use_client("codex"):
        words_only.capture_session(talk, project="site", title="Storage")
    words_only.drain()
    [memory] = words_only.memories.list(project="site", types="decision", statuses=list(Status))

    page = page_client(words_only).get(f"/ui/memories/{memory.id}", headers=NAVIGATION)

    assert "session “Storage” captured by codex" in text_of(page.text)


def test_an_address_that_is_no_page_is_answered_by_a_page(words_only: LocalRecollect) -> None:
    response = page_client(words_only).get("/ui/nowhere", headers=NAVIGATION)

    assert response.status_code == 404
    assert "There is no page /ui/nowhere" in text_of(response.text)
