"""Anthropic's memory tool in Recollect: what it replies is what Anthropic's own tool replies."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from doc_examples import reader_environment, run_framework_page
from recollect import LocalRecollect
from recollect.integrations.anthropic_memory import (
    REDACTED,
    AsyncRecollectMemoryTool,
    RecollectMemoryTool,
)
from vendor_server import ScriptedCall, ScriptedResponse, VendorServer

pytestmark = pytest.mark.vendor

SECRET = "ghp_" + "a1B2c3D4e5" * 4
LONG = "x" * 1_536
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {
        "command": "create",
        "path": "/memories/a.md",
        "file_text": "one\ntwo\nthree\nfour\nfive\nsix",
    },
    {"command": "create", "path": "/memories/a.md", "file_text": "again"},
    {"command": "create", "path": "/memories/notes/deep/b.md", "file_text": "é\n"},
    {"command": "create", "path": "/memories/notes/c.md", "file_text": LONG},
    {"command": "create", "path": "/memories/.hidden", "file_text": "x"},
    {"command": "create", "path": "/memories/empty.md", "file_text": ""},
    {"command": "create", "path": "/memories/notes", "file_text": "a directory"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/notes"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/empty.md"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/a.md", "view_range": [5, -1]},
    {"command": "view", "path": "/memories/nothing"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "view", "path": "/memories/x/../a.md"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "four", "new_str": "4\n4.5"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "e", "new_str": "E"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "seven", "new_str": "7"},
    {"command": "str_replace", "path": "/memories/nothing", "old_str": "a", "new_str": "b"},
    {"command": "str_replace", "path": "/memories/notes", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero\n"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 8, "insert_text": "last"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 99, "insert_text": "far"},
    {"command": "insert", "path": "/memories/empty.md", "insert_line": 0, "insert_text": "now"},
    {"command": "insert", "path": "/memories/nothing", "insert_line": 0, "insert_text": "x"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/notes/c.md"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/old/a.md"},
    {"command": "rename", "old_path": "/memories/notes", "new_path": "/memories/kept"},
    {"command": "rename", "old_path": "/memories/nothing", "new_path": "/memories/x"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/kept/deep/b.md"},
    {"command": "delete", "path": "/memories/kept"},
    {"command": "delete", "path": "/memories/old/a.md"},
    {"command": "delete", "path": "/memories/nothing"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/memories/kept"},
]


def reply(tool: Any, command: dict[str, Any]) -> str:
    """Return what a tool replies; the size of a directory differs between file systems."""
    try:
        text = str(tool.call(command))
    except ToolError as error:
        text = f"error: {error}"
    return re.sub(r"^\S+\t(/memories\S*/|/memories(?:/notes)?)$", r"SIZE\t\1", text, flags=re.M)


def test_every_command_gets_the_reply_of_anthropics_own_tool(
    rec: LocalRecollect, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    ours, theirs = RecollectMemoryTool(rec), BetaLocalFilesystemMemoryTool(str(tmp_path))

    for number, command in enumerate(COMMANDS):
        with subtests.test(f"{number} {command}"):
            assert reply(ours, command) == reply(theirs, command)
    assert ours.clear_all_memory() == theirs.clear_all_memory()
    assert reply(ours, COMMANDS[0]) == reply(theirs, COMMANDS[0])
    assert ours.to_dict() == theirs.to_dict()


def test_a_wrong_command_is_an_error_for_the_model_and_breaks_no_file(rec: LocalRecollect) -> None:
    tool = RecollectMemoryTool(rec)
    tool.call({"command": "create", "path": "/memories/d/a.md", "file_text": "a"})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"command": "create", "path": "/memories/n.md", "file_text": None}, "`file_text`"),
        ({"command": "create", "path": "/memories/n.md", "file_text": {"a": 1}}, "`file_text`"),
        ({"command": "str_replace", "path": "/memories/d/a.md", "old_str": "a"}, "`new_str`"),
        ({"command": "view"}, "`path`"),
        ({"command": "view", "path": 5}, "`path`"),
        ({"command": "find", "path": "/memories"}, "`command`"),
        ({"command": "create", "path": f"/memories/{'x' * 2_000}", "file_text": ""}, "limit"),
        ({"command": "create", "path": "/memories/a\nb", "file_text": ""}, "control characters"),
        ({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/e"}, "itself"),
    ]

    for command, reason in wrong:
        with pytest.raises(ToolError, match=reason):
            tool.call(command)
        with pytest.raises(ToolError, match=reason):
            asyncio.run(AsyncRecollectMemoryTool(rec).call(command))
    rec.documents.put(("memory-tool", "anthropic"), "number", 5)  # not by the tool
    listing = str(tool.call({"command": "view", "path": "/memories"}))
    assert listing.splitlines()[2:] == ["1B\t/memories/d/", "1B\t/memories/d/a.md"]


def test_of_many_who_rename_a_file_one_does_and_none_overwrites_another(
    rec: LocalRecollect,
) -> None:
    tool = RecollectMemoryTool(rec)
    for name in ("a", "b"):
        tool.call({"command": "create", "path": f"/memories/{name}", "file_text": name})
    targets = ["c", "d", "e", "taken", "taken", "taken"]
    together = Barrier(len(targets))

    def rename(number: int) -> bool:
        old = "/memories/a" if number % 2 else "/memories/b"
        new = f"/memories/{targets[number]}"
        together.wait()
        try:
            tool.call({"command": "rename", "old_path": old, "new_path": new})
        except ToolError:
            return False
        return True

    with ThreadPoolExecutor(len(targets)) as threads:
        renamed = list(threads.map(rename, range(len(targets))))

    hits = rec.documents.search(("memory-tool", "anthropic"))
    assert sorted(hit.document.value for hit in hits) == ["a", "b"]
    assert sum(renamed) <= 2


def test_a_file_of_too_many_lines_is_not_shown(rec: LocalRecollect, tmp_path: Path) -> None:
    ours, theirs = RecollectMemoryTool(rec), BetaLocalFilesystemMemoryTool(str(tmp_path))
    for tool in (ours, theirs):
        tool.call({"command": "create", "path": "/memories/a", "file_text": "\n" * 999_999})

    view = {"command": "view", "path": "/memories/a"}
    assert reply(ours, view) == reply(theirs, view)
    assert reply(ours, view).startswith("error: ")


def test_a_file_is_one_agents_and_its_secrets_are_not_stored(rec: LocalRecollect) -> None:
    tool, other = RecollectMemoryTool(rec, agent="anna"), RecollectMemoryTool(rec, agent="ben")
    created = tool.call(
        {"command": "create", "path": "/memories/key.md", "file_text": f"key: {SECRET}\n"}
    )

    assert created == f"File created successfully at: /memories/key.md{REDACTED}"
    assert SECRET not in str(tool.call({"command": "view", "path": "/memories/key.md"}))
    with pytest.raises(ToolError, match="does not exist"):
        other.call({"command": "view", "path": "/memories/key.md"})


def test_the_asynchronous_tool_runs_every_command(rec: LocalRecollect, tmp_path: Path) -> None:
    async def scene() -> list[str]:
        tool = AsyncRecollectMemoryTool(rec)
        replies = []
        for command in COMMANDS:
            try:
                replies.append(str(await tool.call(command)))
            except ToolError as error:
                replies.append(f"error: {error}")
        await tool.clear_all_memory()
        await tool.close()
        return replies

    replies = asyncio.run(scene())
    assert replies[1] == "File created successfully at: /memories/a.md"
    assert replies[-1].startswith("error: The path /memories/kept does not exist")
    assert rec.documents.search() == []


def test_a_tool_runner_remembers_across_processes(vendor: VendorServer, tmp_path: Path) -> None:
    write = {"command": "create", "path": "/memories/dog.md", "file_text": "The dog is Rex."}
    vendor.script(
        ScriptedResponse(calls=[ScriptedCall("memory", write)]), ScriptedResponse(text="Noted.")
    )
    env = reader_environment(
        tmp_path, ANTHROPIC_BASE_URL=vendor.anthropic_url, ANTHROPIC_API_KEY="test"
    )
    run_framework_page("anthropic-memory-tool.md", tmp_path, env)
    vendor.script(
        ScriptedResponse(
            calls=[ScriptedCall("memory", {"command": "view", "path": "/memories/dog.md"})]
        ),
        ScriptedResponse(text="Rex."),
    )

    with (
        Anthropic(base_url=vendor.anthropic_url, api_key="test") as client,
        RecollectMemoryTool(tmp_path / "memory.db", agent="helper") as memory,
    ):
        final = client.beta.messages.tool_runner(
            model="claude-sonnet-5-5",
            max_tokens=1_000,
            tools=[memory],
            messages=[{"role": "user", "content": "What is my dog called?"}],
        ).until_done()

    assert final.content[0].text == "Rex."  # type: ignore[union-attr]
    shown = vendor.requests[-1].body["messages"][-1]["content"][0]
    assert "     1\tThe dog is Rex." in str(shown["content"])
