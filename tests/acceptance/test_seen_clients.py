"""Which programs stored or asked something is counted at every entry point."""

import json
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner

import recollect
from in_process_server import serve_in_thread
from mcp_clients import call_values, in_process_server
from recollect import LocalRecollect
from recollect.calling_client import (
    MAX_NAME_CHARS,
    name_from_user_agent,
    printable_name,
    use_client,
)
from recollect.cli.main import main
from support import open_memory
from tables import each_row
from web_pages import NAVIGATION, page_client, text_of

pytestmark = pytest.mark.door

TALK = [{"role": "user", "content": "I prefer short answers."}]


def counts(rec: LocalRecollect) -> dict[str, tuple[int, int]]:
    """Return how often each client stored and asked."""
    return {client.name: (client.writes, client.retrievals) for client in rec.maintenance.clients()}


def test_a_program_in_this_process_is_the_library_unless_it_is_named(
    words_only: LocalRecollect,
) -> None:
    words_only.ingest("The port is 8080.")
    words_only.search("port")
    with use_client("nightly job"):
        words_only.capture_session(TALK)
        with use_client(""):
            words_only.search("answers")

    assert counts(words_only) == {"Python library": (1, 1), "nightly job": (1, 1)}
    asked = [retrieval.asking.get("client") for retrieval in words_only.retrievals.list()]
    assert asked == ["nightly job", None]


@pytest.mark.door
def test_a_request_over_http_is_named_by_its_program(words_only: LocalRecollect) -> None:
    with serve_in_thread(words_only) as url:
        body = {"content": "The port is 8080."}
        for agent in ({"user-agent": "Letta/Python 1.2"}, {"user-agent": ""}):
            httpx2.post(f"{url}/api/memories", json=body, headers=agent).raise_for_status()
        with recollect.connect(url) as remote, use_client("codex"):
            remote.search("port")
            listed = remote.maintenance.clients()
        with recollect.connect(url) as remote, use_client("ключ"):
            remote.search("port")

    assert counts(words_only) == {
        "Letta": (1, 0),
        "HTTP client": (1, 0),
        "codex": (0, 1),
        "????": (0, 1),
    }
    assert "codex" in {client.name for client in listed}


def test_hooks_mcp_and_pages_give_their_client(words_only: LocalRecollect) -> None:
    words_only.ingest("The port is 8080.", project="site")
    page = page_client(words_only)
    event = {"session_id": "s", "prompt": "which port?", "hook_event_name": "UserPromptSubmit"}
    hook = page.post("/api/hooks/codex/prompt", json={"told": event, "project": "site"})
    call_values(in_process_server(words_only), "search", query="port")
    page.get("/ui/search?q=port", headers=NAVIGATION)
    home = text_of(page.get("/ui/", headers=NAVIGATION).text)

    seen = counts(words_only)
    assert hook.status_code in (200, 204)
    assert seen["codex"] == (0, 1)
    assert seen["mcp"] == (0, 1)
    assert seen["browser"] == (0, 1)
    assert "codex" in home


def test_a_command_is_counted_and_status_shows_the_clients(tmp_path: Path) -> None:
    db = str(tmp_path / "memory.db")
    runner = CliRunner(env={"RECOLLECT_EMBEDDING_BACKEND": "none"})

    assert runner.invoke(main, ["--db", db, "add", "The port is 8080."]).exit_code == 0
    status = runner.invoke(main, ["--db", db, "status"]).output

    assert "clients: command line" in status
    with open_memory(Path(db)) as rec:
        assert counts(rec) == {"command line": (1, 0)}


def test_clients_belong_to_one_machine_and_are_not_exported(
    words_only: LocalRecollect, tmp_path: Path
) -> None:
    words_only.ingest("The port is 8080.")
    exported = tmp_path / "memory.jsonl"
    words_only.export(exported)
    tables = {json.loads(line).get("table") for line in exported.read_text().splitlines()}

    assert "memories" in tables
    assert "clients" not in tables


@each_row(
    ("header", "name"),
    [
        ("OpenAI/Python 1.99.0", "OpenAI"),
        ("curl/8.5 extra/1", "curl"),
        ("  ", ""),
        ("a\x1b[31mb/1", "a [31mb"),
    ],
)
def test_a_user_agent_is_shortened_to_its_product(header: str, name: str) -> None:
    assert name_from_user_agent(header) == name


@each_row(
    ("given", "name"),
    [("  two\nlines\x00 ", "two lines"), ("   ", ""), ("x" * 500, "x" * MAX_NAME_CHARS)],
)
def test_a_name_is_one_short_line(given: str, name: str) -> None:
    assert printable_name(given) == name
