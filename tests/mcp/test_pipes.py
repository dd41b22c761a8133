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

from mcp_clients import piped, talk, text_of, values
from recollect.mcp.place import TURN, is_project, place_among, told_with
from support import open_memory
from terminal import installed


def roots(*folders: Path) -> Callable[[object], Awaitable[types.ListRootsResult]]:
    async def told(context: object) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate(
            {"roots": [{"uri": folder.as_uri()} for folder in folders]}
        )

    return told


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in ("first place", "second")]
    for folder in made:
        folder.mkdir()
    with open_memory(tmp_path / "m.db", words_only=True) as memory:
        for folder in made:
            memory.ingest(f"The pump of {folder.name} hums.", project=folder)
    return made


def found(server: Any, *, meta: Any = None, **client: Any) -> list[str]:
    async def scene(connected: Client) -> list[str]:
        told = await connected.call_tool("search", {"query": "pump"}, meta=meta)
        return [hit["content"] for hit in (told.structured_content or {})["hits"]]

    return talk(server, scene, **client)


def test_the_clients_root_is_the_project_where_it_offers_one(
    tmp_path: Path, folders: list[Path]
) -> None:
    server = piped(tmp_path / "m.db", cwd=tmp_path)

    told = found(server, list_roots_callback=roots(*folders))

    assert told == ["The pump of first place hums."]


def test_the_folder_counts_where_it_lies_in_a_root_and_a_name_counts_first(
    tmp_path: Path, folders: list[Path]
) -> None:
    here = piped(tmp_path / "m.db", cwd=folders[1])
    named = piped(tmp_path / "m.db", "--project", str(folders[0]), cwd=tmp_path)

    assert found(here, list_roots_callback=roots(*folders)) == ["The pump of second hums."]
    assert found(named, list_roots_callback=roots(folders[1])) == ["The pump of first place hums."]


def test_a_client_that_moves_is_asked_anew(tmp_path: Path, folders: list[Path]) -> None:
    at = [folders[0]]

    async def told(context: object) -> types.ListRootsResult:
        return await roots(*at)(context)

    async def scene(client: Client) -> list[str]:
        seen = []
        for folder in folders:
            at[:] = [folder]
            await client.session.send_notification(types.RootsListChangedNotification())
            status = await client.call_tool("status", {})
            seen.append((status.structured_content or {})["project"])
        return seen

    server = piped(tmp_path / "m.db", cwd=tmp_path)

    assert talk(server, scene, list_roots_callback=told) == ["first place", "second"]


def test_neither_the_root_of_the_disk_nor_the_home_folder_is_a_project(tmp_path: Path) -> None:
    assert not is_project(Path("/"))
    assert not is_project(Path.home())
    assert is_project(tmp_path)
    assert place_among([], Path.home()) is None
    assert place_among([Path("/"), tmp_path], Path("/")) is None
    assert place_among([tmp_path], Path("/")) == tmp_path


def test_a_client_may_say_with_each_call_where_it_works(
    tmp_path: Path, folders: list[Path]
) -> None:
    at = [{TURN: {"workspaces": {str(folder): {"has_changes": True}}}} for folder in folders]
    plugin = tmp_path / "plugins" / "recollect"
    plugin.mkdir(parents=True)
    server = piped(tmp_path / "m.db", cwd=plugin, PLUGIN_ROOT=str(plugin))
    named = piped(tmp_path / "m.db", "--project", str(folders[0]), cwd=plugin)

    assert [found(server, meta=meta) for meta in at] == [
        ["The pump of first place hums."],
        ["The pump of second hums."],
    ]
    assert found(named, meta=at[1]) == ["The pump of first place hums."]


@pytest.mark.parametrize("name", ["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"])
def test_the_folder_of_a_plugin_is_no_project(tmp_path: Path, name: str) -> None:
    plugin = tmp_path / "plugins" / "recollect"
    plugin.mkdir(parents=True)
    server = piped(tmp_path / "m.db", cwd=plugin, **{name: str(plugin.parent)})

    assert values(server, "status")["project"] == ""


@pytest.mark.parametrize(
    "meta",
    [
        None,
        {},
        {TURN: None},
        {TURN: "workspaces"},
        {TURN: {"workspaces": ["/work"]}},
        {TURN: {"workspaces": {"": {}, "work": {}}}},
    ],
)
def test_what_says_nothing_of_a_folder_names_none(meta: Any) -> None:
    assert told_with(meta) == []


def test_it_ends_when_its_input_ends_and_says_nothing_of_its_own(tmp_path: Path) -> None:
    command = [installed("recollect"), "mcp", "--db", str(tmp_path / "m.db")]

    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=True)

    assert (done.stdout, done.stderr) == ("", "")


def test_only_the_protocol_goes_to_the_standard_output(tmp_path: Path) -> None:
    parameters = piped(tmp_path / "m.db", "--project", "site")
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    asked = [
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
        for line in asked:
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
    server = piped(tmp_path / "m.db", "--project", "site", "--trust")

    async def scene(client: Client) -> str:
        await client.call_tool("remember", {"content": "The pump hums."})
        return text_of(await values_by_another(client))

    async def values_by_another(client: Client) -> Any:
        return await client.call_tool("search", {"query": "pump"})

    assert "The pump hums." in talk(server, scene)
    assert len(values(server, "search", query="pump")["hits"]) == 1


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX knows them")
def test_an_interrupt_ends_it_while_it_waits_for_its_client(tmp_path: Path) -> None:
    parameters = piped(tmp_path / "m.db", "--project", "site")
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
