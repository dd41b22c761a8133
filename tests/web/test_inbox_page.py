"""The inbox without JavaScript: every action is a form."""

import re

import pytest

from recollect import LocalRecollect
from web_pages import NAVIGATION, add_candidates, page_client, text_of

pytestmark = pytest.mark.door


def shown_ids(html: str) -> list[str]:
    """Return the ids of the candidates on a page, in order."""
    return re.findall(r'<article [^>]*data-id="([^"]+)"', html)


def test_a_candidate_is_shown_with_its_quote_its_reason_and_what_it_contradicts(
    words_only: LocalRecollect,
) -> None:
    words_only.ingest("The API listens on port 8080.", type="project", project="site")
    talk = [{"role": "user", "content": "The API listens on port 9090 now, because 8080 is taken."}]
    words_only.capture_session(talk, project="site", title="Ports")
    words_only.drain()
    item = words_only.inbox.list()[0]

    text = text_of(page_client(words_only).get("/ui/inbox", headers=NAVIGATION).text)

    assert item.memory.content in text
    assert "Waits because:" in text
    assert "Ports" in text
    assert [other.content in text for other in item.conflicts] == [True] * len(item.conflicts)


def test_a_verdict_changes_the_memory_and_leads_back_to_the_list(
    words_only: LocalRecollect,
) -> None:
    first, second, third = add_candidates(words_only, 3)
    client = page_client(words_only)

    kept = client.submit("/ui/inbox/decide", {"id": first, "verdict": "keep"})
    client.submit("/ui/inbox/decide", {"id": second, "verdict": "reject"})
    page = client.get("/ui/inbox", headers=NAVIGATION)

    assert (kept.status_code, kept.headers["location"]) == (303, "/ui/inbox")
    assert words_only.memories.get(first).status == "active"
    assert words_only.memories.get(second).status == "archived"
    assert shown_ids(page.text) == [third]
    assert "Rejected." in page.text
    assert "Rejected." not in client.get("/ui/inbox", headers=NAVIGATION).text


def test_undo_takes_back_every_decision_of_the_session_the_last_first(
    words_only: LocalRecollect,
) -> None:
    ids = add_candidates(words_only, 3)
    client = page_client(words_only)
    client.submit("/ui/inbox/decide", {"id": ids[:2], "verdict": "keep"})
    client.submit("/ui/inbox/decide", {"id": ids[2], "verdict": "reject"})

    client.submit("/ui/inbox/undo", {})
    after_one = [words_only.memories.get(memory_id).status for memory_id in ids]
    client.submit("/ui/inbox/undo", {})
    after_two = [words_only.memories.get(memory_id).status for memory_id in ids]
    client.submit("/ui/inbox/undo", {})

    assert after_one == ["active", "active", "inbox"]
    assert after_two == ["inbox", "inbox", "inbox"]
    assert "There is nothing to undo." in client.get("/ui/inbox", headers=NAVIGATION).text


def test_later_moves_a_candidate_to_the_end_for_this_browser_only(
    words_only: LocalRecollect,
) -> None:
    first, second = add_candidates(words_only, 2)
    client, other = page_client(words_only), page_client(words_only)

    client.submit("/ui/inbox/decide", {"id": first, "verdict": "later"})

    assert shown_ids(client.get("/ui/inbox", headers=NAVIGATION).text) == [second, first]
    assert shown_ids(other.get("/ui/inbox", headers=NAVIGATION).text) == [first, second]


def test_a_script_gets_json_with_what_was_decided(words_only: LocalRecollect) -> None:
    (candidate,) = add_candidates(words_only, 1)
    client = page_client(words_only)

    done = client.submit(
        "/ui/inbox/decide", {"id": candidate, "verdict": "keep"}, accept="application/json"
    )
    again = client.submit(
        "/ui/inbox/decide", {"id": candidate, "verdict": "keep"}, accept="application/json"
    )

    assert done.json() == {
        "location": "/ui/inbox",
        "notice": "Kept.",
        "decided": [candidate],
        "waiting": 0,
    }
    assert again.status_code == 409
    assert "only a candidate or a statement can be decided" in again.json()["error"]


def test_a_stale_tab_says_what_happened_and_keeps_the_text_of_its_form(
    words_only: LocalRecollect,
) -> None:
    (candidate,) = add_candidates(words_only, 1)
    client = page_client(words_only)
    words_only.forget(candidate)

    form = {"id": candidate, "verdict": "reject", "reason": "A long reason that I typed."}
    response = client.submit("/ui/inbox/decide", form)

    assert response.status_code == 404
    assert "A long reason that I typed." in response.text
    assert "Nothing of it was stored." in response.text


def test_duplicates_are_one_item_and_are_decided_together(words_only: LocalRecollect) -> None:
    for _ in range(3):
        words_only.ingest("The staging host is walnut.", status="inbox", project="site")
    client = page_client(words_only)

    page = client.get("/ui/inbox", headers=NAVIGATION).text
    (only,) = shown_ids(page)
    client.submit("/ui/inbox/decide", {"id": only, "verdict": "keep"})

    assert "2 more say the same; decided together" in text_of(page)
    assert words_only.inbox.list() == []


def test_a_candidate_shows_its_quote_in_context_and_the_list_can_be_downloaded(
    words_only: LocalRecollect,
) -> None:
    said = "Good morning. We decided to use pnpm, because npm is slow. What is next?"
    words_only.capture_session([{"role": "user", "content": said}], project="site", title="Tools")
    words_only.drain()
    client = page_client(words_only)

    page = client.get("/ui/inbox", headers=NAVIGATION).text
    file = client.get("/ui/inbox?format=json", headers=NAVIGATION).json()

    assert "<mark>We decided to use pnpm, because npm is slow.</mark>" in page
    assert "Good morning. " in page
    assert " What is next?" in page
    assert "site" in text_of(page)
    assert "Tools, " in page
    assert [item["memory"]["type"] for item in file] == ["decision"]


def test_an_empty_inbox_says_so_with_a_summary(words_only: LocalRecollect) -> None:
    first, second = add_candidates(words_only, 2)
    client = page_client(words_only)
    client.submit("/ui/inbox/decide", {"id": first, "verdict": "keep"})
    client.submit("/ui/inbox/decide", {"id": second, "verdict": "reject"})

    page = text_of(client.get("/ui/inbox", headers=NAVIGATION).text)

    assert "Inbox empty" in page
    assert "1 kept, 1 rejected" in page.replace(" ,", ",")


def test_stored_text_is_never_markup(words_only: LocalRecollect) -> None:
    words_only.ingest("<script>alert(1)</script> \u202e{{ 7 * 7 }}", status="inbox")

    page = page_client(words_only).get("/ui/inbox", headers=NAVIGATION).text

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &lt;U+202E&gt;{{ 7 * 7 }}" in page


def test_two_candidates_that_contradict_each_other_are_one_item_of_the_page(
    words_only: LocalRecollect,
) -> None:
    [older] = words_only.memories.ingest_many([{"content": "Port 8080.", "status": "inbox"}])
    [newer] = words_only.memories.ingest_many([{"content": "Port 9090.", "status": "inbox"}])
    words_only.link(newer.id, "contradicts", older.id)
    client = page_client(words_only)

    page = client.get("/ui/inbox", headers=NAVIGATION).text

    assert shown_ids(page) == [newer.id]
    assert "Port 8080." in page
    words_only.inbox.decide(newer.id, "reject")
    assert shown_ids(client.get("/ui/inbox", headers=NAVIGATION).text) == [older.id]


def test_what_was_perhaps_pasted_is_not_called_said(words_only: LocalRecollect) -> None:
    message = "The attendees for the launch are: Ana, Bruno, Carla and Diego."
    words_only.capture_session([{"role": "user", "content": message}], project="site")
    words_only.drain()
    [item] = words_only.inbox.list()
    client = page_client(words_only)

    for path in ("/ui/inbox", f"/ui/memories/{item.memory.id}"):
        text = text_of(client.get(path, headers=NAVIGATION).text)

        assert "perhaps pasted" in text
        assert "said by pasted" not in text
