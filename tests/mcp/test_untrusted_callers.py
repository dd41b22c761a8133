"""No fact becomes active through an untrusted caller, by whatever route."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import (
    PROTOCOL_VERSIONS,
    ScriptedUser,
    call_error,
    call_tool,
    call_values,
    in_process_server,
    run_client,
)
from recollect import LocalRecollect
from recollect.domain.memory import MemoryType
from recollect.mcp.caller_scope import Caller
from recollect.mcp.tool_profiles import PROFILES
from support import candidates, open_memory

pytestmark = pytest.mark.door

ENTITY = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}


def active(rec: LocalRecollect) -> list[str]:
    return [item.content for item in rec.memories.list(everywhere=True, statuses=["active"])]


@pytest.mark.parametrize("type", [None, *MemoryType])
def test_what_an_agent_remembers_waits_whatever_it_calls_it(
    tmp_path: Path, type: str | None
) -> None:
    arguments = {} if type is None else {"type": type}
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)

        result = call_values(
            server, "remember", content="Ann lives in Berlin.", rationale="so", **arguments
        )

        assert result["status"] == "inbox"
        stored = rec.memories.get(result["id"])
        assert stored.evidence[0].voice == "assistant"
        explained = call_values(server, "explain", id=stored.id)["text"]
        assert "by agent: written by an agent" in explained
        assert active(rec) == []


@pytest.mark.parametrize("type", list(MemoryType))
def test_no_policy_promotes_what_an_agent_wrote(tmp_path: Path, type: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        for output in ("Ann lives in Berlin.", "Ann lives in Berlin.", "Ann lives in Berlin now."):
            call_values(
                server, "remember", content=output, type=type, rationale="she said so twice"
            )

        rec.consolidate()
        rec.drain()
        rec.maintenance.run()

        assert active(rec) == []


def test_a_second_telling_by_the_user_does_not_promote_the_agents_words(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        memory_id = call_values(
            in_process_server(rec), "remember", content="I prefer tabs.", type="profile"
        )["id"]
        for session in ("one", "two"):
            rec.capture_session("user: I prefer tabs.", session=session)

        rec.drain()

        assert rec.memories.get(memory_id).status != "active"


def test_an_agents_correction_replaces_nothing(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        existing = rec.ingest("Ann lives in Berlin.", type="profile", scope="global")
        output = "Actually, Ann does not live in Berlin. Ann lives in Paris."
        call_values(in_process_server(rec), "remember", content=output, type="profile")

        rec.consolidate()

        assert rec.memories.get(existing.id).status == "active"
        assert active(rec) == ["Ann lives in Berlin."]


def test_a_trusted_agents_memory_is_active_and_still_the_agents(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec, Caller(project="site", trusted=True))

        result = call_values(server, "remember", content="We use pnpm.")

        assert result["status"] == "active"
        assert rec.memories.get(result["id"]).evidence[0].voice == "assistant"
        assert "to active by agent" in call_values(server, "explain", id=result["id"])["text"]


def test_a_read_only_block_is_not_edited_however_it_is_tried(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.agents.create("coder")
        rec.blocks.create("rules", "Be kind.", agent="coder", read_only=True)
        tries: tuple[dict[str, Any], ...] = (
            {"how": "append", "text": "Obey."},
            {"how": "set", "text": "Obey."},
            {"how": "insert", "text": "Obey.", "line": 0},
            {"how": "replace", "old": "kind", "text": "mean"},
        )
        for trusted in (False, True):
            server = in_process_server(rec, Caller(project="site", agent="coder", trusted=trusted))
            for arguments in tries:
                assert "read-only" in call_error(server, "edit_block", label="rules", **arguments)

        assert rec.blocks.get("coder", "rules").value == "Be kind."


def test_the_graph_tools_write_candidates_only(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec, Caller(project="site", profile="memory-graph"))
        call_values(server, "create_entities", entities=[ENTITY, {**ENTITY, "name": "Bob"}])
        knows = {"from": "Ann", "to": "Bob", "relationType": "knows"}
        call_values(server, "create_relations", relations=[knows])
        more = [{"entityName": "Ann", "contents": ["likes cake"]}]
        call_values(server, "add_observations", observations=more)

        rec.consolidate()

        assert active(rec) == []


def test_every_tool_of_every_profile_leaves_an_untrusted_store_without_active_facts(
    tmp_path: Path,
) -> None:
    """Called with anything it may take, and nobody to ask, none of them makes a fact active."""
    anything: dict[str, Any] = {
        "content": "Ann lives in Berlin.",
        "query": "Ann",
        "task": "write to Ann",
        "label": "human",
        "how": "set",
        "text": "Ann",
        "entities": [ENTITY],
        "relations": [],
        "observations": [],
        "entityNames": ["Ann"],
        "deletions": [],
        "names": ["Ann"],
        "type": "episode",
    }
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        waiting = rec.ingest("We use pnpm.", project="site", status="inbox")
        for profile, tools in PROFILES.items():
            server = in_process_server(rec, Caller(project="site", agent="coder", profile=profile))
            for tool in tools:
                for action in ("keep", "replace", "list"):
                    arguments = {**anything, "id": waiting.id, "action": action}
                    accepted = {
                        name: arguments[name] for name in tool.parameters if name in arguments
                    }
                    call_tool(server, tool.name, **accepted)

        assert active(rec) == []


def test_what_the_user_kept_is_not_deleted_from_the_graph_without_the_user(
    tmp_path: Path,
) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec, Caller(project="site", profile="memory-graph"))
        call_values(server, "create_entities", entities=[ENTITY])
        for item in candidates(rec):
            rec.promote(item.id)

        assert "cannot ask" in call_error(server, "delete_entities", entityNames=["Ann"])
        assert len(active(rec)) == 2
        user = ScriptedUser()
        call_values(server, "delete_entities", user=user, entityNames=["Ann"])

        assert "likes tea" in user.questions[0]
        assert active(rec) == []


def test_a_call_for_another_profiles_tool_is_unknown(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool: read_graph"):
            await client.call_tool("read_graph", {})

    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        run_client(in_process_server(rec), scene)


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_a_block_that_every_agent_shares_is_not_edited_without_the_user(
    tmp_path: Path, era: str
) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.agents.create("coder")
        rec.agents.create("other")
        server = in_process_server(rec)
        for label in ("human", "style", "project"):
            request = {"label": label, "how": "set", "text": "Obey."}
            values = call_values(server, "edit_block", era, **request)
            assert values["note"].startswith("Proposed; waits for the user's confirmation, id ")
            assert rec.blocks.proposal(values["proposal_id"]).author == "coder"
            assert rec.blocks.get("other", label, project="site").value == ""
        for proposal in rec.blocks.proposals():
            rec.blocks.reject(proposal.id)
        no = ScriptedUser("decline")
        assert "said no" in call_error(
            server, "edit_block", era, no, label="human", how="append", text="Obey."
        )
        assert rec.blocks.proposals() == []
        assert rec.blocks.get("other", "human").value == ""

        call_values(server, "edit_block", era, user, label="human", how="append", text="Ann")

        edited = rec.blocks.get("other", "human")
        assert (edited.value, edited.unconfirmed_author) == ("Ann", "")
        assert "which is shown to every agent in every project?" in user.questions[0]
        assert user.questions[0].endswith("+Ann")


def test_a_shared_block_is_shared_also_before_it_is_first_written(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.conversations.start(agent="coder")  # an agent that came into being by being named
        server = in_process_server(rec)

        for label in ("human", "project"):
            values = call_values(server, "edit_block", label=label, how="set", text="Obey.")
            assert "Proposed" in values["note"]
            assert rec.blocks.get("coder", label, project="site").value == ""


def test_the_blocks_of_the_agent_are_edited_without_a_question_and_marked(tmp_path: Path) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        call_values(server, "edit_block", user=user, label="persona", how="append", text="short")
        trusted = in_process_server(rec, Caller(project="site", agent="coder", trusted=True))
        call_values(trusted, "edit_block", user=user, label="human", how="set", text="Ann")

        assert user.questions == []
        assert rec.blocks.get("coder", "human").value == "Ann"
        for label in ("persona", "human"):
            assert rec.blocks.get("coder", label).unconfirmed_author == "coder"
        blocks = call_values(server, "status")["blocks"]
        assert {row["label"] for row in blocks if row["unconfirmed_author"]} == {"persona", "human"}


def test_a_change_that_is_too_long_for_a_question_is_a_proposal(tmp_path: Path) -> None:
    user = ScriptedUser()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        text = "\n".join(f"Rule {number}: obey." for number in range(200))

        values = call_values(
            in_process_server(rec), "edit_block", user=user, label="human", how="set", text=text
        )

        assert user.questions == []
        assert rec.blocks.proposal(values["proposal_id"]).value == text


def test_an_agent_does_not_accept_its_own_proposal(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec)
        edit = {"label": "project", "how": "set", "text": "Obey."}
        proposal_id = call_values(server, "edit_block", **edit)["proposal_id"]
        listed = call_values(server, "review")["proposals"]
        trusted = in_process_server(rec, Caller(project="site", agent="coder", trusted=True))
        elsewhere = in_process_server(rec, Caller(project="shop", agent="other", trusted=True))
        keep = {"action": "keep", "id": proposal_id}

        assert [row["id"] for row in listed] == [proposal_id]
        assert "cannot ask" in call_error(server, "review", **keep)
        assert "own proposal" in call_error(trusted, "review", **keep)
        assert "no memory" in call_error(elsewhere, "review", **keep)
        assert "proposals" not in call_values(elsewhere, "review")
        call_values(server, "edit_block", label="human", how="set", text="Ann is secretive.")
        in_shop = in_process_server(rec, Caller(project="shop", agent="coder"))
        assert "proposals" not in call_values(in_shop, "review")
        assert rec.blocks.get("coder", "project", project="site").value == ""
        user = ScriptedUser()
        call_values(server, "review", user=user, **keep)

        assert user.questions[0].endswith("+Obey.")
        assert rec.blocks.get("coder", "project", project="site").value == "Obey."


def test_what_a_trusted_agent_stored_is_marked_where_it_is_told(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec, Caller(project="site", agent="coder", trusted=True))
        call_values(server, "remember", content="We deploy on Fridays.", type="decision")

        (hit,) = call_values(server, "search", query="when do we deploy?")["hits"]

        assert hit["note"] == "written by agent coder"
        assert "written by agent coder" in rec.briefing(project="site").text


def test_a_shared_block_that_changed_while_the_user_was_asked_stays(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.agents.create("coder")

        class EditingUser(ScriptedUser):
            async def __call__(self, context: object, params: Any) -> Any:
                rec.blocks.set("coder", "human", "Bob")
                return await super().__call__(context, params)

        error = call_error(
            in_process_server(rec),
            "edit_block",
            user=EditingUser(),
            label="human",
            how="append",
            text="x",
        )

        assert "the data changed while the user was asked" in error
        assert rec.blocks.get("coder", "human").value == "Bob"


def test_a_hidden_block_is_neither_edited_nor_mentioned(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        rec.agents.create("coder")
        rec.blocks.create("vault", "nine", agent="coder", hidden=True)
        server = in_process_server(rec)

        for label in ("vault", " vault ", "absent"):
            for version in (1, 9):
                arguments = {"label": label, "how": "set", "text": "ten"}
                error = call_error(server, "edit_block", **arguments, version=version)
                assert "nine" not in error
                assert "vault" not in error.partition("there is persona")[2]

        assert rec.blocks.get("coder", "vault").value == "nine"
