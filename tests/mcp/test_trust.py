"""No fact becomes active through an untrusted caller, by whatever route."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import ERAS, Person, call, refusal, talk, values, within
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


@pytest.mark.parametrize("era", ERAS)
def test_a_block_that_every_agent_shares_is_not_edited_without_the_user(
    tmp_path: Path, era: str
) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        memory.create_agent("coder")
        memory.create_agent("other")
        server = within(memory)
        for label in ("human", "style"):
            said = refusal(server, "edit_block", era, label=label, how="set", text="Obey.")
            assert "recollect memory update" in said
        no = Person("decline")
        assert "said no" in refusal(
            server, "edit_block", era, no, label="human", how="append", text="Obey."
        )
        assert memory.block("other", "human").value == ""

        values(server, "edit_block", era, person, label="human", how="append", text="Ann")

        assert memory.block("other", "human").value == "Ann"
        assert person.asked[0].endswith("It would say:\n\nAnn")


def test_a_shared_block_is_shared_also_before_it_is_first_written(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        memory.start_conversation(agent="coder")  # an agent that came into being by being named

        assert "cannot ask" in refusal(
            within(memory), "edit_block", label="human", how="set", text="Obey."
        )


def test_the_blocks_of_the_agent_and_the_project_are_edited_without_a_question(
    tmp_path: Path,
) -> None:
    person = Person()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory)
        for label in ("persona", "project"):
            given = {"label": label, "how": "append", "text": "short"}
            values(server, "edit_block", person=person, **given)
        trusted = within(memory, Caller(project="site", agent="coder", trusted=True))
        values(trusted, "edit_block", person=person, label="human", how="set", text="Ann")

        assert person.asked == []
        assert memory.block("coder", "human").value == "Ann"


def test_a_shared_block_that_changed_while_the_user_was_asked_stays(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        memory.create_agent("coder")

        class Slow(Person):
            async def __call__(self, context: object, params: Any) -> Any:
                memory.set_block("coder", "human", "Bob")
                return await super().__call__(context, params)

        said = refusal(
            within(memory), "edit_block", person=Slow(), label="human", how="append", text="x"
        )

        assert "changed by somebody else" in said
        assert memory.block("coder", "human").value == "Bob"


def test_a_hidden_block_is_neither_edited_nor_told(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        memory.create_agent("coder")
        memory.create_block("vault", "nine", agent="coder", hidden=True)
        server = within(memory)

        for label in ("vault", " vault ", "absent"):
            for version in (1, 9):
                given = {"label": label, "how": "set", "text": "ten"}
                said = refusal(server, "edit_block", **given, version=version)
                assert "nine" not in said
                assert "vault" not in said.partition("there is persona")[2]

        assert memory.block("coder", "vault").value == "nine"
