"""
Copy the plugin of the package to a folder, for Claude Code and other clients of Agent Plugins.

The files are copied unchanged. They run `recollect` by name, not by path, so that the plugin also
works on another machine. This module only plans the copy; `apply_changes` writes it.
"""

import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from recollect.errors import AlreadyExists
from recollect.setup.apply_changes import read_text
from recollect.setup.plan_changes import FileChange
from recollect.setup.supported_clients import SERVER_NAME

_MANIFEST = ".claude-plugin/plugin.json"


def plugin_files() -> dict[str, str]:
    """Return the plugin's files by their path below its folder."""
    return dict(_walk(files("recollect").joinpath("plugin"), ""))


def plan_copy(folder: Path) -> list[FileChange]:
    """Return the file changes that make *folder* a copy of the plugin."""
    if folder.exists() and (not folder.is_dir() or _holds_other_files(folder)):
        raise AlreadyExists(
            f"{folder} already exists and is not a copy of this plugin; name a new or empty folder"
        )
    changes = []
    for name, text in sorted(plugin_files().items()):
        path = folder / name
        before = read_text(path)
        if before != text:
            changes.append(FileChange(path=path, before=before, after=text, record=None))
    return changes


def _holds_other_files(folder: Path) -> bool:
    return any(folder.iterdir()) and not _is_own_manifest(read_text(folder / _MANIFEST) or "")


def _is_own_manifest(manifest: str) -> bool:
    try:
        content = json.loads(manifest)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("name") == SERVER_NAME


def _walk(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            yield from _walk(entry, f"{below}{entry.name}/")
        else:
            yield f"{below}{entry.name}", entry.read_bytes().decode("utf-8")
