"""The pages in real Chromium: keys, forms, live counts, two tabs, no JavaScript."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser_pages import PageServer, Visit, chromium, serve_pages, visit
from recollect import LocalRecollect, Status
from server_process import run_server, without_embedder
from support import FakeClock
from terminal import installed
from web_pages import add_candidates

pytestmark = pytest.mark.door


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def served(words_only: LocalRecollect) -> Iterator[PageServer]:
    with serve_pages(words_only) as server:
        yield server


@pytest.fixture
def visitor(browser: Browser, served: PageServer) -> Iterator[Visit]:
    guest = visit(browser, served)
    yield guest
    guest.context.close()


def statuses(rec: LocalRecollect, ids: list[str]) -> list[Status]:
    return [rec.memories.get(memory_id).status for memory_id in ids]


def test_the_first_visit_goes_through_the_command(browser: Browser, tmp_path: Path) -> None:
    with run_server(tmp_path / "memory.db") as server:
        command = ["open", "--no-browser", "--json", "--port", str(server.port)]
        done = subprocess.run(
            [installed("recollect"), "--db", str(tmp_path / "memory.db"), *command],
            env=without_embedder(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        address = json.loads(done.stdout)["address"]
        page = browser.new_page()
        page.goto(address)
        expect(page.get_by_role("heading", name="First steps")).to_be_visible()
        assert page.url == f"{server.url}/ui/"
        page.close()
        stranger = browser.new_page()
        stranger.goto(address)
        expect(stranger.get_by_role("alert")).to_contain_text("used already")
        stranger.close()


def test_thirty_candidates_are_reviewed_by_keyboard_alone_with_undo_across_a_reload(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    ids = add_candidates(words_only, 30)
    page = visitor.go("/ui/inbox")

    for number in range(10):
        page.keyboard.press("y" if number % 2 == 0 else "n")
    expect(page.locator("[data-waiting]")).to_have_text("20 waiting")
    page.keyboard.press("u")
    expect(page.locator("[data-waiting]")).to_have_text("21 waiting")
    page.reload()
    page.keyboard.press("u")
    expect(page.locator("[data-waiting]")).to_have_text("22 waiting")
    expect(page.locator(f"#m-{ids[8]}")).to_have_attribute("aria-current", "true")
    page.keyboard.press("y")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("Shift+N")
    for _ in range(19):
        page.keyboard.press("y")
    expect(page.get_by_role("heading", name="Inbox empty")).to_be_visible()
    expect(page.locator("[data-empty]")).to_contain_text("24 kept, 6 rejected")

    expected = [Status.ACTIVE, Status.ARCHIVED] * 4 + [Status.ACTIVE]
    expect(page.locator("[data-live=inbox]")).to_be_hidden()
    assert statuses(words_only, ids[:9]) == expected
    assert words_only.inbox.list() == []
    assert visitor.problems == []


def test_what_was_put_off_is_named_at_the_end_and_comes_again(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    ids = add_candidates(words_only, 3)
    page = visitor.go("/ui/inbox")

    for key in "lyn":
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="1 put off")).to_be_visible()
    page.get_by_role("link", name="Show them").click()
    expect(page.locator(".candidate")).to_have_count(1)
    page.wait_for_load_state()  # a click does not wait for the script of the next page
    page.keyboard.press("y")
    expect(page.get_by_role("heading", name="Inbox empty")).to_be_visible()

    expect(page.locator("nav [data-live=inbox]")).to_be_hidden()
    assert statuses(words_only, ids) == [Status.ACTIVE, Status.ACTIVE, Status.ARCHIVED]


def test_a_key_typed_into_a_field_is_text(words_only: LocalRecollect, visitor: Visit) -> None:
    ids = add_candidates(words_only, 1)
    page = visitor.go("/ui/inbox")

    page.keyboard.press("/")
    page.keyboard.type("yn?u")
    expect(page.locator("#find")).to_have_value("yn?u")
    assert statuses(words_only, ids) == [Status.INBOX]
    page.locator("#main").focus()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("y")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    assert statuses(words_only, ids) == [Status.INBOX]


def test_a_decision_that_cannot_be_made_comes_back_with_the_reason(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    first, _second = add_candidates(words_only, 2)
    page = visitor.go("/ui/inbox")
    words_only.forget(first)

    page.keyboard.press("y")

    expect(page.locator("[data-problem]")).to_contain_text("there is no memory", ignore_case=True)
    expect(page.locator(f"#m-{first}")).to_be_visible()


def test_a_memory_is_edited_and_forgotten_with_a_receipt(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    memory = words_only.ingest("The port is 8080.")
    page = visitor.go(f"/ui/memories/{memory.id}")

    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("The port is 9090.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The port is 9090.")
    expect(page.locator("mark")).to_have_text("The port is 8080.")
    page.get_by_role("link", name="Forget…").click()
    page.get_by_role("button", name="Forget it everywhere").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Forgotten")

    assert words_only.memories.list() == []
    assert visitor.problems == []


def test_a_conflict_is_decided_and_a_search_says_why_not(
    words_only: LocalRecollect, visitor: Visit, clock: FakeClock
) -> None:
    old = words_only.ingest("The port is 8080.")
    clock.advance(days=1)
    new = words_only.ingest("The port is 9090.")
    words_only.link(new.id, "contradicts", old.id)

    page = visitor.go("/ui/conflicts")
    page.get_by_role("button", name="The newer one is true").click()
    expect(page.get_by_text("No memories contradict each other.")).to_be_visible()
    page.locator("#find").fill("which port")
    page.keyboard.press("Enter")
    expect(page.locator(".hits li")).to_have_count(1)
    page.get_by_role("link", name="Is one missing?").click()
    expect(page.get_by_text("Its status is superseded")).to_be_visible()

    assert visitor.problems == []


def test_a_block_saved_in_two_tabs_shows_both_texts(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "first")
    page, other = visitor.go(f"/ui/blocks/{block.id}"), visitor.tab(f"/ui/blocks/{block.id}")

    other.get_by_label("Text").fill("from the other tab")
    other.get_by_role("button", name="Save").click()
    expect(other.get_by_role("status").first).to_contain_text("Saved")
    page.get_by_label("Text").fill("mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").last).to_contain_text("Somebody else saved")
    expect(page.locator(".window")).to_have_text("from the other tab")
    expect(page.get_by_label("Text").first).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").first).to_contain_text("Saved")

    assert words_only.blocks.get(None, block.id).value == "mine"


def test_the_count_is_live_while_an_agent_writes(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    add_candidates(words_only, 1)
    page = visitor.go("/ui/inbox")
    expect(page.locator("nav [data-live=inbox]")).to_have_text("1")

    words_only.ingest("The agent says this.", status="inbox", by="agent", author="coder")

    expect(page.locator("nav [data-live=inbox]")).to_have_text("2")
    expect(page.locator("[data-more]")).to_contain_text("1 new candidate.")
    expect(page.locator(".candidate")).to_have_count(1)
    page.get_by_role("link", name="Load").click()
    expect(page.locator(".candidate")).to_have_count(2)


def test_a_candidate_decided_in_two_tabs_is_decided_once(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    first, second = add_candidates(words_only, 2)
    page, other = visitor.go("/ui/inbox"), visitor.tab("/ui/inbox")

    other.keyboard.press("n")
    expect(other.locator("[data-status]")).to_have_text("Rejected.")
    expect(page.locator("nav [data-live=inbox]")).to_have_text("1")
    page.bring_to_front()
    page.keyboard.press("y")
    expect(page.locator("[data-problem]")).to_contain_text("is archived")
    page.reload()
    expect(page.locator(".candidate")).to_have_count(1)
    page.keyboard.press("y")
    expect(page.get_by_role("heading", name="Inbox empty")).to_be_visible()

    expect(page.locator("nav [data-live=inbox]")).to_be_hidden()
    assert statuses(words_only, [first, second]) == [Status.ARCHIVED, Status.ACTIVE]


def test_a_group_is_kept_with_one_button_and_what_was_said_is_kept_from_a_search(
    words_only: LocalRecollect, visitor: Visit
) -> None:
    ids = add_candidates(words_only, 3)
    talk = [{"role": "user", "content": "Thanks, the upload of the photos worked after lunch."}]
    words_only.capture_session(talk, project="site")
    words_only.drain()

    page = visitor.go("/ui/inbox")
    page.get_by_role("button", name="Keep these 3").click()
    expect(page.get_by_role("heading", name="Inbox empty")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".candidate:not(.decided)")).to_have_count(3)
    page = visitor.go("/ui/search?q=upload+of+photos")
    page.get_by_role("button", name="Keep as a memory").click()
    expect(page.get_by_role("status").first).to_contain_text("It is active now.")

    assert statuses(words_only, ids) == [Status.INBOX] * 3
    assert words_only.search("upload of photos", project="site")[0].memory.is_reviewed
    assert visitor.problems == []


def test_every_action_works_without_javascript(
    words_only: LocalRecollect, browser: Browser, served: PageServer
) -> None:
    first, second, third, *group = add_candidates(words_only, 5)
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "first")
    words_only.blocks.set("coder", "human", "Name: Ada", by="agent", author="coder")
    guest = visit(browser, served, java_script_enabled=False)

    def press(path: str, name: str, within: str = "main") -> None:
        guest.go(path).locator(within).get_by_role("button", name=name).first.click()

    press("/ui/inbox", "Keep", f"#m-{first}")
    press("/ui/inbox", "Reject", f"#m-{second}")
    press("/ui/inbox", "Undo")
    assert statuses(words_only, [first, second]) == [Status.ACTIVE, Status.INBOX]
    guest.go("/ui/inbox").locator(f"#m-{second} input[type=checkbox]").check()
    guest.page.locator("#selected").get_by_role("button", name="Keep").click()
    press("/ui/inbox", "Later", f"#m-{third}")
    expect(guest.page.locator(".candidate").last).to_have_attribute("id", f"m-{third}")
    press("/ui/inbox", "Reject these 3")
    assert statuses(words_only, [second, third, *group]) == [Status.ACTIVE, *[Status.ARCHIVED] * 3]

    page = guest.go(f"/ui/memories/{first}/edit")
    page.get_by_label("Text").fill("Edited without a script.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Edited without a script.")
    address = page.url.removeprefix(served.url)
    press(address, "Still true")
    press(address, "Archive")
    press(address, "Undo the last change")
    edited = words_only.memories.get(address.rpartition("/")[2])
    assert edited.status is Status.ACTIVE
    words_only.link(edited.id, "contradicts", second)
    press("/ui/conflicts", "Both are true")
    expect(guest.page.get_by_text("No memories contradict each other.")).to_be_visible()

    page = guest.go(f"/ui/blocks/{block.id}")
    page.get_by_label("Text").fill("second")
    page.get_by_role("button", name="Show the difference").click()
    expect(page.locator(".diff .plus").first).to_have_text("+second")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice").first).to_contain_text("Saved as version")
    press(f"/ui/blocks/{block.id}", "Restore version 2")
    assert words_only.blocks.get(None, block.id).value == "first"
    press("/ui/agents", "Accept")
    assert words_only.blocks.proposals() == []
    press("/ui/health", "Check the file")
    expect(guest.page.get_by_text("0 problems")).to_be_visible()
    guest.go("/ui/settings").get_by_label("Theme").select_option("dark")
    guest.page.get_by_role("button", name="Save").click()
    expect(guest.page.locator("html")).to_have_attribute("data-theme", "dark")
    press(f"/ui/memories/{second}/forget", "Forget it everywhere")
    expect(guest.page.get_by_role("heading", level=1)).to_have_text("Forgotten")

    assert guest.problems == []
    guest.context.close()


def test_a_stopped_server_costs_no_typed_text(words_only: LocalRecollect, visitor: Visit) -> None:
    memory = words_only.ingest("The port is 8080.")
    page = visitor.go(f"/ui/memories/{memory.id}/edit")
    expect(page.get_by_label("Text")).to_be_focused()
    page.get_by_label("Text").fill("A long text that I typed.")
    visitor.server.stop()

    page.get_by_role("button", name="Save").click()

    expect(page.locator("[data-problem]")).to_contain_text("The server does not answer.")
    expect(page.get_by_label("Text")).to_have_value("A long text that I typed.")


def test_times_are_shown_in_the_time_zone_of_the_browser(
    words_only: LocalRecollect, browser: Browser, served: PageServer
) -> None:
    memory = words_only.ingest("The port is 8080.", observed_at="2026-01-31T20:30:00Z")
    context = browser.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    page.goto(served.entry())

    page.goto(f"{served.url}/ui/memories/{memory.id}")

    shown = page.locator("main .meta time").first
    expect(shown).to_have_text("1 Feb 2026, 05:30")
    expect(shown).to_have_attribute("title", "31 Jan 2026, 20:30 UTC")
    expect(page.locator("[data-zone]")).to_have_text("times in Asia/Tokyo")
    context.close()
