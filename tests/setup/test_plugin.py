"""The plugin: two formats in one folder, and the same hooks as the table of clients."""

import json
import re
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.setup.invocation import Invocation
from recollect.setup.plan_changes import snippet
from recollect.setup.plugin_folder import plugin_files
from recollect.setup.supported_clients import BY_NAME

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "src" / "recollect" / "plugin"
BY_NAME_ALONE = Invocation(program=("recollect",))


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def test_the_hooks_are_those_that_setup_writes() -> None:
    client = BY_NAME["claude-code"]

    assert read("hooks/hooks.json") == json.loads(snippet(client.files[1], client, BY_NAME_ALONE))


def test_the_server_is_the_one_that_setup_writes() -> None:
    client = BY_NAME["claude-code"]

    assert read(".mcp.json") == json.loads(snippet(client.files[0], client, BY_NAME_ALONE))
    servers = read(".mcp.json")["mcpServers"]
    # Any client may read the other file, so its agent is named after the client.
    servers["recollect"]["args"] = ["mcp", "--agent-from-client"]
    assert read("mcp.json")["mcpServers"] == servers


def test_both_manifests_say_the_same_of_this_version() -> None:
    portable = read("plugin.json")
    schema = portable.pop("$schema")

    assert portable == read(".claude-plugin/plugin.json")
    assert portable["version"] == __version__
    assert schema == "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    assert read("mcp.json")["$schema"] == schema.replace("plugin.schema", "mcp.schema")


def test_the_portable_manifest_has_only_the_fields_of_its_format() -> None:
    allowed = {"$schema", "name", "version", "description", "author", "homepage", "repository"}

    assert set(read("plugin.json")) <= allowed | {"license", "keywords", "extensions"}
    assert set(read("mcp.json")) == {"$schema", "mcpServers"}
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", read("plugin.json")["name"])
    assert set(read("hooks/hooks.json")) == {"hooks"}  # Codex refuses anything beside it


def test_a_checkout_is_a_marketplace_of_the_plugin() -> None:
    text = (ROOT / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8")
    market = json.loads(text)

    [plugin] = market["plugins"]
    assert (ROOT / plugin["source"]).resolve() == FOLDER
    assert plugin["source"].startswith("./")
    assert plugin["name"] == read("plugin.json")["name"]
    assert market["owner"]["name"]


def test_every_file_of_the_folder_is_part_of_a_copy() -> None:
    there = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()}

    assert set(plugin_files()) == there
    assert {".mcp.json", "hooks/hooks.json", "skills/recollect-memory/SKILL.md"} <= there
