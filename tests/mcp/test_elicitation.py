"""Deciding and forgetting are the user's: the person in front of the client is asked, or nobody."""

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import (
    PROTOCOL_VERSIONS,
    SITE_CALLER,
    ScriptedUser,
    call_error,
    call_values,
    in_process_server,
    result_text,
    run_client,
    stdio_server,
)
from recollect.mcp.caller_scope import Caller
from support import open_memory

pytestmark = pytest.mark.door

TRUSTED = Caller(project="site", agent="coder", trusted=True)


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
@pytest.mark.parametrize("verdict", ["keep", "replace", "reject"])
def test_a_decision_is_applied_if_the_user_confirms(tmp_path: Path, era: str, verdict: str) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        stored = call_values(server, "remember", era, content="We use pnpm.")

        result = call_values(server, "review", era, user, action=verdict, id=stored["id"])

        status = "archived" if verdict == "reject" else "active"
        assert result["changed"] == [{"id": stored["id"], "status": status}]
        assert len(user.questions) == 1
        assert "We use pnpm." in user.questions[0]


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_an_edit_of_a_candidate_is_applied_if_the_user_confirms_what_it_will_say(
    tmp_path: Path, era: str
) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        stored = call_values(server, "remember", era, content="We use pnpm.")
        changes = {"content": "The site uses pnpm.", "type": "project", "date": "2026-05-01"}

        result = call_values(
            server, "review", era, user, action="edit", id=stored["id"], tags=["npm"], **changes
        )

        edited_id = result["changed"][0]["id"]
        edited = rec.memories.get(edited_id)
        assert (edited.content, edited.tags) == ("The site uses pnpm.", ("npm",))
        assert (edited.status, f"{edited.observed_at:%Y-%m-%d}") == ("active", "2026-05-01")
        assert [quote.quote for quote in edited.evidence] == ["We use pnpm."]
        assert result["changed"][1] == {"id": stored["id"], "status": "superseded"}
        [question] = user.questions
        assert all(text in question for text in ("We use pnpm.", *changes.values()))
        assert rec.undo(edited_id).status == "archived"
        assert rec.memories.get(stored["id"]).status == "inbox"


def test_an_edit_needs_a_change_and_a_trusted_agent_does_not_word_memories(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        said = [{"role": "user", "content": "We use pnpm for the site."}]
        rec.capture_session(said, project="site", agent="coder")
        rec.drain()
        [candidate] = rec.inbox.list()
        edit = {"action": "edit", "id": candidate.memory.id}

        nothing = call_error(in_process_server(rec), "review", **edit)
        worded = call_error(in_process_server(rec, TRUSTED), "review", content="Use npm.", **edit)

        assert "content, type, tags, date" in nothing
        assert "cannot word a memory" in worded
        assert rec.memories.get(candidate.memory.id).status == "inbox"


def test_a_search_says_if_only_unreviewed_statements_answer_it(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        said = [{"role": "user", "content": "We use pnpm for the site."}]
        rec.capture_session(said, project="site")
        rec.drain()

        alone = call_values(server, "search", query="pnpm")
        rec.ingest("The site is built with pnpm.", project="site")
        beside_a_memory = call_values(server, "search", query="pnpm")

        assert alone["note"].startswith("Only unreviewed statements answer this")
        assert "note" not in beside_a_memory


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_nothing_changes_if_the_user_declines(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        memory_id = call_values(server, "remember", era, content="We use pnpm.")["id"]

        for tool, arguments in (("review", {"action": "keep"}), ("forget", {})):
            error = call_error(
                server, tool, era, ScriptedUser("decline"), id=memory_id, **arguments
            )
            assert "said no" in error

        assert rec.memories.get(memory_id).status == "inbox"


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_a_dismissed_question_is_not_an_answer_and_the_error_says_what_to_do(
    tmp_path: Path, era: str
) -> None:
    """Claude Code puts every question away by itself where it runs without a terminal."""
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        memory_id = call_values(server, "remember", era, content="We use pnpm.")["id"]

        keep = call_error(
            server, "review", era, ScriptedUser("cancel"), id=memory_id, action="keep"
        )
        forget = call_error(server, "forget", era, ScriptedUser("cancel"), id=memory_id)

        assert "said no" not in keep + forget
        assert "recollect inbox" in keep
        assert f"recollect forget {memory_id}" in forget
        assert rec.memories.get(memory_id).status == "inbox"


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_a_form_that_is_sent_without_a_yes_is_a_no(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        memory_id = call_values(server, "remember", era, content="We use pnpm.")["id"]

        for content in ({"confirm": False}, {}):
            call_error(
                server, "review", era, ScriptedUser(content=content), action="keep", id=memory_id
            )

        assert rec.memories.get(memory_id).status == "inbox"


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
@pytest.mark.parametrize("verdict", ["keep", "replace", "reject"])
def test_a_client_without_elicitation_gets_an_error_that_says_what_to_do(
    tmp_path: Path, era: str, verdict: str
) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        memory_id = call_values(server, "remember", era, content="We use pnpm.")["id"]

        assert "recollect inbox" in call_error(server, "review", era, action=verdict, id=memory_id)
        assert f"recollect forget {memory_id}" in call_error(server, "forget", era, id=memory_id)

        assert rec.memories.get(memory_id).status == "inbox"


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_a_trusted_caller_decides_without_a_question(tmp_path: Path, era: str) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        waiting = rec.ingest("We use pnpm.", project="site", status="inbox")
        server = in_process_server(rec, TRUSTED)

        call_values(server, "review", era, user, action="keep", id=waiting.id)

        assert rec.memories.get(waiting.id).status == "active"
        assert "an agent decided" in call_values(server, "explain", id=waiting.id)["text"]
        assert call_values(server, "forget", era, user, id=waiting.id)["removed"]["memories"] == 1
        assert user.questions == []


def test_an_answer_without_our_question_is_ignored(tmp_path: Path) -> None:
    """In the stateless era a client sends the answer along: only a sealed question makes it one."""
    yes = types.ElicitResult(action="accept", content={"confirm": True})

    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        one = call_values(server, "remember", content="We use pnpm.")["id"]
        other = call_values(server, "remember", content="We use npm.")["id"]

        async def scene(client: Client) -> Any:
            call = client.session.call_tool
            keep = {"action": "keep", "id": one}
            request = await call(
                "review", keep, input_responses={"confirm": yes}, allow_input_required=True
            )
            assert isinstance(request, types.InputRequiredResult)
            with pytest.raises(MCPError, match="requestState"):
                await call(
                    "review",
                    {"action": "keep", "id": other},
                    input_responses={"confirm": yes},
                    request_state=request.request_state,
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

        run_client(server, scene, era="2026-07-28", elicitation_callback=ScriptedUser())

        assert {rec.memories.get(one).status, rec.memories.get(other).status} == {"inbox"}


def test_only_what_waits_can_be_decided_over(tmp_path: Path) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        existing = rec.ingest("We use pnpm.", project="site")
        server = in_process_server(rec, SITE_CALLER)

        error = call_error(server, "review", user=user, action="reject", id=existing.id)

        assert "only the inbox can be reviewed" in error
        assert "needs the id" in call_error(server, "review", user=user, action="keep")
        assert user.questions == []


@pytest.mark.door
def test_a_person_is_asked_over_a_pipe_too(tmp_path: Path) -> None:
    server = stdio_server(tmp_path / "m.db", "--project", "site")
    user = ScriptedUser("decline")
    memory_id = call_values(server, "remember", content="We use pnpm.")["id"]

    for era in PROTOCOL_VERSIONS:
        assert "said no" in call_error(server, "forget", era, user, id=memory_id)

    assert len(user.questions) == 2


def test_a_person_is_shown_what_would_be_replaced(tmp_path: Path) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        existing = rec.ingest("Ann lives in Berlin.", type="profile", scope="global")
        server = in_process_server(rec)
        new = call_values(server, "remember", content="Ann lives in Paris.", type="profile")["id"]
        rec.link(new, "contradicts", existing.id)

        (row,) = call_values(server, "review")["waiting"]
        call_values(server, "review", user=user, action="replace", id=new)

        assert row["conflicts"] == [existing.id]
        assert "Replaces: Ann lives in Berlin." in user.questions[0]
        assert rec.memories.get(existing.id).status == "superseded"
        assert rec.memories.get(new).status == "active"


def test_a_person_is_shown_all_that_is_decided_along(tmp_path: Path) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        texts = ("The backup runs on host atlas.", "The nightly backup runs on host atlas.")
        waiting = [rec.ingest(text, project="site", status="inbox").id for text in texts]

        result = call_values(
            in_process_server(rec), "review", user=user, action="reject", id=waiting[1]
        )

        assert len(result["changed"]) == 2
        assert "Same decision for: The backup runs on host atlas." in user.questions[0]


def test_a_question_says_how_many_characters_it_leaves_out(tmp_path: Path) -> None:
    user = ScriptedUser("decline")
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        memory_id = call_values(server, "remember", content="x" * 2_000 + " Obey me.")["id"]

        call_error(server, "review", user=user, action="keep", id=memory_id)
        call_error(server, "forget", user=user, id=memory_id)

        assert all(
            "[9 more characters are not shown here]" in question for question in user.questions
        )


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_what_changed_while_the_person_was_asked_is_not_decided(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        existing = rec.ingest("Ann lives in Berlin.", type="profile", scope="global")
        server = in_process_server(rec)
        new = call_values(server, "remember", content="Ann lives in Paris.", type="profile")["id"]

        class ConflictingUser(ScriptedUser):
            async def __call__(self, context: object, params: Any) -> Any:
                if not self.questions:
                    rec.link(new, "contradicts", existing.id)
                return await super().__call__(context, params)

        user = ConflictingUser()
        result = run_client(
            server,
            lambda client: client.call_tool("review", {"action": "replace", "id": new}),
            era=era,
            elicitation_callback=user,
        )

        if era == "legacy":
            assert "the data changed while the user was asked" in result_text(result)
            assert rec.memories.get(existing.id).status == "active"
        else:  # the question is another one, so it is asked
            assert "Ann lives in Berlin." in user.questions[1]


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_a_decision_made_while_the_user_was_asked_is_not_replaced(tmp_path: Path, era: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        memory_id = call_values(server, "remember", content="We use pnpm.")["id"]

        class RejectingUser(ScriptedUser):
            async def __call__(self, context: object, params: Any) -> Any:
                rec.reject(memory_id)
                return await super().__call__(context, params)

        error = call_error(server, "review", era, RejectingUser(), action="keep", id=memory_id)

        assert "only the inbox can be reviewed" in error
        assert rec.memories.get(memory_id).status == "archived"


def test_the_error_for_an_agent_without_blocks_says_what_to_do_instead(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec, Caller(project="site"))

        error = call_error(server, "edit_block", label="human", how="append", text="Likes tea.")

        assert "`remember`" in error
        assert "--agent" in error
        assert "agent=NAME" in error
