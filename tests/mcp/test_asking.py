"""Deciding and forgetting are the user's: the person in front of the client is asked, or nobody."""

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import ERAS, SITE, Person, piped, refusal, talk, text_of, values, within
from recollect.mcp.caller import Caller
from support import open_memory

TRUSTED = Caller(project="site", agent="coder", trusted=True)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("verdict", ["keep", "replace", "reject"])
def test_a_person_who_agrees_decides(tmp_path: Path, era: str, verdict: str) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", era, content="We use pnpm.")

        told = values(server, "review", era, person, action=verdict, id=kept["id"])

        status = "archived" if verdict == "reject" else "active"
        assert told["changed"] == [{"id": kept["id"], "status": status}]
        assert len(person.asked) == 1
        assert "We use pnpm." in person.asked[0]


@pytest.mark.parametrize("era", ERAS)
def test_nothing_changes_where_the_person_does_not_agree(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", era, content="We use pnpm.")["id"]

        for tool, given in (("review", {"action": "keep"}), ("forget", {})):
            said = refusal(server, tool, era, Person("decline"), id=kept, **given)
            assert "said no" in said

        assert memory.get(kept).status == "inbox"


@pytest.mark.parametrize("era", ERAS)
def test_a_question_put_away_is_no_answer_and_the_agent_is_told_what_to_do(
    tmp_path: Path, era: str
) -> None:
    """Claude Code puts every question away by itself where it runs without a terminal."""
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", era, content="We use pnpm.")["id"]

        keep = refusal(server, "review", era, Person("cancel"), id=kept, action="keep")
        forget = refusal(server, "forget", era, Person("cancel"), id=kept)

        assert "said no" not in keep + forget
        assert "recollect inbox" in keep
        assert f"recollect forget {kept}" in forget
        assert memory.get(kept).status == "inbox"


@pytest.mark.parametrize("era", ERAS)
def test_a_form_that_is_sent_without_a_yes_is_a_no(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", era, content="We use pnpm.")["id"]

        for content in ({"confirm": False}, {}):
            refusal(server, "review", era, Person(content=content), action="keep", id=kept)

        assert memory.get(kept).status == "inbox"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("verdict", ["keep", "replace", "reject"])
def test_a_client_that_cannot_ask_is_told_what_to_do(
    tmp_path: Path, era: str, verdict: str
) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", era, content="We use pnpm.")["id"]

        assert "recollect inbox" in refusal(server, "review", era, action=verdict, id=kept)
        assert f"recollect forget {kept}" in refusal(server, "forget", era, id=kept)

        assert memory.get(kept).status == "inbox"


@pytest.mark.parametrize("era", ERAS)
def test_a_trusted_caller_decides_without_a_question(tmp_path: Path, era: str) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        waiting = memory.ingest("We use pnpm.", project="site", status="inbox")
        server = within(memory, TRUSTED)

        values(server, "review", era, person, action="keep", id=waiting.id)

        assert memory.get(waiting.id).status == "active"
        assert "an agent decided" in values(server, "explain", id=waiting.id)["text"]
        assert values(server, "forget", era, person, id=waiting.id)["removed"]["memories"] == 1
        assert person.asked == []


def test_an_answer_without_our_question_counts_for_nothing(tmp_path: Path) -> None:
    """In the stateless era a client sends the answer along: only a sealed question makes it one."""
    yes = types.ElicitResult(action="accept", content={"confirm": True})

    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        one = values(server, "remember", content="We use pnpm.")["id"]
        other = values(server, "remember", content="We use npm.")["id"]

        async def scene(client: Client) -> Any:
            call = client.session.call_tool
            keep = {"action": "keep", "id": one}
            asked = await call(
                "review", keep, input_responses={"confirm": yes}, allow_input_required=True
            )
            assert isinstance(asked, types.InputRequiredResult)
            with pytest.raises(MCPError, match="requestState"):
                await call(
                    "review",
                    {"action": "keep", "id": other},
                    input_responses={"confirm": yes},
                    request_state=asked.request_state,
                    allow_input_required=True,
                )
            with pytest.raises(MCPError, match="requestState"):
                await call(
                    "review",
                    keep,
                    input_responses={"confirm": yes},
                    request_state="forged",
                    allow_input_required=True,
                )

        talk(server, scene, era="2026-07-28", elicitation_callback=Person())

        assert {memory.get(one).status, memory.get(other).status} == {"inbox"}


def test_only_what_waits_can_be_decided_over(tmp_path: Path) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        known = memory.ingest("We use pnpm.", project="site")
        server = within(memory, SITE)

        said = refusal(server, "review", person=person, action="reject", id=known.id)

        assert "does not wait" in said
        assert "needs the id" in refusal(server, "review", person=person, action="keep")
        assert person.asked == []


def test_a_person_is_asked_over_a_pipe_too(tmp_path: Path) -> None:
    server = piped(tmp_path / "m.db", "--project", "site")
    person = Person("decline")
    kept = values(server, "remember", content="We use pnpm.")["id"]

    for era in ERAS:
        assert "said no" in refusal(server, "forget", era, person, id=kept)

    assert len(person.asked) == 2


def test_a_person_is_shown_what_would_be_replaced(tmp_path: Path) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        known = memory.ingest("Ann lives in Berlin.", type="profile", scope="global")
        server = within(memory)
        new = values(server, "remember", content="Ann lives in Paris.", type="profile")["id"]
        memory.link(new, "contradicts", known.id)

        (row,) = values(server, "review")["waiting"]
        values(server, "review", person=person, action="replace", id=new)

        assert row["conflicts"] == [known.id]
        assert "In place of: Ann lives in Berlin." in person.asked[0]
        assert memory.get(known.id).status == "superseded"
        assert memory.get(new).status == "active"


def test_a_person_is_shown_all_that_is_decided_along(tmp_path: Path) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        texts = ("The backup runs on host atlas.", "The nightly backup runs on host atlas.")
        waiting = [memory.ingest(one, project="site", status="inbox").id for one in texts]

        told = values(within(memory), "review", person=person, action="reject", id=waiting[1])

        assert len(told["changed"]) == 2
        assert "Decided with it: The backup runs on host atlas." in person.asked[0]


def test_a_person_is_told_how_much_they_are_not_shown(tmp_path: Path) -> None:
    person = Person("decline")
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", content="x" * 2_000 + " Obey me.")["id"]

        refusal(server, "review", person=person, action="keep", id=kept)
        refusal(server, "forget", person=person, id=kept)

        assert all("[9 more characters are not shown here]" in one for one in person.asked)


@pytest.mark.parametrize("era", ERAS)
def test_what_changed_while_the_person_was_asked_is_not_decided(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        known = memory.ingest("Ann lives in Berlin.", type="profile", scope="global")
        server = within(memory)
        new = values(server, "remember", content="Ann lives in Paris.", type="profile")["id"]

        class Slow(Person):
            async def __call__(self, context: object, params: Any) -> Any:
                if not self.asked:
                    memory.link(new, "contradicts", known.id)
                return await super().__call__(context, params)

        person = Slow()
        told = talk(
            server,
            lambda client: client.call_tool("review", {"action": "replace", "id": new}),
            era=era,
            elicitation_callback=person,
        )

        if era == "legacy":
            assert "changed by somebody else" in text_of(told)
            assert memory.get(known.id).status == "active"
        else:  # the question is another one, so it is asked
            assert "Ann lives in Berlin." in person.asked[1]


@pytest.mark.parametrize("era", ERAS)
def test_what_somebody_else_decided_meanwhile_stays_decided(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        kept = values(server, "remember", content="We use pnpm.")["id"]

        class Slow(Person):
            async def __call__(self, context: object, params: Any) -> Any:
                memory.reject(kept)
                return await super().__call__(context, params)

        said = refusal(server, "review", era, Slow(), action="keep", id=kept)

        assert "does not wait for a decision" in said
        assert memory.get(kept).status == "archived"


def test_an_agent_without_blocks_is_told_what_to_do_instead(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory, Caller(project="site"))

        said = refusal(server, "edit_block", label="human", how="append", text="Likes tea.")

        assert "`remember`" in said
        assert "--agent" in said
