"""No fact becomes active through an untrusted caller, by whatever route."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import Person, call, refusal, talk, values, within
from recollect import Recollect
from recollect.domain.memory import MemoryType
from recollect.mcp.caller import Caller
from recollect.mcp.profiles import PROFILES
from support import open_memory

ENTITY = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}


def active(memory: Recollect) -> list[str]:
    return [one.content for one in memory.memories(everywhere=True, statuses=["active"])]


@pytest.mark.parametrize("type", [None, *MemoryType])
def test_what_an_agent_remembers_waits_whatever_it_calls_it(
    tmp_path: Path, type: str | None
) -> None:
    given = {} if type is None else {"type": type}
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)

        told = values(server, "remember", content="Ann lives in Berlin.", rationale="so", **given)

        assert told["status"] == "inbox"
        kept = memory.get(told["id"])
        assert kept.evidence[0].voice == "assistant"
        explained = values(server, "explain", id=kept.id)["text"]
        assert "by agent: written by an agent" in explained
        assert active(memory) == []


@pytest.mark.parametrize("type", list(MemoryType))
def test_no_policy_promotes_what_an_agent_wrote(tmp_path: Path, type: str) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        for said in ("Ann lives in Berlin.", "Ann lives in Berlin.", "Ann lives in Berlin now."):
            values(server, "remember", content=said, type=type, rationale="she said so twice")

        memory.consolidate()
        memory.drain()
        memory.maintain()

        assert active(memory) == []


def test_a_second_telling_by_the_user_does_not_promote_the_agents_words(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        kept = values(within(memory), "remember", content="I prefer tabs.", type="profile")["id"]
        for session in ("one", "two"):
            memory.capture_session("user: I prefer tabs.", session=session)

        memory.drain()

        assert memory.get(kept).status != "active"


def test_an_agents_correction_replaces_nothing(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        known = memory.ingest("Ann lives in Berlin.", type="profile", scope="global")
        said = "Actually, Ann does not live in Berlin. Ann lives in Paris."
        values(within(memory), "remember", content=said, type="profile")

        memory.consolidate()

        assert memory.get(known.id).status == "active"
        assert active(memory) == ["Ann lives in Berlin."]


def test_a_trusted_agents_memory_is_active_and_still_the_agents(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory, Caller(project="site", trusted=True))

        told = values(server, "remember", content="We use pnpm.")

        assert told["status"] == "active"
        assert memory.get(told["id"]).evidence[0].voice == "assistant"
        assert "to active by agent" in values(server, "explain", id=told["id"])["text"]


def test_a_read_only_block_is_not_edited_however_it_is_tried(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        memory.create_agent("coder")
        memory.create_block("rules", "Be kind.", agent="coder", read_only=True)
        tries: tuple[dict[str, Any], ...] = (
            {"how": "append", "text": "Obey."},
            {"how": "set", "text": "Obey."},
            {"how": "insert", "text": "Obey.", "line": 0},
            {"how": "replace", "old": "kind", "text": "mean"},
        )
        for trusted in (False, True):
            server = within(memory, Caller(project="site", agent="coder", trusted=trusted))
            for given in tries:
                assert "read-only" in refusal(server, "edit_block", label="rules", **given)

        assert memory.block("coder", "rules").value == "Be kind."


def test_the_graph_tools_write_candidates_only(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory, Caller(project="site", profile="memory-graph"))
        values(server, "create_entities", entities=[ENTITY, {**ENTITY, "name": "Bob"}])
        knows = {"from": "Ann", "to": "Bob", "relationType": "knows"}
        values(server, "create_relations", relations=[knows])
        more = [{"entityName": "Ann", "contents": ["likes cake"]}]
        values(server, "add_observations", observations=more)

        memory.consolidate()

        assert active(memory) == []


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
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        waiting = memory.ingest("We use pnpm.", project="site", status="inbox")
        for profile, tools in PROFILES.items():
            server = within(memory, Caller(project="site", agent="coder", profile=profile))
            for tool in tools:
                for action in ("keep", "replace", "list"):
                    given = {**anything, "id": waiting.id, "action": action}
                    taken = {name: given[name] for name in tool.takes if name in given}
                    call(server, tool.name, **taken)

        assert active(memory) == []


def test_what_the_user_kept_is_not_deleted_from_the_graph_without_the_user(
    tmp_path: Path,
) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory, Caller(project="site", profile="memory-graph"))
        values(server, "create_entities", entities=[ENTITY])
        for one in memory.inbox():
            memory.promote(one.id)

        assert "cannot ask" in refusal(server, "delete_entities", entityNames=["Ann"])
        assert len(active(memory)) == 2
        person = Person()
        values(server, "delete_entities", person=person, entityNames=["Ann"])

        assert "likes tea" in person.asked[0]
        assert active(memory) == []


def test_a_call_for_another_profiles_tool_is_unknown(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        with pytest.raises(MCPError, match="Unknown tool: read_graph"):
            await client.call_tool("read_graph", {})

    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        talk(within(memory), scene)
