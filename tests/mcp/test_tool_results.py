"""What tools return: reasons, own candidates, order, and nothing that did not happen."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from in_process_server import serve_in_thread
from mcp_clients import (
    ScriptedUser,
    call_error,
    call_values,
    http_server,
    in_process_server,
    run_client,
)
from recollect import LocalRecollect
from recollect.mcp.caller_scope import Caller
from support import FakeClock, open_memory

pytestmark = pytest.mark.door


@pytest.fixture
def rec(path: Path, clock: FakeClock) -> Iterator[LocalRecollect]:
    with open_memory(path, clock=clock, words_only=True) as rec:
        yield rec


def server_for(rec: LocalRecollect, agent: str | None = "coder") -> Any:
    return in_process_server(rec, Caller(project="site", agent=agent))


def test_a_hit_has_the_reason_of_a_decision(rec: LocalRecollect) -> None:
    rec.ingest("Use pnpm here.", type="decision", project="site", rationale="CI is faster.")

    [hit] = call_values(server_for(rec), "search", query="pnpm")["hits"]

    assert hit["rationale"] == "CI is faster."


def test_what_an_agent_stored_it_finds_itself_marked_as_not_reviewed(rec: LocalRecollect) -> None:
    stored = call_values(server_for(rec), "remember", content="The site is deployed on Fridays.")

    [hit] = call_values(server_for(rec), "search", query="deployed Fridays")["hits"]

    assert (hit["id"], hit["status"]) == (stored["id"], "inbox")
    assert hit["note"] == "you stored it; the user has not reviewed it"
    other = call_values(server_for(rec, "tester"), "search", query="deployed Fridays")
    assert other["hits"] == []


def test_candidates_from_the_users_words_are_not_listed_as_the_agents(rec: LocalRecollect) -> None:
    rec.ingest("The site is deployed on Mondays.", project="site", status="inbox")

    assert call_values(server_for(rec), "search", query="deployed")["hits"] == []


def test_hits_are_in_the_order_of_their_scores(rec: LocalRecollect, clock: FakeClock) -> None:
    rec.ingest("Ana Alvarez works as an engineer at Acme, as far as known.", project="site")
    clock.advance(days=30)
    rec.ingest("Ana Alvarez works as an engineer at Initech, as is known.", project="site")
    server = server_for(rec)
    found = call_values(server, "search", query="where does Ana Alvarez work as an engineer?")

    explained = call_values(server, "explain", id=found["retrieval_id"])["text"]

    scores = [
        float(line.split("score ")[1][:4]) for line in explained.splitlines() if "score" in line
    ]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


def test_the_question_before_forgetting_says_no_by_default(rec: LocalRecollect) -> None:
    defaults: dict[str, bool] = {}

    class Reader(ScriptedUser):
        async def __call__(self, context: object, params: Any) -> Any:
            schema = params.requested_schema["properties"]["confirm"]
            defaults[params.message.split()[0]] = schema["default"]
            return await super().__call__(context, params)

    memory = rec.ingest("Old news.", project="site")
    candidate = rec.ingest("New news.", project="site", status="inbox")
    server, user = server_for(rec), Reader()
    call_values(server, "review", user=user, id=candidate.id, action="keep")
    call_values(server, "forget", user=user, id=memory.id)

    assert defaults == {"Keep": True, "Forget": False}


@pytest.mark.parametrize(
    "arguments",
    [
        {"label": "nothing", "how": "append", "text": "x"},
        {"label": "persona", "how": "replace", "text": "x"},
        {"label": "persona", "how": "replace", "old": "y", "text": "x"},
        {"label": "skills", "how": "set", "text": "x"},
        {"label": "persona", "how": "set", "text": "x", "version": 7},
        {"label": "persona", "how": "set", "text": "x" * 100_000},
    ],
)
def test_an_edit_that_fails_changes_nothing(rec: LocalRecollect, arguments: Any) -> None:
    assert call_error(server_for(rec), "edit_block", **arguments)

    assert rec.agents.list() == []


def test_a_first_edit_gives_the_agent_its_blocks(rec: LocalRecollect) -> None:
    call_values(server_for(rec), "edit_block", label="persona", how="set", text="I am brief.")

    assert rec.blocks.get("coder", "persona").value == "I am brief."


def test_empty_blocks_are_not_sent(rec: LocalRecollect) -> None:
    rec.agents.create("coder")
    rec.blocks.set("coder", "persona", "I am brief.")
    server = server_for(rec)

    text = call_values(server, "context", task="Deploy the site")["text"]

    assert "I am brief." in text
    assert "style" not in text

    async def listed(client: Any) -> list[str]:
        return [
            item.name for item in (await client.list_resources()).resources if "blocks" in item.uri
        ]

    assert run_client(server, listed) == ["persona"]


@pytest.mark.door
def test_resources_of_a_project_known_by_its_folder_are_listed_without_its_path(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    folder = tmp_path / "secret-folder"
    (folder / ".skills" / "greet").mkdir(parents=True)
    rec.ingest("We deploy on Fridays.", project=folder)
    [project] = rec.projects.list()

    async def listed(client: Any) -> str:
        return str((await client.list_resources()).model_dump_json())

    for reference in (project.id, str(folder)):
        with http_server(rec, f"?project={reference}") as url:
            resources = run_client(url, listed)
            assert "recollect://skills/" in resources
            assert "secret-folder" not in resources


@pytest.mark.door
def test_the_endpoint_answers_with_a_slash_at_its_end(rec: LocalRecollect) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"accept": "application/json, text/event-stream"}
    with serve_in_thread(rec) as url:
        for path in ("/mcp", "/mcp/"):
            response = httpx2.post(f"{url}{path}", json=request, headers=accept)
            assert (
                response.status_code
                == httpx2.post(f"{url}/mcp", json=request, headers=accept).status_code
            )
            assert response.status_code != 404


def test_what_is_linked_to_a_hit_follows_it_if_the_model_asks(rec: LocalRecollect) -> None:
    decision = rec.ingest("We deploy on Fly.io.", project="site")
    reason = rec.ingest("Heroku raised its prices.", project="site")
    rec.link(reason.id, "supports", decision.id)

    plain = call_values(server_for(rec), "search", query="deploy")
    related = call_values(server_for(rec), "search", query="deploy", related=True, limit=1)

    assert [hit["id"] for hit in plain["hits"]] == [decision.id]
    assert [hit["id"] for hit in related["hits"]] == [decision.id, reason.id]
    assert related["hits"][1]["why"].startswith("Linked to a hit")
    assert related["more"] is False
