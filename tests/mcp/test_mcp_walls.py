"""Scope is a wall: another project's memory is not seen, nor by somebody who has its id."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mcp_clients import ERAS, Person, call, over_http, piped, refusal, talk, text_of, values, within
from recollect import Recollect
from recollect.mcp.caller import Caller
from support import open_memory

NOWHERE = "01900000-0000-7000-8000-000000000000"
SECRET = "The vault of the bank opens at nine."


@dataclass
class Other:
    """A store in which another project has something to hide."""

    memory: Recollect
    memory_id: str
    waiting_id: str
    retrieval_id: str


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Other]:
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        kept = memory.ingest(SECRET, type="project", project="bank")
        waiting = memory.ingest(f"{SECRET} Really.", type="project", status="inbox", project="bank")
        (hit, *_) = memory.search("vault bank", project="bank")
        memory.create_agent("teller")
        memory.create_agent("coder")
        memory.create_block("project", SECRET, project="bank")
        told = memory.start_conversation(agent="coder", project="bank")
        memory.append_message(told, "user", SECRET)
        assert hit.retrieval_id
        yield Other(memory, kept.id, waiting.id, hit.retrieval_id)


def test_nothing_of_another_project_is_seen_by_any_tool(other: Other) -> None:
    server = within(other.memory)
    person = Person()

    ids = (other.memory_id, other.waiting_id)
    answers = [
        call(server, "search", query="vault bank opens nine"),
        call(server, "search", query="vault bank opens nine", kind="messages"),
        call(server, "context", task="open the vault of the bank at nine"),
        call(server, "review"),
        call(server, "status"),
        *(call(server, "explain", id=one) for one in (*ids, other.retrieval_id)),
        *(call(server, "explain", id=one, query="vault") for one in ids),
        *(call(server, "forget", person=person, id=one) for one in ids),
        call(server, "review", person=person, action="keep", id=other.waiting_id),
        call(server, "edit_block", label="project", how="append", text="x"),
    ]

    assert not [answer for answer in answers if "vault" in text_of(answer)]
    assert person.asked == []
    assert other.memory.get(other.memory_id).content == SECRET
    assert other.memory.get(other.waiting_id).status == "inbox"


def test_nothing_of_another_project_is_seen_by_address_or_prompt(other: Other) -> None:
    async def scene(client: Client) -> None:
        for uri in (f"memories/{other.memory_id}", "blocks/project"):
            with pytest.raises(MCPError, match="no"):
                await client.read_resource(f"recollect://{uri}")
        task = {"task": "open the vault of the bank"}
        written = await client.get_prompt("recall", task)
        assert "nine" not in written.messages[0].content.text  # type: ignore[union-attr]
        assert "empty" in (await client.get_prompt("review")).messages[0].content.text  # type: ignore[union-attr]

    for era in ERAS:
        talk(within(other.memory), scene, era=era)


@pytest.mark.parametrize("profile", ["memory-graph", "chatgpt"])
def test_the_other_profiles_stand_behind_the_same_wall(other: Other, profile: str) -> None:
    bank = within(other.memory, Caller(project="bank", profile="memory-graph"))
    entity = {"name": "vault", "entityType": "room", "observations": ["opens at nine"]}
    values(bank, "create_entities", entities=[entity])
    server = within(other.memory, Caller(project="site", profile=profile))

    if profile == "chatgpt":
        assert values(server, "search", query="vault bank nine") == {"results": []}
        assert "no memory" in refusal(server, "fetch", id=other.memory_id)
    else:
        nothing: dict[str, list[Any]] = {"entities": [], "relations": []}
        assert values(server, "read_graph") == nothing
        assert values(server, "search_nodes", query="vault") == nothing
        assert values(server, "open_nodes", names=["vault"]) == nothing


def test_a_caller_without_project_or_agent_sees_only_what_is_global(other: Other) -> None:
    other.memory.ingest("Ann likes tea in the vault.", type="profile", scope="global")
    other.memory.create_block("notes", SECRET, scope="global")
    server = within(other.memory, Caller())

    found = values(server, "search", query="vault")["hits"]

    assert [hit["content"] for hit in found] == ["Ann likes tea in the vault."]
    assert values(server, "status")["blocks"] == []
    block = next(one for one in other.memory.blocks() if one.label == "notes")
    for label in ("notes", block.id):
        said = refusal(server, "edit_block", label=label, how="set", text="mine")
        assert "no block" in said
    assert other.memory.block(None, block.id).value == SECRET


def test_the_project_is_the_one_of_the_folder_it_is_started_in(tmp_path: Path) -> None:
    folders = [tmp_path / "site", tmp_path / "bank"]
    for folder in folders:
        folder.mkdir()
    db = tmp_path / "m.db"
    with open_memory(db, words_only=True) as memory:
        memory.ingest("The site opens at nine.", project=folders[0])
        memory.ingest("The bank opens at nine.", project=folders[1])

    found = [values(piped(db, cwd=one), "search", query="opens nine")["hits"] for one in folders]
    named = values(piped(db, "--project", "bank", cwd=folders[0]), "status")["project"]
    nowhere = values(piped(db, "--project", "", cwd=folders[0]), "search", query="opens nine")

    assert [[hit["content"] for hit in hits] for hits in found] == [
        ["The site opens at nine."],
        ["The bank opens at nine."],
    ]
    assert named == "bank"
    assert nowhere["hits"] == []


def test_over_http_the_address_names_the_project(other: Other) -> None:
    asked = {"query": "vault bank opens nine"}
    with over_http(other.memory, "?project=bank") as url:
        assert values(url, "search", **asked)["hits"][0]["content"] == SECRET
        for era in ERAS:
            assert values(url.partition("?")[0], "search", era, **asked)["hits"] == []


def test_what_a_search_brings_from_another_project_can_be_explained(other: Other) -> None:
    rule = other.memory.ingest("Vault doors open with two keys.", type="decision", project="bank")
    server = within(other.memory)
    query = "vault doors open two keys"
    (hit,) = values(server, "search", query=query)["hits"]
    assert hit["id"] == rule.id

    told = values(server, "explain", id=rule.id, query=query)["text"]

    assert "It does come" in told
    assert "Rests on “Vault doors open with two keys.”" in told
    for given in ({}, {"query": "elephants"}):
        said = refusal(server, "explain", id=rule.id, **given)
        assert "with the query that found it" in said
        assert said.replace(rule.id, "") == refusal(server, "explain", id=NOWHERE, **given).replace(
            NOWHERE, ""
        )
    assert "no memory" in refusal(server, "forget", person=Person(), id=rule.id)


def test_a_linked_memory_can_be_explained_and_only_from_where_it_is_linked(other: Other) -> None:
    mine = other.memory.ingest("The site opens at ten.", project="site")
    other.memory.link(mine.id, "related_to", other.memory_id)

    told = values(within(other.memory), "explain", id=other.memory_id)["text"]

    assert SECRET in told
    for elsewhere in (Caller(project="shop"), Caller()):
        assert "neither a memory" in refusal(
            within(other.memory, elsewhere), "explain", id=other.memory_id
        )
    note = values(within(other.memory), "search", query="elephants")["note"]
    assert "vault" not in note


def test_a_question_asked_inside_a_session_is_not_explained(other: Other) -> None:
    other.memory.ingest(SECRET, session="private", scope="session")
    (hit,) = other.memory.search("vault bank", session="private")

    assert "neither" in refusal(within(other.memory), "explain", id=str(hit.retrieval_id))
