"""Answers stay small: the list of tools, a page of anything; pages walk everything once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_clients import ERAS, matches, refusal, talk, text_of, values, within
from recollect import Recollect
from recollect.mcp.caller import Caller
from recollect.mcp.pages import MOST_TOKENS, cursor_to, cut, fitting, position_of
from recollect.mcp.profiles import OWN_TOOLS, PROFILES
from support import open_memory

LIST_TOKENS = 2_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_memory(tmp_path / "m.db", words_only=True) as opened:
        yield opened


@pytest.mark.parametrize("era", ERAS)
def test_the_whole_list_of_tools_takes_at_most_two_thousand_tokens(
    memory: Recollect, era: str
) -> None:
    async def scene(client: Client) -> str:
        listed = await client.list_tools()
        return listed.model_dump_json(by_alias=True, exclude_none=True)

    listed = talk(within(memory), scene, era=era)

    assert memory.count_tokens(listed) <= LIST_TOKENS


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
def test_every_tool_says_what_it_takes_gives_and_does(profile: str) -> None:
    for tool in PROFILES[profile]:
        assert tool.description
        assert tool.output_schema["required"]
        assert tool.hints["openWorldHint"] is False
        assert tool.hints["readOnlyHint"] or "destructiveHint" in tool.hints
        matches({"type": "object"}, tool.input_schema)


def test_what_reads_is_marked_so_and_what_destroys_too() -> None:
    hints = {tool.name: tool.hints for tool in OWN_TOOLS}

    reading = {name for name, one in hints.items() if one["readOnlyHint"]}
    destroying = {name for name, one in hints.items() if one.get("destructiveHint")}
    assert reading == {"search", "context", "explain", "status"}
    assert destroying == {"review", "edit_block", "forget"}


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_the_pages_of_a_search_walk_everything_once(memory: Recollect, limit: int) -> None:
    kept = [memory.ingest(f"Pump {n} runs at night.", project="site").id for n in range(60)]
    server = within(memory)

    walked = _walked(server, "search", "hits", query="pump night", limit=limit)

    assert sorted(walked) == sorted(kept)
    assert walked == _walked(server, "search", "hits", query="pump night", limit=50)


def test_the_pages_of_the_inbox_walk_everything_once(memory: Recollect) -> None:
    server = within(memory)
    kept = [memory.ingest(f"Pump {n} runs.", project="site", status="inbox").id for n in range(25)]

    assert sorted(_walked(server, "review", "waiting", limit=4)) == sorted(kept)


def test_the_pages_of_messages_walk_everything_once(memory: Recollect) -> None:
    memory.create_agent("coder")
    told = memory.start_conversation(agent="coder", project="site")
    said = [memory.append_message(told, "user", f"Pump {n} runs.").id for n in range(12)]

    walked = _walked(within(memory), "search", "hits", query="pump", kind="messages", limit=5)

    assert sorted(walked) == sorted(said)


def test_more_than_the_deepest_page_is_said_not_hidden(memory: Recollect) -> None:
    memory.ingest_many([{"content": f"Pump {n} runs.", "project": "site"} for n in range(120)])
    server = within(memory)
    pages = list(_pages(server, "search", query="pump", limit=50))

    assert sum(len(page["hits"]) for page in pages) == 100
    assert "more precisely" in pages[-1]["note"]


def test_a_page_of_long_memories_is_capped_and_goes_on(memory: Recollect) -> None:
    for n in range(40):
        memory.ingest(f"Pump {n}: " + "漢字と仮名 " * 400, project="site")
    server = within(memory)

    pages = list(_pages(server, "search", query="pump", limit=50))

    assert len(pages) > 1
    assert sum(len(page["hits"]) for page in pages) == 40
    for page in pages:
        assert memory.count_tokens(str(page["hits"])) <= MOST_TOKENS * 1.2


def test_explanations_and_inboxes_are_capped_too(memory: Recollect) -> None:
    long = "The pump hums. " * 20_000
    known = memory.ingest(long, project="site", status="inbox")
    server = within(memory)

    async def scene(client: Client) -> list[str]:
        return [
            text_of(await client.call_tool("explain", {"id": known.id})),
            text_of(await client.call_tool("review", {})),
        ]

    for text in talk(server, scene):
        assert memory.count_tokens(text) <= MOST_TOKENS + 100


@pytest.mark.parametrize("budget", [200, 1_000])
def test_a_bundle_keeps_to_its_budget(memory: Recollect, budget: int) -> None:
    for n in range(60):
        memory.ingest(f"Pump {n} runs at night and hums loudly.", project="site")

    told = values(within(memory), "context", task="mend the pump", budget_tokens=budget)

    assert memory.count_tokens(told["text"]) <= budget
    assert told["tokens"] <= budget


def test_where_nothing_is_near_the_answer_says_what_was_nearest(memory: Recollect) -> None:
    memory.ingest("We deploy the site on Fridays.", project="site")

    told = values(within(memory), "search", query="quarterly revenue of the zoo site")

    assert told["hits"] == [] or told["hits"][0]["why"]
    nothing = values(within(memory), "search", query="xylophone")
    assert nothing["hits"] == []
    assert nothing["note"]


def test_a_conflict_is_marked_on_both_sides(memory: Recollect) -> None:
    one = memory.ingest("Ann lives in Berlin.", type="profile", scope="global")
    two = memory.ingest("Ann lives in Paris.", type="profile", scope="global")
    memory.link(two.id, "contradicts", one.id)

    hits = values(within(memory), "search", query="where does Ann live?")["hits"]

    assert {hit["id"]: hit["conflicts"] for hit in hits} == {one.id: [two.id], two.id: [one.id]}


def test_a_cursor_is_good_for_its_own_question_only(memory: Recollect) -> None:
    for n in range(5):
        memory.ingest(f"Pump {n} runs.", project="site")
    server = within(memory, Caller(project="site"))
    cursor = values(server, "search", query="pump", limit=2)["cursor"]

    for asked in ({"query": "runs"}, {"query": "pump", "types": ["decision"]}):
        assert "cursor" in refusal(server, "search", **asked, cursor=cursor)


@pytest.mark.parametrize("cursor", ["x", "a" * 9_999, "W10", "WzEsMl0", "é", "[" * 5_000, "\x00"])
def test_a_cursor_we_did_not_make_is_refused(memory: Recollect, cursor: str) -> None:
    assert "first page" in refusal(within(memory), "search", query="pump", cursor=cursor)


def test_a_cursor_points_where_it_was_made_to() -> None:
    assert position_of(cursor_to(12, "a", None), "a", None) == 12
    assert position_of("", "a") == 0


@pytest.mark.parametrize(("most", "kept"), [(0, 1), (5, 1), (20, 2), (1_000, 3)])
def test_as_many_items_are_taken_as_fit_but_one_at_least(most: int, kept: int) -> None:
    items = [{"a": "xxxx"}] * 3

    assert len(fitting(items, lambda text: 9, most)) == kept


def test_a_cut_text_says_so() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def _pages(server: Any, tool: str, **given: Any) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        page = values(server, tool, **given, **({"cursor": cursor} if cursor else {}))
        yield page
        if not page["more"]:
            return
        cursor = page["cursor"]


def _walked(server: Any, tool: str, rows: str, **given: Any) -> list[str]:
    return [row["id"] for page in _pages(server, tool, **given) for row in page[rows]]
