"""Answers stay small: the list of tools, a page of anything; pages walk everything once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_clients import (
    PROTOCOL_VERSIONS,
    assert_matches_schema,
    call_error,
    call_values,
    in_process_server,
    result_text,
    run_client,
)
from recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from recollect.mcp.pagination import (
    MAX_PAGE_TOKENS,
    cursor_position,
    make_cursor,
    take_fitting,
    truncate,
)
from recollect.mcp.tool_profiles import OWN_TOOLS, PROFILES
from support import open_memory
from tables import each_row

pytestmark = pytest.mark.door

LIST_TOKENS = 2_000


@pytest.fixture
def rec(tmp_path: Path) -> Iterator[LocalRecollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_the_whole_list_of_tools_takes_at_most_two_thousand_tokens(
    rec: LocalRecollect, era: str
) -> None:
    async def scene(client: Client) -> str:
        listed = await client.list_tools()
        return listed.model_dump_json(by_alias=True, exclude_none=True)

    listed = run_client(in_process_server(rec), scene, era=era)

    assert rec.models.count_tokens(listed) <= LIST_TOKENS


def test_there_are_at_most_eight_tools_of_our_own() -> None:
    assert [tool.name for tool in OWN_TOOLS] == [
        "search",
        "context",
        "remember",
        "explain",
        "review",
        "edit_block",
        "forget",
        "status",
    ]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_tool_describes_its_parameters_output_and_hints(profile: str) -> None:
    for tool in PROFILES[profile]:
        assert tool.description
        assert tool.output_schema["required"]
        assert tool.hints["openWorldHint"] is False
        assert tool.hints["readOnlyHint"] or "destructiveHint" in tool.hints
        assert_matches_schema({"type": "object"}, tool.input_schema)


def test_what_reads_is_marked_so_and_what_destroys_too() -> None:
    hints = {tool.name: tool.hints for tool in OWN_TOOLS}

    reading = {name for name, hint in hints.items() if hint["readOnlyHint"]}
    destroying = {name for name, hint in hints.items() if hint.get("destructiveHint")}
    assert reading == {"search", "context", "explain", "status"}
    assert destroying == {"review", "edit_block", "forget"}


@pytest.mark.kill
@pytest.mark.parametrize("limit", [1, 7, 50])
def test_the_pages_of_a_search_walk_everything_once(rec: LocalRecollect, limit: int) -> None:
    memory_ids = [rec.ingest(f"Pump {n} runs at night.", project="site").id for n in range(60)]
    server = in_process_server(rec)

    walked = _walked(server, "search", "hits", query="pump night", limit=limit)

    assert sorted(walked) == sorted(memory_ids)
    assert walked == _walked(server, "search", "hits", query="pump night", limit=50)


def test_the_pages_of_the_inbox_walk_everything_once(rec: LocalRecollect) -> None:
    server = in_process_server(rec)
    memory_ids = [
        rec.ingest(f"Pump {n} runs.", project="site", status="inbox").id for n in range(25)
    ]

    assert sorted(_walked(server, "review", "waiting", limit=4)) == sorted(memory_ids)


def test_the_pages_of_messages_walk_everything_once(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    conversation = rec.conversations.start(agent="coder", project="site")
    message_ids = [
        rec.conversations.append(conversation, "user", f"Pump {n} runs.").id for n in range(12)
    ]

    walked = _walked(
        in_process_server(rec), "search", "hits", query="pump", kind="messages", limit=5
    )

    assert sorted(walked) == sorted(message_ids)


def test_more_than_the_deepest_page_is_said_not_hidden(rec: LocalRecollect) -> None:
    rec.memories.ingest_many(
        [{"content": f"Pump {n} runs.", "project": "site"} for n in range(120)]
    )
    server = in_process_server(rec)
    pages = list(_pages(server, "search", query="pump", limit=50))

    assert sum(len(page["hits"]) for page in pages) == 100
    assert "a more precise query" in pages[-1]["note"]


def test_a_page_of_long_memories_is_capped_and_goes_on(rec: LocalRecollect) -> None:
    for n in range(40):
        rec.ingest(f"Pump {n}: " + "漢字と仮名 " * 400, project="site")
    server = in_process_server(rec)

    pages = list(_pages(server, "search", query="pump", limit=50))

    assert len(pages) > 1
    assert sum(len(page["hits"]) for page in pages) == 40
    for page in pages:
        assert rec.models.count_tokens(str(page["hits"])) <= MAX_PAGE_TOKENS * 1.2


def test_explanations_and_inboxes_are_capped_too(rec: LocalRecollect) -> None:
    long = "The pump hums. " * 20_000
    existing = rec.ingest(long, project="site", status="inbox")
    server = in_process_server(rec)

    async def scene(client: Client) -> list[str]:
        return [
            result_text(await client.call_tool("explain", {"id": existing.id})),
            result_text(await client.call_tool("review", {})),
        ]

    for text in run_client(server, scene):
        assert rec.models.count_tokens(text) <= MAX_PAGE_TOKENS + 100


@pytest.mark.parametrize("budget", [200, 1_000])
def test_a_bundle_keeps_to_its_budget(rec: LocalRecollect, budget: int) -> None:
    for n in range(60):
        rec.ingest(f"Pump {n} runs at night and hums loudly.", project="site")

    result = call_values(
        in_process_server(rec), "context", task="mend the pump", budget_tokens=budget
    )

    assert rec.models.count_tokens(result["text"]) <= budget
    assert result["tokens"] <= budget


def test_a_search_without_hits_describes_the_closest_memory(rec: LocalRecollect) -> None:
    rec.ingest("We deploy the site on Fridays.", project="site")

    result = call_values(
        in_process_server(rec), "search", query="quarterly revenue of the zoo site"
    )

    assert result["hits"] == [] or result["hits"][0]["why"]
    nothing = call_values(in_process_server(rec), "search", query="xylophone")
    assert nothing["hits"] == []
    assert nothing["note"]


def test_a_conflict_is_marked_on_both_sides(rec: LocalRecollect) -> None:
    one = rec.ingest("Ann lives in Berlin.", type="profile", scope="global")
    two = rec.ingest("Ann lives in Paris.", type="profile", scope="global")
    rec.link(two.id, "contradicts", one.id)

    hits = call_values(in_process_server(rec), "search", query="where does Ann live?")["hits"]

    assert {hit["id"]: hit["conflicts"] for hit in hits} == {one.id: [two.id], two.id: [one.id]}


def test_a_cursor_is_good_for_its_own_question_only(rec: LocalRecollect) -> None:
    for n in range(5):
        rec.ingest(f"Pump {n} runs.", project="site")
    server = in_process_server(rec, Caller(project="site"))
    cursor = call_values(server, "search", query="pump", limit=2)["cursor"]

    for request in ({"query": "runs"}, {"query": "pump", "types": ["decision"]}):
        assert "cursor" in call_error(server, "search", **request, cursor=cursor)


@each_row("cursor", ["x", "a" * 9_999, "W10", "WzEsMl0", "é", "[" * 5_000, "\x00"])
def test_a_cursor_we_did_not_make_is_refused(rec: LocalRecollect, cursor: str) -> None:
    assert "first page" in call_error(in_process_server(rec), "search", query="pump", cursor=cursor)


def test_a_cursor_points_where_it_was_made_to() -> None:
    assert cursor_position(make_cursor(12, "a", None), "a", None) == 12
    assert cursor_position("", "a") == 0


@pytest.mark.parametrize(("most", "kept"), [(0, 1), (5, 1), (20, 2), (1_000, 3)])
def test_as_many_items_are_taken_as_fit_but_one_at_least(most: int, kept: int) -> None:
    items = [{"a": "xxxx"}] * 3

    assert len(take_fitting(items, lambda text: 9, most)) == kept


def test_a_truncated_text_ends_with_an_ellipsis() -> None:
    assert truncate("abcdef", 4) == "abc…"
    assert truncate("abcd", 4) == "abcd"


def _pages(server: Any, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        page = call_values(server, tool, **arguments, **({"cursor": cursor} if cursor else {}))
        yield page
        if not page["more"]:
            return
        cursor = page["cursor"]


def _walked(server: Any, tool: str, rows: str, **arguments: Any) -> list[str]:
    return [row["id"] for page in _pages(server, tool, **arguments) for row in page[rows]]
