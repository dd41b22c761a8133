"""`recollect mcp`: one client over pipes, from its first line to the end of its input."""

import json
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from mcp_clients import call_values, result_text, run_client, stdio_server
from recollect.mcp.workspace_folder import (
    TURN_METADATA_KEY,
    choose_workspace,
    is_project,
    workspaces_in_metadata,
)
from support import open_memory
from terminal import installed

pytestmark = pytest.mark.door


def roots(*folders: Path) -> Callable[[object], Awaitable[types.ListRootsResult]]:
    async def told(context: object) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate(
            {"roots": [{"uri": folder.as_uri()} for folder in folders]}
        )

    return told


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    created = [tmp_path / name for name in ("first place", "second")]
    for folder in created:
        folder.mkdir()
    with open_memory(tmp_path / "m.db", words_only=True) as rec:
        for folder in created:
            rec.ingest(f"The pump of {folder.name} hums.", project=folder)
    return created


def found(server: Any, *, meta: Any = None, **client: Any) -> list[str]:
    async def scene(connected: Client) -> list[str]:
        result = await connected.call_tool("search", {"query": "pump"}, meta=meta)
        return [hit["content"] for hit in (result.structured_content or {})["hits"]]

    return run_client(server, scene, **client)


def test_the_clients_root_is_the_project_where_it_offers_one(
    tmp_path: Path, folders: list[Path]
) -> None:
    server = stdio_server(tmp_path / "m.db", cwd=tmp_path)

    contents = found(server, list_roots_callback=roots(*folders))

    assert contents == ["The pump of first place hums."]


def test_the_folder_counts_where_it_lies_in_a_root_and_a_name_counts_first(
    tmp_path: Path, folders: list[Path]
) -> None:
    here = stdio_server(tmp_path / "m.db", cwd=folders[1])
    named = stdio_server(tmp_path / "m.db", "--project", str(folders[0]), cwd=tmp_path)

    assert found(here, list_roots_callback=roots(*folders)) == ["The pump of second hums."]
    assert found(named, list_roots_callback=roots(folders[1])) == ["The pump of first place hums."]


def test_roots_are_requested_again_after_they_change(tmp_path: Path, folders: list[Path]) -> None:
    at = [folders[0]]

    async def told(context: object) -> types.ListRootsResult:
        return await roots(*at)(context)

    async def scene(client: Client) -> list[str]:
        projects = []
        for folder in folders:
            at[:] = [folder]
            await client.session.send_notification(types.RootsListChangedNotification())
            status = await client.call_tool("status", {})
            projects.append((status.structured_content or {})["project"])
        return projects

    server = stdio_server(tmp_path / "m.db", cwd=tmp_path)

    assert run_client(server, scene, list_roots_callback=told) == ["first place", "second"]


def test_neither_the_root_of_the_disk_nor_the_home_folder_is_a_project(tmp_path: Path) -> None:
    assert not is_project(Path("/"))
    assert not is_project(Path.home())
    assert is_project(tmp_path)
    assert choose_workspace([], Path.home()) is None
    assert choose_workspace([Path("/"), tmp_path], Path("/")) is None
    assert choose_workspace([tmp_path], Path("/")) == tmp_path


def test_a_client_may_say_with_each_call_where_it_works(
    tmp_path: Path, folders: list[Path]
) -> None:
    at = [
        {TURN_METADATA_KEY: {"workspaces": {str(folder): {"has_changes": True}}}}
        for folder in folders
    ]
    plugin = tmp_path / "plugins" / "recollect"
    plugin.mkdir(parents=True)
    server = stdio_server(tmp_path / "m.db", cwd=plugin, PLUGIN_ROOT=str(plugin))
    named = stdio_server(tmp_path / "m.db", "--project", str(folders[0]), cwd=plugin)

    assert [found(server, meta=meta) for meta in at] == [
        ["The pump of first place hums."],
        ["The pump of second hums."],
    ]
    assert found(named, meta=at[1]) == ["The pump of first place hums."]


@pytest.mark.parametrize("name", ["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"])
def test_the_folder_of_a_plugin_is_not_a_project(tmp_path: Path, name: str) -> None:
    plugin = tmp_path / "plugins" / "recollect"
    plugin.mkdir(parents=True)
    server = stdio_server(tmp_path / "m.db", cwd=plugin, **{name: str(plugin.parent)})

    assert call_values(server, "status")["project"] == ""


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {TURN_METADATA_KEY: None},
        {TURN_METADATA_KEY: "workspaces"},
        {TURN_METADATA_KEY: {"workspaces": ["/work"]}},
        {TURN_METADATA_KEY: {"workspaces": {"": {}, "work": {}}}},
    ],
)
def test_invalid_turn_metadata_names_no_workspace(meta: Any) -> None:
    assert workspaces_in_metadata(meta) == []


def test_the_server_exits_without_output_when_its_input_ends(tmp_path: Path) -> None:
    command = [installed("recollect"), "mcp", "--db", str(tmp_path / "m.db")]

    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=True)

    assert (done.stdout, done.stderr) == ("", "")


def test_only_the_protocol_goes_to_the_standard_output(tmp_path: Path) -> None:
    parameters = stdio_server(tmp_path / "m.db", "--project", "site")
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    request = [
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "x"}, "_meta": meta},
        },
    ]

    with subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for line in request:
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()

    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[0]["result"]["supportedVersions"] == ["2026-07-28"]
    assert answers[1]["result"]["structuredContent"]["hits"] == []
    assert rest == ""


def test_what_cannot_be_served_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("this is no database, and never was one", encoding="utf-8")
    for options in (("--db", str(tmp_path / "no.db")), ("--db", "x.db", "--agent", "\x01")):
        done = subprocess.run(
            [installed("recollect"), "mcp", *options],
            input="",
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=dict(os.environ),
            check=False,
        )

        assert done.returncode == 1
        assert done.stdout == ""
        assert done.stderr.startswith("Error: ")
        assert "Traceback" not in done.stderr


def test_two_clients_write_into_one_store(tmp_path: Path) -> None:
    server = stdio_server(tmp_path / "m.db", "--project", "site", "--trust")

    async def scene(client: Client) -> str:
        await client.call_tool("remember", {"content": "The pump hums."})
        return result_text(await values_by_another(client))

    async def values_by_another(client: Client) -> Any:
        return await client.call_tool("search", {"query": "pump"})

    assert "The pump hums." in run_client(server, scene)
    assert len(call_values(server, "search", query="pump")["hits"]) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX knows them")
def test_an_interrupt_ends_it_while_it_waits_for_its_client(tmp_path: Path) -> None:
    parameters = stdio_server(tmp_path / "m.db", "--project", "site")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}

    with subprocess.Popen(
        [parameters.command, *parameters.args],
        env=parameters.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(hello) + "\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)

    assert process.returncode == -signal.SIGINT
