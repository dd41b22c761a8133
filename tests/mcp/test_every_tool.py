"""A client walks through everything the server offers, over each transport and in each era."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_clients import (
    PROTOCOL_VERSIONS,
    ScriptedUser,
    assert_matches_schema,
    http_server,
    result_text,
    run_client,
    stdio_server,
)
from recollect import LocalRecollect
from support import open_memory

pytestmark = pytest.mark.door


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    db = tmp_path / "memory.db"
    with open_memory(db, words_only=True) as rec:
        _furnish(rec)
        if request.param == "http":
            with http_server(rec) as url:
                yield url
            return
    yield stdio_server(db, "--project", "site", "--agent", "coder")


def _furnish(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    rec.blocks.set("coder", "persona", "I am brief.")
    rec.ingest("We deploy the site on Fridays.", project="site")
    conversation = rec.conversations.start(agent="coder", project="site")
    rec.conversations.append(conversation, "user", "The build takes eleven minutes.")


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_every_tool_resource_and_prompt_answers_as_it_says(server: Any, era: str) -> None:
    user = ScriptedUser()

    async def scene(client: Client) -> dict[str, Any]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        answers: dict[str, Any] = {}

        async def used(tool: str, **arguments: Any) -> Any:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result_text(result)
            assert_matches_schema(tools[tool].output_schema or {}, result.structured_content)
            answers[tool] = result.structured_content
            return result.structured_content

        stored = await used("remember", content="We use pnpm here.", type="decision")
        waiting = await used("review")
        assert [row["id"] for row in waiting["waiting"]] == [stored["id"]]
        await used("review", action="keep", id=stored["id"])
        outcome = await used("search", query="pnpm")
        assert [hit["id"] for hit in outcome["hits"]] == [stored["id"]]
        messages = await used("search", query="build", kind="messages")
        assert [hit["type"] for hit in messages["hits"]] == ["message"]
        bundle = await used("context", task="deploy the site")
        assert "Fridays" in bundle["text"]
        await used("explain", id=bundle["retrieval_id"])
        await used("explain", id=stored["id"], query="deploy")
        assert "by agent" in (await used("explain", id=stored["id"]))["text"]
        await used("edit_block", label="human", how="append", text="Ann", version=1)
        status = await used("status")
        assert (status["project"], status["agent"]) == ("site", "coder")
        resource = await client.read_resource(f"recollect://memories/{stored['id']}")
        assert "pnpm" in resource.contents[0].text  # type: ignore[union-attr]
        receipt = await used("forget", id=stored["id"])
        assert receipt["removed"]["memories"] == 1
        assert answers.keys() == tools.keys()
        return answers

    run_client(server, scene, era=era, elicitation_callback=user)

    assert [request.split("?")[0] for request in user.questions] == [
        "Keep this memory",
        "Change the block 'human', which is shown to every agent in every project",
        "Forget this memory permanently",
    ]


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_every_resource_is_read_and_every_prompt_written(server: Any, era: str) -> None:
    async def scene(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert {resource.uri.split("/")[2] for resource in listed} == {"blocks", "skills"}
        for resource in listed:
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.mime_type == resource.mime_type
        templates = (await client.list_resource_templates()).resource_templates
        assert [resource.uri_template for resource in templates] == [
            "recollect://blocks/{label}",
            "recollect://memories/{id}",
            "recollect://skills/{name}",
        ]
        prompts = (await client.list_prompts()).prompts
        assert [resource.name for resource in prompts] == [
            *("recall", "review", "blame", "fix", "how")
        ]
        for prompt in prompts:
            arguments = {argument.name: "deploy the site" for argument in prompt.arguments or []}
            written = await client.get_prompt(prompt.name, arguments)
            assert written.messages[0].content.text  # type: ignore[union-attr]

    run_client(server, scene, era=era)


@pytest.mark.parametrize("era", PROTOCOL_VERSIONS)
def test_the_same_is_listed_and_found_in_the_same_order_twice(server: Any, era: str) -> None:
    async def scene(client: Client) -> list[Any]:
        result = await client.call_tool("search", {"query": "site deploy Fridays"})
        hits = (result.structured_content or {})["hits"]
        return [
            [tool.model_dump() for tool in (await client.list_tools()).tools],
            [resource.uri for resource in (await client.list_resources()).resources],
            hits,
        ]

    assert run_client(server, scene, era=era) == run_client(server, scene, era=era)


def test_the_stateless_era_says_how_long_a_list_stays_true(server: Any) -> None:
    async def scene(client: Client) -> tuple[Any, Any]:
        return await client.list_tools(), await client.list_resources()

    tools, resources = run_client(server, scene, era="2026-07-28")

    assert (tools.ttl_ms, tools.cache_scope) == (3_600_000, "private")
    assert (resources.ttl_ms, resources.cache_scope) == (0, "private")


def test_a_client_that_speaks_both_gets_the_newer_era(server: Any) -> None:
    async def scene(client: Client) -> str:
        return client.protocol_version

    assert run_client(server, scene, era="auto") == "2026-07-28"
    assert run_client(server, scene, era="legacy") == "2025-11-25"
