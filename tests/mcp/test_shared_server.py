"""`recollect mcp` beside a running server: the server holds the model."""

import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import recollect
from mcp_clients import run_client, stdio_server
from server_process import run_server

pytestmark = [
    pytest.mark.door,
    pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads which libraries are loaded"),
]


def environment(folder: Path) -> dict[str, str]:
    own = {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
    return {**{key: value for key, value in os.environ.items() if "RECOLLECT" not in key}, **own}


def loaded_libraries(db: Path) -> str:
    """Return the files that the process `recollect mcp` of *db* has mapped."""
    [process] = [
        folder
        for folder in Path("/proc").glob("[0-9]*")
        if {b"mcp", str(db).encode()} <= set(_command_line(folder))
    ]
    return (process / "maps").read_text(encoding="utf-8")


def _command_line(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return []


def search_and_inspect(db: Path, folder: Path) -> tuple[list[Any], str]:
    async def scene(client: Client) -> tuple[list[Any], str]:
        result = await client.call_tool("search", {"query": "When is the release published?"})
        hits = (result.structured_content or {})["hits"]
        return hits, loaded_libraries(db)

    server = stdio_server(db, "--project", "site", cwd=folder)
    server.env = environment(folder)
    return run_client(server, scene)


def test_the_server_compares_meanings_for_a_client_of_the_same_store(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with recollect.open(db) as rec:
        rec.ingest("We deploy the site on Fridays.", type="decision", project="site")
        rec.drain()
    with run_server(db, env=environment(tmp_path)):
        hits, libraries = search_and_inspect(db, tmp_path)

        assert [hit["content"] for hit in hits] == ["We deploy the site on Fridays."]
        assert "onnxruntime" not in libraries

    hits, libraries = search_and_inspect(db, tmp_path)  # without the server it does so itself

    assert [hit["content"] for hit in hits] == ["We deploy the site on Fridays."]
    assert "onnxruntime" in libraries
