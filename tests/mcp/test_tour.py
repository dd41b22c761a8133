"""A client walks through everything the server offers, over each transport and in each era."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_clients import ERAS, Person, matches, over_http, piped, talk, text_of
from recollect import Recollect
from support import open_memory


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    db = tmp_path / "memory.db"
    with open_memory(db, words_only=True) as memory:
        _furnish(memory)
        if request.param == "http":
            with over_http(memory) as url:
                yield url
            return
    yield piped(db, "--project", "site", "--agent", "coder")


def _furnish(memory: Recollect) -> None:
    memory.create_agent("coder")
    memory.ingest("We deploy the site on Fridays.", project="site")
    told = memory.start_conversation(agent="coder", project="site")
    memory.append_message(told, "user", "The build takes eleven minutes.")


@pytest.mark.parametrize("era", ERAS)
def test_every_tool_resource_and_prompt_answers_as_it_says(server: Any, era: str) -> None:
    person = Person()

    async def scene(client: Client) -> dict[str, Any]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers: dict[str, Any] = {}

        async def used(tool: str, **given: Any) -> Any:
            result = await client.call_tool(tool, given)
            assert not result.is_error, text_of(result)
            matches(tools[tool].output_schema or {}, result.structured_content)
            answers[tool] = result.structured_content
            return result.structured_content

        kept = await used("remember", content="We use pnpm here.", type="decision")
        waiting = await used("review")
        assert [one["id"] for one in waiting["waiting"]] == [kept["id"]]
        await used("review", action="keep", id=kept["id"])
        found = await used("search", query="pnpm")
        assert [hit["id"] for hit in found["hits"]] == [kept["id"]]
        said = await used("search", query="build", kind="messages")
        assert [hit["type"] for hit in said["hits"]] == ["message"]
        bundle = await used("context", task="deploy the site")
        assert "Fridays" in bundle["text"]
        await used("explain", id=bundle["retrieval_id"])
        await used("explain", id=kept["id"], query="deploy")
        assert "by agent" in (await used("explain", id=kept["id"]))["text"]
        await used("edit_block", label="human", how="append", text="Ann", version=1)
        status = await used("status")
        assert (status["project"], status["agent"]) == ("site", "coder")
        resource = await client.read_resource(f"recollect://memories/{kept['id']}")
        assert "pnpm" in resource.contents[0].text  # type: ignore[union-attr]
        receipt = await used("forget", id=kept["id"])
        assert receipt["removed"]["memories"] == 1
        assert answers.keys() == tools.keys()
        return answers

    talk(server, scene, era=era, elicitation_callback=person)

    assert [asked.split("?")[0] for asked in person.asked] == [
        "Keep this memory",
        "Change the block 'human', which every agent sees in every project",
        "Forget this memory for good",
    ]


@pytest.mark.parametrize("era", ERAS)
def test_every_resource_is_read_and_every_prompt_written(server: Any, era: str) -> None:
    async def scene(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert {one.uri.split("/")[2] for one in listed} == {"blocks", "skills"}
        for one in listed:
            (content,) = (await client.read_resource(one.uri)).contents
            assert content.mime_type == one.mime_type
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == [
            "recollect://blocks/{label}",
            "recollect://memories/{id}",
            "recollect://skills/{name}",
        ]
        prompts = (await client.list_prompts()).prompts
        assert [one.name for one in prompts] == ["recall", "review"]
        for prompt in prompts:
            given = {argument.name: "deploy the site" for argument in prompt.arguments or []}
            written = await client.get_prompt(prompt.name, given)
            assert written.messages[0].content.text  # type: ignore[union-attr]

    talk(server, scene, era=era)


@pytest.mark.parametrize("era", ERAS)
def test_the_same_is_listed_and_found_in_the_same_order_twice(server: Any, era: str) -> None:
    async def scene(client: Client) -> list[Any]:
        found = await client.call_tool("search", {"query": "site deploy Fridays"})
        hits = (found.structured_content or {})["hits"]
        return [
            [tool.model_dump() for tool in (await client.list_tools()).tools],
            [one.uri for one in (await client.list_resources()).resources],
            hits,
        ]

    assert talk(server, scene, era=era) == talk(server, scene, era=era)


def test_the_stateless_era_says_how_long_a_list_stays_true(server: Any) -> None:
    async def scene(client: Client) -> tuple[Any, Any]:
        return await client.list_tools(), await client.list_resources()

    tools, resources = talk(server, scene, era="2026-07-28")

    assert (tools.ttl_ms, tools.cache_scope) == (3_600_000, "private")
    assert (resources.ttl_ms, resources.cache_scope) == (0, "private")


def test_a_client_that_speaks_both_gets_the_newer_era(server: Any) -> None:
    async def scene(client: Client) -> str:
        return client.protocol_version

    assert talk(server, scene, era="auto") == "2026-07-28"
    assert talk(server, scene, era="legacy") == "2025-11-25"
