"""A full disk, a line of 1 MB, a stale tab: a page says what happened, and nothing is lost."""

from typing import Any

import pytest

from recollect import LocalRecollect
from recollect.domain.limits import MAX_CONTENT
from support import file_store
from web_pages import NAVIGATION, PageClient, add_candidates, page_client

pytestmark = pytest.mark.door

LONG = "A long text that somebody typed. " * 3_000
JSON = {"accept": "application/json"}


@pytest.fixture
def client(words_only: LocalRecollect) -> PageClient:
    return page_client(words_only)


def fill_disk(rec: LocalRecollect) -> None:
    """Let the database grow no more."""
    database = file_store(rec)._tables.connection.db
    pages = database.execute("PRAGMA page_count").get
    database.execute(f"PRAGMA max_page_count = {pages}").fetchall()


def submit(client: PageClient, path: str, **fields: Any) -> tuple[str, str]:
    """Send a form as a browser without a script does, and as a script does; return both texts."""
    page, answer = client.submit(path, fields), client.submit(path, fields, **JSON)
    assert page.status_code >= 400
    assert answer.status_code >= 400
    return page.text, answer.json()["error"]


def test_a_full_disk_is_said_and_costs_no_typed_text(
    words_only: LocalRecollect, client: PageClient
) -> None:
    memory = words_only.ingest("The port is 8080.")
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "short")
    fill_disk(words_only)

    edited, edit_error = submit(
        client, f"/ui/memories/{memory.id}/edit", content=LONG, type="profile", scope="global"
    )
    saved = client.submit(f"/ui/blocks/{block.id}", {"value": LONG[:20_000], "version": "2"})

    no_text = client.submit(f"/ui/blocks/{block.id}", {"version": "2"})

    assert "no space left to write" in edit_error.lower()
    assert "Free some space" in edit_error
    assert LONG in edited
    assert "no space left to write" in saved.text.lower()
    assert LONG[:20_000] in saved.text
    assert "The form has no text" in no_text.text
    assert words_only.memories.get(memory.id).status == "active"
    assert words_only.blocks.get(None, block.id).value == "short"
    assert client.get(f"/ui/memories/{memory.id}", headers=NAVIGATION).status_code == 200


def test_a_form_about_something_that_is_gone_says_so_and_shows_what_was_typed(
    words_only: LocalRecollect, client: PageClient
) -> None:
    gone, replaced = words_only.ingest("It is gone."), words_only.ingest("It was replaced.")
    (decided,) = add_candidates(words_only, 1)
    words_only.forget(gone.id)
    words_only.memories.edit(replaced.id, content="This replaced it.")
    words_only.inbox.reject(decided)
    fields = {"content": LONG, "type": "profile", "scope": "global"}

    missing, missing_error = submit(client, f"/ui/memories/{gone.id}/edit", **fields)
    stale, stale_error = submit(client, f"/ui/memories/{replaced.id}/edit", **fields)
    late, late_error = submit(client, "/ui/inbox/decide", id=decided, verdict="keep")

    assert "there is no memory" in missing_error.lower()
    assert LONG in missing
    assert "is superseded by now" in stale_error
    assert LONG in stale
    assert "is archived" in late_error
    assert late_error in late.replace("&#39;", "'")


@pytest.mark.kill
def test_a_line_of_a_megabyte_is_cut_where_it_is_shown_and_whole_where_it_is_edited(
    words_only: LocalRecollect, client: PageClient
) -> None:
    line = "x" * MAX_CONTENT
    memory = words_only.ingest(line, project="site", type="project")
    candidate = words_only.ingest(line, status="inbox", project="other", type="project")

    paths = ["/ui/", "/ui/inbox", "/ui/memories", "/ui/timeline", f"/ui/memories/{memory.id}"]
    for path in [*paths, f"/ui/memories/{candidate.id}", "/ui/search?q=xxxx"]:
        page = client.get(path, headers=NAVIGATION)
        assert page.status_code == 200, path
        assert len(page.text) < 100_000, path
    editor = client.get(f"/ui/memories/{memory.id}/edit", headers=NAVIGATION)
    assert line in editor.text
