"""The official memory server's nine tools, in its shapes, over memories."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_clients import (
    assert_matches_schema,
    call_error,
    call_tool,
    call_values,
    in_process_server,
    result_text,
    run_client,
    stdio_server,
)
from recollect import LocalRecollect
from recollect.mcp import knowledge_graph
from recollect.mcp.caller_scope import Caller
from recollect.mcp.graph_excerpt import MAX_GRAPH_TOKENS
from support import candidates, open_memory

pytestmark = pytest.mark.door

GRAPH = Caller(project="site", agent="coder", profile="memory-graph")
ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "lives in Berlin"]}
BOB = {"name": "Bob Q. Smith", "entityType": "person", "observations": []}
KNOWS = {"from": "Ann", "to": "Bob Q. Smith", "relationType": "knows well"}
BOTH = {"entities": [ANN, BOB], "relations": [KNOWS]}


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


@pytest.fixture
def server(rec: LocalRecollect) -> Any:
    created = in_process_server(rec, GRAPH)
    assert call_values(created, "create_entities", entities=[ANN, BOB]) == {"entities": [ANN, BOB]}
    assert call_values(created, "create_relations", relations=[KNOWS]) == {"relations": [KNOWS]}
    return created


def test_what_is_written_is_read_back_as_it_was(server: Any) -> None:
    result = call_tool(server, "read_graph")

    assert result.structured_content == BOTH
    assert json.loads(result_text(result)) == BOTH
    assert result_text(result) == json.dumps(BOTH, indent=2)


def test_the_nine_tools_have_the_official_names_and_arguments(server: Any) -> None:
    async def scene(client: Client) -> dict[str, Any]:
        tools = (await client.list_tools()).tools
        return {tool.name: list(tool.input_schema["properties"]) for tool in tools}

    assert run_client(server, scene) == {
        "create_entities": ["entities"],
        "create_relations": ["relations"],
        "add_observations": ["observations"],
        "delete_entities": ["entityNames"],
        "delete_observations": ["deletions"],
        "delete_relations": ["relations"],
        "read_graph": [],
        "search_nodes": ["query"],
        "open_nodes": ["names"],
    }


def test_what_is_known_is_not_written_twice(server: Any, rec: LocalRecollect) -> None:
    before = len(candidates(rec, limit=100))

    assert call_values(server, "create_entities", entities=[ANN]) == {"entities": []}
    assert call_values(server, "create_relations", relations=[KNOWS, KNOWS]) == {"relations": []}
    more = [{"entityName": "Ann", "contents": ["likes tea", "sings", "sings"]}]
    added = call_values(server, "add_observations", observations=more)

    assert added == {"results": [{"entityName": "Ann", "addedObservations": ["sings"]}]}
    assert len(candidates(rec, limit=100)) == before + 1


def test_what_is_said_of_the_unknown_is_refused_as_a_whole(
    server: Any, rec: LocalRecollect
) -> None:
    before = len(candidates(rec, limit=100))
    some = [
        {"entityName": "Ann", "contents": ["sings"]},
        {"entityName": "Zoe", "contents": ["sings"]},
    ]

    error = call_error(server, "add_observations", observations=some)

    assert error == "Entity with name Zoe not found"
    assert "Zoe" in call_error(server, "create_relations", relations=[{**KNOWS, "to": "Zoe"}])
    assert len(candidates(rec, limit=100)) == before


def test_nodes_are_found_by_any_of_their_texts_with_their_relations(server: Any) -> None:
    for query in ("BERLIN", "ann", "tea"):
        result = call_values(server, "search_nodes", query=query)
        assert result == {"entities": [ANN], "relations": [KNOWS]}
    assert call_values(server, "search_nodes", query="person") == BOTH
    opened = call_values(server, "open_nodes", names=["Bob Q. Smith", "Zoe"])
    assert opened == {"entities": [BOB], "relations": [KNOWS]}


def test_a_question_that_stands_nowhere_as_such_finds_what_answers_it(server: Any) -> None:
    result = call_values(server, "search_nodes", query="where is the tea that somebody likes?")

    assert [entity["name"] for entity in result["entities"]] == ["Ann"]


def test_what_is_deleted_is_gone_from_the_graph_and_can_be_brought_back(
    server: Any, rec: LocalRecollect
) -> None:
    gone = [{"entityName": "Ann", "observations": ["likes tea", "flies"]}]
    result = call_values(server, "delete_observations", deletions=gone)
    assert result == {"success": True, "message": "Deleted 1 of 2 observations."}
    result = call_values(server, "delete_entities", entityNames=["Bob Q. Smith"])
    assert result == {"success": True, "message": "Entities deleted successfully"}

    left = {**ANN, "observations": ["lives in Berlin"]}
    assert call_values(server, "read_graph") == {"entities": [left], "relations": []}
    archived = rec.memories.list(project="site", statuses=["archived"])
    assert {record.content for record in archived} >= {"likes tea", "Ann knows well Bob Q. Smith"}
    assert "by agent: deleted with a graph tool" in str(rec.explain(archived[0].id))


def test_relations_are_deleted_and_what_matched_nothing_is_said(server: Any) -> None:
    other = {**KNOWS, "relationType": "hates"}

    result = call_values(server, "delete_relations", relations=[KNOWS, other])

    assert result["message"] == "Deleted 1 of 2 relations. The rest matched nothing."
    assert call_values(server, "read_graph")["relations"] == []


@pytest.mark.parametrize(
    "name", ["a b", "ünï", "x: y", " lead", "new\nline", "{}", "graph", "a" * 400]
)
def test_names_and_texts_come_back_byte_for_byte(rec: LocalRecollect, name: str) -> None:
    server = in_process_server(rec, GRAPH)
    one = {"name": name, "entityType": f" {name} ", "observations": [f"{name} ", name]}
    self_made = {"from": name, "to": name, "relationType": f"is {name} of"}
    call_values(server, "create_entities", entities=[one])
    call_values(server, "create_relations", relations=[self_made])

    assert call_values(server, "read_graph") == {"entities": [one], "relations": [self_made]}


def test_a_graph_larger_than_one_page_is_read_whole(
    rec: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge_graph, "PAGE_SIZE", 7)
    many = [{"name": f"n{n}", "entityType": "t", "observations": ["o"]} for n in range(30)]
    server = in_process_server(rec, GRAPH)
    call_values(server, "create_entities", entities=many)

    assert call_values(server, "read_graph")["entities"] == many


def written(server: Any, many: list[dict[str, Any]], relations: list[dict[str, str]]) -> None:
    for start in range(0, len(many), 100):
        call_values(server, "create_entities", entities=many[start : start + 100])
    call_values(server, "create_relations", relations=relations)


@pytest.mark.kill
def test_a_graph_too_long_to_read_is_cut_to_the_newest_and_says_so(rec: LocalRecollect) -> None:
    server = in_process_server(rec, GRAPH)
    outcome = "ein längerer Satz über das, was hier »gilt«, Nummer"
    many = [
        {"name": f"n{n}", "entityType": "t", "observations": [f"{outcome} {n}", f"{outcome} -{n}"]}
        for n in range(400)
    ]
    ring = [{"from": f"n{n}", "to": f"n{(n + 1) % 400}", "relationType": "x"} for n in range(400)]
    written(server, many, ring)
    call_values(server, "add_observations",
           observations=[{"entityName": "n7", "contents": ["sings"]}])  # fmt: skip

    result = call_tool(server, "read_graph")
    found = result.structured_content
    names = [entity["name"] for entity in found["entities"]]

    assert json.loads(result_text(result)) == found
    assert MAX_GRAPH_TOKENS * 0.8 < rec.models.count_tokens(result_text(result)) <= MAX_GRAPH_TOKENS
    assert names == ["n7", *(f"n{n}" for n in range(401 - len(names), 400))]
    assert found["entities"][1:] == many[401 - len(names) :]
    assert found["relations"]
    assert all(entity["from"] in names or entity["to"] in names for entity in found["relations"])
    assert f"{len(names)} of 400 entities" in found["note"]
    assert "search_nodes" in found["note"]
    assert call_values(server, "read_graph") == found
    assert call_values(server, "open_nodes", names=["n1"])["entities"] == [many[1]]
    assert "note" not in call_values(server, "open_nodes", names=["n1"])


def test_of_what_was_asked_for_the_most_wanted_comes_first(rec: LocalRecollect) -> None:
    server = in_process_server(rec, GRAPH)
    long = "a needle and " + "much more hay than anybody wants to read, " * 60
    many = [{"name": f"n{n}", "entityType": "t", "observations": [f"{long}{n}"]} for n in range(60)]
    many[3]["name"] = "needle"
    written(server, many, [])

    opened = call_values(server, "open_nodes", names=[f"n{n}" for n in range(59, -1, -1) if n != 3])
    searched = call_values(server, "search_nodes", query="Needle")

    names = [entity["name"] for entity in opened["entities"]]
    assert names == [f"n{n}" for n in range(60 - len(names), 60)]
    assert f"{len(names)} of 59 entities" in opened["note"]
    names = [entity["name"] for entity in searched["entities"]]
    assert names == ["needle", *(f"n{n}" for n in range(61 - len(names), 60))]


def test_of_an_entity_that_is_too_long_what_holds_the_words_is_shown(
    rec: LocalRecollect,
) -> None:
    server = in_process_server(rec, GRAPH)
    texts = [f"{'zebra' if n == 1 else 'horse'} {n} " + "grazes " * 200 for n in range(100)]
    ann = {**ANN, "observations": [texts[0], *texts[1:]]}
    written(server, [ann, BOB], [KNOWS])

    for tool, arguments in (
        ("search_nodes", {"query": "zebra"}),
        ("open_nodes", {"names": ["Ann"]}),
    ):
        result = call_values(server, tool, **arguments)
        [one] = result["entities"]
        visible = one["observations"]
        assert (texts[1] in visible) is (tool == "search_nodes")
        assert visible[-1] == texts[-1]
        assert texts[0] not in visible
        assert f"{len(visible)} of 100 observations of “Ann”" in result["note"]
        assert result["relations"] == [KNOWS]
        assert rec.models.count_tokens(json.dumps(result, indent=2)) <= MAX_GRAPH_TOKENS


@pytest.mark.door
def test_it_is_chosen_with_an_option_and_off_without_it(tmp_path: Path) -> None:
    server = stdio_server(tmp_path / "m.db", "--project", "site", "--profile", "memory-graph")

    async def scene(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        created = await client.call_tool("create_entities", {"entities": [ANN]})
        assert_matches_schema(
            tools["create_entities"].output_schema or {}, created.structured_content
        )
        read = await client.call_tool("read_graph", {})
        assert (read.structured_content or {})["entities"] == [ANN]

    run_client(server, scene)
    assert (
        "in the inbox"
        in call_values(stdio_server(tmp_path / "m.db"), "remember", content="x")["note"]
    )


def test_two_of_whom_the_same_is_said_both_keep_it(tmp_path: Path) -> None:
    people = [
        {"name": name, "entityType": "person", "observations": ["likes green tea"]}
        for name in ("Ann", "Bob")
    ]
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        server = in_process_server(rec, Caller(project="site", profile="memory-graph"))
        call_values(server, "create_entities", entities=people)
        rec.consolidate()
        for item in rec.inbox.list():
            rec.inbox.decide(item.memory.id, "keep")

        assert call_values(server, "read_graph")["entities"] == people


def test_what_two_clients_created_at_once_is_deleted_whole(rec: LocalRecollect) -> None:
    server = in_process_server(rec, GRAPH)
    for _ in range(2):  # as two who both read before either wrote
        drafts = [
            knowledge_graph.entity_draft("Ann", "person"),
            knowledge_graph.observation_draft("Ann", "likes tea"),
        ]
        knowledge_graph.write(
            rec,
            GRAPH,
            [
                *drafts,
                knowledge_graph.relation_draft(knowledge_graph.GraphRelation("Ann", "Ann", "is")),
            ],
        )
    relation = {"from": "Ann", "to": "Ann", "relationType": "is"}
    gone = [{"entityName": "Ann", "observations": ["likes tea"]}]

    messages = [
        call_values(server, "delete_observations", deletions=gone)["message"],
        call_values(server, "delete_relations", relations=[relation])["message"],
        call_values(server, "delete_entities", entityNames=["Ann"])["message"],
    ]

    assert all(message.endswith("deleted successfully") for message in messages)
    assert call_values(server, "read_graph") == {"entities": [], "relations": []}
