"""A folder that was renamed or moved is offered as the former project, on this machine only."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mcp import Client

from mcp_clients import http_server, in_process_server, run_client
from recollect import LocalRecollect
from recollect.config import Settings
from recollect.hooks.handle_event import handle_event
from recollect.mcp.caller_scope import Caller
from recollect.server.web_app import web_app
from support import open_memory

pytestmark = pytest.mark.door


def test_status_offers_the_former_folder_to_a_client_on_this_machine(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    former, present = _moved_project(rec, tmp_path)

    note = _status(in_process_server(rec, Caller(project=str(present), is_local=True)))["note"]

    assert note.startswith(f"The folder {former} is gone.")
    assert note.endswith(f"recollect project link {former} {present}")


@pytest.mark.door
def test_status_over_http_reveals_no_path(rec: LocalRecollect, tmp_path: Path) -> None:
    former, present = _moved_project(rec, tmp_path)

    with http_server(rec, f"?project={present}") as url:
        status = _status(url)

    assert "note" not in status
    assert str(former) not in str(status)


def test_status_of_a_folder_that_was_not_moved_has_no_note(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    rec.ingest("We use pnpm.", type="decision", project=tmp_path)

    status = _status(in_process_server(rec, Caller(project=str(tmp_path), is_local=True)))

    assert "note" not in status


def test_a_session_in_a_moved_folder_starts_with_how_to_join_it_with_the_former_one(
    rec: LocalRecollect, tmp_path: Path
) -> None:
    former, present = _moved_project(rec, tmp_path)

    text = _session_start(rec, present, is_local=True)

    assert f"recollect project link {former} {present}" in text


def test_a_session_of_another_machine_is_told_no_path(rec: LocalRecollect, tmp_path: Path) -> None:
    _, present = _moved_project(rec, tmp_path)

    assert _session_start(rec, present, is_local=False) == ""
    assert _session_start(rec, tmp_path / "not here", is_local=True) == ""


def test_a_server_tells_a_hook_paths_only_if_it_names_the_file_of_the_store(tmp_path: Path) -> None:
    db = tmp_path / "m.db"
    with open_memory(db, words_only=True) as rec:
        former, present = _moved_project(rec, tmp_path)
        client = TestClient(web_app(rec, Settings()), base_url="http://127.0.0.1:8283")
        url = "/api/hooks/claude-code/session-start"
        told = {"cwd": str(present), "source": "startup", "session_id": "s"}

        by_file = client.post(url, json={"db": str(db), "told": told})
        by_url = client.post(url, json={"told": told | {"session_id": "t"}})

    assert str(former) in by_file.text
    assert by_url.status_code == 204


def _moved_project(rec: LocalRecollect, folder: Path) -> tuple[Path, Path]:
    """Return the former and the present folder of a project that has a decision."""
    former, present = folder / "old" / "shop", folder / "new" / "shop"
    former.mkdir(parents=True)
    rec.ingest("We use pnpm.", type="decision", project=former)
    present.parent.mkdir()
    former.rename(present)
    return former, present


def _status(server: Any) -> dict[str, Any]:
    async def scene(connected: Client) -> dict[str, Any]:
        result = await connected.call_tool("status", {})
        return dict(result.structured_content or {})

    return run_client(server, scene)


def _session_start(rec: LocalRecollect, folder: Path, *, is_local: bool) -> str:
    payload = {"cwd": str(folder), "source": "startup"}
    response = handle_event(
        rec, payload, client="claude-code", kind="session-start", project="", is_local=is_local
    )
    return response.decode()
