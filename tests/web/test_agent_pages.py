"""Agents and blocks in the browser: the editor, its history, concurrent changes, proposals."""

from pathlib import Path

import pytest

from agent_runs import agent_store
from recollect import LocalRecollect
from recollect.domain.context_bundle import WindowOverview
from recollect.models.scripted_turns import call_turn
from recollect.web.line_diff import diff_lines
from recollect.web.pages.agents import window_parts
from web_pages import NAVIGATION, page_client, text_of

pytestmark = pytest.mark.door


def test_an_agent_shows_its_blocks_and_its_context_window(words_only: LocalRecollect) -> None:
    agent = words_only.agents.create("coder", system_prompt="Be kind.")
    words_only.blocks.set("coder", "persona", "I am careful.")
    client = page_client(words_only)

    listed = text_of(client.get("/ui/agents", headers=NAVIGATION).text)
    page = text_of(client.get(f"/ui/agents/{agent.id}", headers=NAVIGATION).text)

    assert "coder" in listed
    assert "I am careful." in page
    assert "Be kind." in page
    assert "of 32,000 tokens" in page


def test_the_parts_of_a_window_are_stacked_and_fit() -> None:
    window = WindowOverview(window_tokens=1_000, counted_by="x", system=100, messages=300)

    parts = window_parts(window)

    assert [(part.name, part.start, part.width) for part in parts] == [
        ("system", 0.0, 10.0),
        ("messages", 10.0, 30.0),
    ]


def test_a_block_is_saved_after_its_difference_was_shown(words_only: LocalRecollect) -> None:
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "one\ntwo")
    client = page_client(words_only)
    form = {"value": "one\r\n2", "version": block.version, "reason": "shorter"}

    preview = client.submit(f"/ui/blocks/{block.id}", {**form, "action": "preview"})
    unchanged = words_only.blocks.get(None, block.id)
    saved = client.submit(f"/ui/blocks/{block.id}", {**form, "action": "save"})

    assert '<span class="minus">-two</span><span class="plus">+2</span>' in preview.text
    assert unchanged.value == "one\ntwo"
    assert saved.status_code == 303
    assert words_only.blocks.get(None, block.id).value == "one\n2"
    page = text_of(client.get(f"/ui/blocks/{block.id}", headers=NAVIGATION).text)
    assert "shorter" in page


def test_a_save_that_met_another_change_shows_both_and_loses_nothing(
    words_only: LocalRecollect,
) -> None:
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "first")
    client = page_client(words_only)
    words_only.blocks.set("coder", "persona", "by somebody else")

    form = {"value": "mine", "version": block.version, "action": "save"}
    conflict = client.submit(f"/ui/blocks/{block.id}", form)

    assert conflict.status_code == 409
    assert "by somebody else" in conflict.text
    assert "mine</textarea>" in conflict.text
    assert words_only.blocks.get(None, block.id).value == "by somebody else"
    again = client.submit(f"/ui/blocks/{block.id}", {**form, "version": block.version + 1})
    assert again.status_code == 303
    assert words_only.blocks.get(None, block.id).value == "mine"


def test_an_earlier_version_is_restored_as_a_new_one(words_only: LocalRecollect) -> None:
    words_only.agents.create("coder")
    first = words_only.blocks.set("coder", "persona", "first")
    second = words_only.blocks.set("coder", "persona", "second")
    client = page_client(words_only)

    form = {"to": first.version, "version": second.version}
    client.submit(f"/ui/blocks/{first.id}/rollback", form)
    stale = client.submit(f"/ui/blocks/{first.id}/rollback", form)
    nameless = client.submit(f"/ui/blocks/{first.id}/rollback", {"to": "x"})

    block = words_only.blocks.get(None, first.id)
    assert (block.value, block.version) == ("first", second.version + 1)
    assert stale.status_code == 409
    assert nameless.status_code == 422


def test_a_proposal_is_shown_with_its_difference_and_accepted(words_only: LocalRecollect) -> None:
    words_only.agents.create("coder")
    words_only.blocks.set("coder", "human", "Name: Ada")
    words_only.blocks.set("coder", "human", "Name: Ada Lovelace", by="agent", author="coder")
    (proposal,) = words_only.blocks.proposals()
    client = page_client(words_only)

    page = client.get("/ui/agents", headers=NAVIGATION).text
    wrong = client.submit("/ui/agents/proposals", {"proposal": proposal.id, "verdict": "x"})
    client.submit("/ui/agents/proposals", {"proposal": proposal.id, "verdict": "accept"})

    assert "+Name: Ada Lovelace" in page
    assert wrong.status_code == 422
    assert words_only.blocks.get("coder", "human").value == "Name: Ada Lovelace"


def test_what_an_agent_wrote_can_be_confirmed(words_only: LocalRecollect) -> None:
    words_only.agents.create("coder")
    block = words_only.blocks.set("coder", "persona", "I am it.", by="agent", author="coder")
    client = page_client(words_only)

    assert "not confirmed it" in client.get(f"/ui/blocks/{block.id}", headers=NAVIGATION).text
    client.submit(f"/ui/blocks/{block.id}/confirm", {"version": block.version})

    assert words_only.blocks.get(None, block.id).unconfirmed_author == ""


def test_equal_texts_have_no_difference_and_long_ones_are_only_counted() -> None:
    assert diff_lines("same", "same") == []
    assert diff_lines("a", "b\n" * 3_000)[0].text == "1 lines before, 3001 lines after"


def test_a_tool_call_that_waits_is_shown_with_its_arguments_and_decided(path: Path) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        """Pay an amount."""
        paid.append(amount)
        return "paid"

    rules = {"tool_rules": [{"type": "requires_approval", "tool_name": "pay"}]}
    ask = call_turn(("pay", {"amount": 5}), text="I will pay.")
    with agent_store(path, ask, "Done.", ask, "Fine.", tools=[pay], runtime=rules) as (rec, model):
        client = page_client(rec)
        [first] = rec.agents.run("ada", "Pay five.").approvals
        home = text_of(client.get("/ui/", headers=NAVIGATION).text)
        listed = text_of(client.get("/ui/agents", headers=NAVIGATION).text)
        approved = client.submit(
            "/ui/agents/approvals", {"approval": first.id, "verdict": "approve"}
        )
        conversation = text_of(client.get(approved.headers["location"], headers=NAVIGATION).text)
        [second] = rec.agents.run("ada", "Pay again.").approvals
        form = {"approval": second.id, "verdict": "deny", "reason": "too much"}
        denied = client.submit("/ui/agents/approvals", form)
        again = client.submit("/ui/agents/approvals", form)

    assert "1 tool call waits for your approval." in home
    assert "ada wants to call pay" in listed
    assert "amount&#34;: 5" in listed
    assert paid == [5]
    assert "Decided. The run stopped: end_turn." in conversation
    assert "1 run of the agent" in conversation
    assert denied.status_code == 303
    assert model.requests[-1].messages[-1].text == "The user denied this call: too much"
    assert again.status_code == 409
