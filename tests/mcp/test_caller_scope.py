"""Scope is a wall: another project's memory is not seen, nor by somebody who has its id."""

from collections.abc import Iterator
from dataclasses import dataclass
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
    http_server,
    in_process_server,
    result_text,
    run_client,
    stdio_server,
)
from recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from support import open_memory

pytestmark = pytest.mark.door

NOWHERE = "01900000-0000-7000-8000-000000000000"
SECRET = "The vault of the bank opens at nine."


@dataclass
class OtherProjectStore:
    """A store in which another project has something to hide."""

    memory: LocalRecollect
    memory_id: str
    waiting_id: str
    retrieval_id: str


@pytest.fixture
def other(tmp_path: Path) -> Iterator[OtherProjectStore]:
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        stored = rec.ingest(SECRET, type="project", project="bank")
        waiting = rec.ingest(f"{SECRET} Really.", type="project", status="inbox", project="bank")
        (hit, *_) = rec.search("vault bank", project="bank")
        rec.agents.create("teller")
        rec.agents.create("coder")
        rec.blocks.create("project", SECRET, project="bank")
        conversation = rec.conversations.start(agent="coder", project="bank")
        rec.conversations.append(conversation, "user", SECRET)
        assert hit.retrieval_id
        yield OtherProjectStore(rec, stored.id, waiting.id, hit.retrieval_id)


def test_nothing_of_another_project_is_seen_by_any_tool(other: OtherProjectStore) -> None:
    server = in_process_server(other.memory)
    user = ScriptedUser()

    ids = (other.memory_id, other.waiting_id)
    answers = [
        call_tool(server, "search", query="vault bank opens nine"),
        call_tool(server, "search", query="vault bank opens nine", kind="messages"),
        call_tool(server, "context", task="open the vault of the bank at nine"),
        call_tool(server, "review"),
        call_tool(server, "status"),
        *(call_tool(server, "explain", id=memory_id) for memory_id in (*ids, other.retrieval_id)),
        *(call_tool(server, "explain", id=memory_id, query="vault") for memory_id in ids),
        *(call_tool(server, "forget", user=user, id=memory_id) for memory_id in ids),
        call_tool(server, "review", user=user, action="keep", id=other.waiting_id),
        call_tool(server, "edit_block", label="project", how="append", text="x"),
    ]

    assert not [answer for answer in answers if "vault" in result_text(answer)]
    assert user.questions == []
    assert other.memory.memories.get(other.memory_id).content == SECRET
    assert other.memory.memories.get(other.waiting_id).status == "inbox"


def test_nothing_of_another_project_is_seen_by_address_or_prompt(other: OtherProjectStore) -> None:
    async def scene(client: Client) -> None:
        for uri in (f"memories/{other.memory_id}", "blocks/project"):
            with pytest.raises(MCPError, match="no"):
                await client.read_resource(f"recollect://{uri}")
        task = {"task": "open the vault of the bank"}
        written = await client.get_prompt("recall", task)
        assert "nine" not in written.messages[0].content.text  # type: ignore[union-attr]
        assert "empty" in (await client.get_prompt("review")).messages[0].content.text  # type: ignore[union-attr]

    for era in PROTOCOL_VERSIONS:
        run_client(in_process_server(other.memory), scene, era=era)


@pytest.mark.parametrize("profile", ["memory-graph", "chatgpt"])
def test_the_other_profiles_have_the_same_scope(other: OtherProjectStore, profile: str) -> None:
    bank = in_process_server(other.memory, Caller(project="bank", profile="memory-graph"))
    entity = {"name": "vault", "entityType": "room", "observations": ["opens at nine"]}
    call_values(bank, "create_entities", entities=[entity])
    server = in_process_server(other.memory, Caller(project="site", profile=profile))

    if profile == "chatgpt":
        assert call_values(server, "search", query="vault bank nine") == {"results": []}
        assert "no memory" in call_error(server, "fetch", id=other.memory_id)
    else:
        nothing: dict[str, list[Any]] = {"entities": [], "relations": []}
        assert call_values(server, "read_graph") == nothing
        assert call_values(server, "search_nodes", query="vault") == nothing
        assert call_values(server, "open_nodes", names=["vault"]) == nothing


def test_a_caller_without_project_or_agent_sees_only_what_is_global(
    other: OtherProjectStore,
) -> None:
    other.memory.ingest("Ann likes tea in the vault.", type="profile", scope="global")
    other.memory.blocks.create("notes", SECRET, scope="global")
    server = in_process_server(other.memory, Caller())

    hits = call_values(server, "search", query="vault")["hits"]

    assert [hit["content"] for hit in hits] == ["Ann likes tea in the vault."]
    assert call_values(server, "status")["blocks"] == []
    block = next(item for item in other.memory.blocks.list() if item.label == "notes")
    for label in ("notes", block.id):
        error = call_error(server, "edit_block", label=label, how="set", text="mine")
        assert "no block" in error
    assert other.memory.blocks.get(None, block.id).value == SECRET


def test_the_project_is_the_one_of_the_folder_it_is_started_in(tmp_path: Path) -> None:
    folders = [tmp_path / "site", tmp_path / "bank"]
    for folder in folders:
        folder.mkdir()
    db = tmp_path / "m.db"
    with open_memory(db, words_only=True) as rec:
        rec.ingest("The site opens at nine.", project=folders[0])
        rec.ingest("The bank opens at nine.", project=folders[1])

    results = [
        call_values(stdio_server(db, cwd=one), "search", query="opens nine")["hits"]
        for one in folders
    ]
    named = call_values(stdio_server(db, "--project", "bank", cwd=folders[0]), "status")["project"]
    nowhere = call_values(
        stdio_server(db, "--project", "", cwd=folders[0]), "search", query="opens nine"
    )

    assert [[hit["content"] for hit in hits] for hits in results] == [
        ["The site opens at nine."],
        ["The bank opens at nine."],
    ]
    assert named == "bank"
    assert nowhere["hits"] == []


def test_over_http_the_address_names_the_project(other: OtherProjectStore) -> None:
    request = {"query": "vault bank opens nine"}
    with http_server(other.memory, "?project=bank") as url:
        assert call_values(url, "search", **request)["hits"][0]["content"] == SECRET
        for era in PROTOCOL_VERSIONS:
            assert call_values(url.partition("?")[0], "search", era, **request)["hits"] == []


def test_what_a_search_brings_from_another_project_can_be_explained(
    other: OtherProjectStore,
) -> None:
    rule = other.memory.ingest("Vault doors open with two keys.", type="decision", project="bank")
    server = in_process_server(other.memory)
    query = "vault doors open two keys"
    (hit,) = call_values(server, "search", query=query)["hits"]
    assert hit["id"] == rule.id

    text = call_values(server, "explain", id=rule.id, query=query)["text"]

    assert "It is returned" in text
    assert "Rests on “Vault doors open with two keys.”" in text
    for arguments in ({}, {"query": "elephants"}):
        error = call_error(server, "explain", id=rule.id, **arguments)
        assert "pass the query that found it" in error
        assert error.replace(rule.id, "") == call_error(
            server, "explain", id=NOWHERE, **arguments
        ).replace(NOWHERE, "")
    assert "no memory" in call_error(server, "forget", user=ScriptedUser(), id=rule.id)


def test_a_linked_memory_can_be_explained_and_only_from_where_it_is_linked(
    other: OtherProjectStore,
) -> None:
    mine = other.memory.ingest("The site opens at ten.", project="site")
    other.memory.link(mine.id, "related_to", other.memory_id)

    text = call_values(in_process_server(other.memory), "explain", id=other.memory_id)["text"]

    assert SECRET in text
    for elsewhere in (Caller(project="shop"), Caller()):
        assert "neither a memory" in call_error(
            in_process_server(other.memory, elsewhere), "explain", id=other.memory_id
        )
    note = call_values(in_process_server(other.memory), "search", query="elephants")["note"]
    assert "vault" not in note


def test_a_question_asked_inside_a_session_is_not_explained(other: OtherProjectStore) -> None:
    other.memory.ingest(SECRET, session="private", scope="session")
    (hit,) = other.memory.search("vault bank", session="private")

    assert "neither" in call_error(
        in_process_server(other.memory), "explain", id=str(hit.retrieval_id)
    )


def test_candidates_are_shown_in_their_own_project_only(other: OtherProjectStore) -> None:
    waiting = other.memory.ingest("Ann works for a vault maker.", scope="global", status="inbox")
    bank = in_process_server(other.memory, Caller(project="bank"))
    about_user = {"content": "The user is buying the vault maker.", "type": "profile"}
    remembered = call_values(bank, "remember", **about_user)
    graph = in_process_server(other.memory, Caller(profile="memory-graph"))
    entity = {"name": "vault maker", "entityType": "firm", "observations": ["is for sale"]}
    call_values(graph, "create_entities", entities=[entity])
    site = in_process_server(other.memory)

    texts = [result_text(call_tool(site, "review"))]
    for memory_id in (waiting.id, remembered["id"]):
        texts.append(result_text(call_tool(site, "explain", id=memory_id)))
        texts.append(result_text(call_tool(site, "forget", user=ScriptedUser(), id=memory_id)))
    site_graph = in_process_server(other.memory, Caller(project="site", profile="memory-graph"))
    texts.append(result_text(call_tool(site_graph, "read_graph")))

    assert not [text for text in texts if "vault" in text]
    assert call_values(site, "status")["inbox"] == 0
    in_bank = call_values(bank, "review")["waiting"]
    assert {row["content"] for row in in_bank} == {about_user["content"], f"{SECRET} Really."}
    nowhere = call_values(in_process_server(other.memory, Caller()), "review")["waiting"]
    assert {row["id"] for row in nowhere} >= {waiting.id}
