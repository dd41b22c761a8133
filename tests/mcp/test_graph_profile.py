"""The official memory server's nine tools, in its shapes, over memories."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_clients import call, matches, piped, refusal, talk, text_of, values, within
from recollect import Recollect
from recollect.mcp import graph
from recollect.mcp.caller import Caller
from recollect.mcp.graph_page import MOST_TOKENS
from support import open_memory

GRAPH = Caller(project="site", profile="memory-graph")
ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "lives in Berlin"]}
BOB = {"name": "Bob Q. Smith", "entityType": "person", "observations": []}
KNOWS = {"from": "Ann", "to": "Bob Q. Smith", "relationType": "knows well"}
BOTH = {"entities": [ANN, BOB], "relations": [KNOWS]}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


@pytest.fixture
def server(memory: Recollect) -> Any:
    made = within(memory, GRAPH)
    assert values(made, "create_entities", entities=[ANN, BOB]) == {"entities": [ANN, BOB]}
    assert values(made, "create_relations", relations=[KNOWS]) == {"relations": [KNOWS]}
    return made


def test_what_is_written_is_read_back_as_it_was(server: Any) -> None:
    result = call(server, "read_graph")

    assert result.structured_content == BOTH
    assert json.loads(text_of(result)) == BOTH
    assert text_of(result) == json.dumps(BOTH, indent=2)


def test_the_nine_tools_have_the_official_names_and_arguments(server: Any) -> None:
    async def scene(client: Client) -> dict[str, Any]:
        tools = (await client.list_tools()).tools
        return {tool.name: list(tool.input_schema["properties"]) for tool in tools}

    assert talk(server, scene) == {
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


def test_what_is_known_is_not_written_twice(server: Any, memory: Recollect) -> None:
    before = len(memory.inbox(limit=100))

    assert values(server, "create_entities", entities=[ANN]) == {"entities": []}
    assert values(server, "create_relations", relations=[KNOWS, KNOWS]) == {"relations": []}
    more = [{"entityName": "Ann", "contents": ["likes tea", "sings", "sings"]}]
    added = values(server, "add_observations", observations=more)

    assert added == {"results": [{"entityName": "Ann", "addedObservations": ["sings"]}]}
    assert len(memory.inbox(limit=100)) == before + 1


def test_what_is_said_of_the_unknown_is_refused_as_a_whole(server: Any, memory: Recollect) -> None:
    before = len(memory.inbox(limit=100))
    some = [
        {"entityName": "Ann", "contents": ["sings"]},
        {"entityName": "Zoe", "contents": ["sings"]},
    ]

    said = refusal(server, "add_observations", observations=some)

    assert said == "Entity with name Zoe not found"
    assert "Zoe" in refusal(server, "create_relations", relations=[{**KNOWS, "to": "Zoe"}])
    assert len(memory.inbox(limit=100)) == before


def test_nodes_are_found_by_any_of_their_texts_with_their_relations(server: Any) -> None:
    for query in ("BERLIN", "ann", "tea"):
        found = values(server, "search_nodes", query=query)
        assert found == {"entities": [ANN], "relations": [KNOWS]}
    assert values(server, "search_nodes", query="person") == BOTH
    opened = values(server, "open_nodes", names=["Bob Q. Smith", "Zoe"])
    assert opened == {"entities": [BOB], "relations": [KNOWS]}


def test_a_question_that_stands_nowhere_as_such_finds_what_answers_it(server: Any) -> None:
    found = values(server, "search_nodes", query="where is the tea that somebody likes?")

    assert [one["name"] for one in found["entities"]] == ["Ann"]


def test_what_is_deleted_is_gone_from_the_graph_and_can_be_brought_back(
    server: Any, memory: Recollect
) -> None:
    gone = [{"entityName": "Ann", "observations": ["likes tea", "flies"]}]
    said = values(server, "delete_observations", deletions=gone)
    assert said == {"success": True, "message": "Deleted 1 of 2 observations."}
    said = values(server, "delete_entities", entityNames=["Bob Q. Smith"])
    assert said == {"success": True, "message": "Entities deleted successfully"}

    left = {**ANN, "observations": ["lives in Berlin"]}
    assert values(server, "read_graph") == {"entities": [left], "relations": []}
    archived = memory.memories(project="site", statuses=["archived"])
    assert {one.content for one in archived} >= {"likes tea", "Ann knows well Bob Q. Smith"}
    assert "by agent: deleted with a graph tool" in str(memory.explain(archived[0].id))


def test_relations_are_deleted_and_what_matched_nothing_is_said(server: Any) -> None:
    other = {**KNOWS, "relationType": "hates"}

    said = values(server, "delete_relations", relations=[KNOWS, other])

    assert said["message"] == "Deleted 1 of 2 relations. The rest matched nothing."
    assert values(server, "read_graph")["relations"] == []


@pytest.mark.parametrize(
    "name", ["a b", "ünï", "x: y", " lead", "new\nline", "{}", "graph", "a" * 400]
)
def test_names_and_texts_come_back_byte_for_byte(memory: Recollect, name: str) -> None:
    server = within(memory, GRAPH)
    one = {"name": name, "entityType": f" {name} ", "observations": [f"{name} ", name]}
    self_made = {"from": name, "to": name, "relationType": f"is {name} of"}
    values(server, "create_entities", entities=[one])
    values(server, "create_relations", relations=[self_made])

    assert values(server, "read_graph") == {"entities": [one], "relations": [self_made]}


def test_a_graph_larger_than_one_page_is_read_whole(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "PAGE", 7)
    many = [{"name": f"n{n}", "entityType": "t", "observations": ["o"]} for n in range(30)]
    server = within(memory, GRAPH)
    values(server, "create_entities", entities=many)

    assert values(server, "read_graph")["entities"] == many


def written(server: Any, many: list[dict[str, Any]], relations: list[dict[str, str]]) -> None:
    for start in range(0, len(many), 100):
        values(server, "create_entities", entities=many[start : start + 100])
    values(server, "create_relations", relations=relations)


def test_a_graph_too_long_to_read_is_cut_to_the_newest_and_says_so(memory: Recollect) -> None:
    server = within(memory, GRAPH)
    told = "ein längerer Satz über das, was hier »gilt«, Nummer"
    many = [
        {"name": f"n{n}", "entityType": "t", "observations": [f"{told} {n}", f"{told} -{n}"]}
        for n in range(400)
    ]
    ring = [{"from": f"n{n}", "to": f"n{(n + 1) % 400}", "relationType": "x"} for n in range(400)]
    written(server, many, ring)
    values(server, "add_observations",
           observations=[{"entityName": "n7", "contents": ["sings"]}])  # fmt: skip

    result = call(server, "read_graph")
    found = result.structured_content
    names = [one["name"] for one in found["entities"]]

    assert json.loads(text_of(result)) == found
    assert MOST_TOKENS * 0.8 < memory.count_tokens(text_of(result)) <= MOST_TOKENS
    assert names == ["n7", *(f"n{n}" for n in range(401 - len(names), 400))]
    assert found["entities"][1:] == many[401 - len(names) :]
    assert found["relations"]
    assert all(one["from"] in names or one["to"] in names for one in found["relations"])
    assert f"{len(names)} of 400 entities" in found["note"]
    assert "search_nodes" in found["note"]
    assert values(server, "read_graph") == found
    assert values(server, "open_nodes", names=["n1"])["entities"] == [many[1]]
    assert "note" not in values(server, "open_nodes", names=["n1"])


def test_of_what_was_asked_for_the_most_wanted_comes_first(memory: Recollect) -> None:
    server = within(memory, GRAPH)
    long = "a needle and " + "much more hay than anybody wants to read, " * 60
    many = [{"name": f"n{n}", "entityType": "t", "observations": [f"{long}{n}"]} for n in range(60)]
    many[3]["name"] = "needle"
    written(server, many, [])

    opened = values(server, "open_nodes", names=[f"n{n}" for n in range(59, -1, -1) if n != 3])
    searched = values(server, "search_nodes", query="Needle")

    names = [one["name"] for one in opened["entities"]]
    assert names == [f"n{n}" for n in range(60 - len(names), 60)]
    assert f"{len(names)} of 59 entities" in opened["note"]
    names = [one["name"] for one in searched["entities"]]
    assert names == ["needle", *(f"n{n}" for n in range(61 - len(names), 60))]


def test_of_an_entity_that_is_too_long_what_holds_the_words_is_shown(memory: Recollect) -> None:
    server = within(memory, GRAPH)
    said = [f"{'zebra' if n == 1 else 'horse'} {n} " + "grazes " * 200 for n in range(100)]
    ann = {**ANN, "observations": [said[0], *said[1:]]}
    written(server, [ann, BOB], [KNOWS])

    for tool, given in (("search_nodes", {"query": "zebra"}), ("open_nodes", {"names": ["Ann"]})):
        found = values(server, tool, **given)
        [one] = found["entities"]
        shown = one["observations"]
        assert (said[1] in shown) is (tool == "search_nodes")
        assert shown[-1] == said[-1]
        assert said[0] not in shown
        assert f"{len(shown)} of 100 observations of “Ann”" in found["note"]
        assert found["relations"] == [KNOWS]
        assert memory.count_tokens(json.dumps(found, indent=2)) <= MOST_TOKENS


def test_it_is_chosen_with_an_option_and_off_without_it(tmp_path: Path) -> None:
    server = piped(tmp_path / "m.db", "--project", "site", "--profile", "memory-graph")

    async def scene(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        made = await client.call_tool("create_entities", {"entities": [ANN]})
        matches(tools["create_entities"].output_schema or {}, made.structured_content)
        read = await client.call_tool("read_graph", {})
        assert (read.structured_content or {})["entities"] == [ANN]

    talk(server, scene)
    assert "waits" in values(piped(tmp_path / "m.db"), "remember", content="x")["note"]


def test_two_of_whom_the_same_is_said_both_keep_it(tmp_path: Path) -> None:
    people = [
        {"name": name, "entityType": "person", "observations": ["likes green tea"]}
        for name in ("Ann", "Bob")
    ]
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        server = within(memory, Caller(project="site", profile="memory-graph"))
        values(server, "create_entities", entities=people)
        memory.consolidate()
        for one in memory.waiting():
            memory.decide(one.memory.id, "keep")

        assert values(server, "read_graph")["entities"] == people


def test_what_two_clients_created_at_once_is_deleted_whole(memory: Recollect) -> None:
    server = within(memory, GRAPH)
    for _ in range(2):  # as two who both read before either wrote
        drafts = [graph.entity("Ann", "person"), graph.observation("Ann", "likes tea")]
        graph.write(memory, GRAPH, [*drafts, graph.relation(graph.Relation("Ann", "Ann", "is"))])
    relation = {"from": "Ann", "to": "Ann", "relationType": "is"}
    gone = [{"entityName": "Ann", "observations": ["likes tea"]}]

    told = [
        values(server, "delete_observations", deletions=gone)["message"],
        values(server, "delete_relations", relations=[relation])["message"],
        values(server, "delete_entities", entityNames=["Ann"])["message"],
    ]

    assert all(message.endswith("deleted successfully") for message in told)
    assert values(server, "read_graph") == {"entities": [], "relations": []}
