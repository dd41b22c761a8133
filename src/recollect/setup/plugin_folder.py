"""
The plugin that comes with the package: one folder that Claude Code and Agent Plugins clients read.

It is copied as it is. A plugin may be carried to another machine, so it runs `recollect` by its
name, not by a path. This file reads the package and the folder; `apply` writes.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from recollect.errors import AlreadyExists
from recollect.setup.apply import read_text
from recollect.setup.clients import SERVER
from recollect.setup.plan import Change

_KNOWN_BY = ".claude-plugin/plugin.json"


def plugin_files() -> dict[str, str]:
    """Return the plugin's files by their path below its folder."""
    return dict(_walk(files("recollect").joinpath("plugin"), ""))


def plan_copy(folder: Path) -> list[Change]:
    """Return what has to be written for *folder* to be the plugin."""
    ours = plugin_files()
    strange = folder.exists() and (not folder.is_dir() or _is_strange(folder))
    if strange:
        raise AlreadyExists(
            f"{folder} is there already and is no copy of this plugin; name a new or empty folder"
        )
    changes = []
    for name, text in sorted(ours.items()):
        path = folder / name
        before = read_text(path)
        if before != text:
            changes.append(Change(path=path, before=before, after=text, record=None))
    return changes


def _is_strange(folder: Path) -> bool:
    return any(folder.iterdir()) and not _is_ours(read_text(folder / _KNOWN_BY) or "")


def _is_ours(manifest: str) -> bool:
    try:
        read = json.loads(manifest)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and read.get("name") == SERVER


def _walk(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _walk(entry, f"{below}{entry.name}/")
        else:
            yield f"{below}{entry.name}", entry.read_bytes().decode("utf-8")
