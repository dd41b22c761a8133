"""
Find the project folder of a client that is connected over standard input and output.

A client starts the server in the folder, returns it as a root, or sends its workspaces with each
call, as Codex does. A plugin may be started in its own folder, and a desktop client in `/` or the
home folder; these are not projects.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PLUGIN_ROOT_VARIABLES = ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")  # set by clients that run plugins
TURN_METADATA_KEY = "x-codex-turn-metadata"


def choose_workspace(roots: Sequence[Path], start_folder: Path) -> Path | None:
    """Return the project folder: *start_folder* if it is in a root, else the first root."""
    if not roots or any(start_folder.is_relative_to(root) for root in roots):
        return start_folder if is_project(start_folder) else None
    return next((root for root in roots if is_project(root)), None)


def is_project(folder: Path) -> bool:
    """Return whether *folder* can be a project."""
    plugins = [Path(root) for name in PLUGIN_ROOT_VARIABLES if (root := os.environ.get(name))]
    if any(folder.is_relative_to(root) for root in plugins):
        return False
    return folder != Path(folder.anchor) and folder != Path.home()


def workspaces_in_metadata(meta: Mapping[str, Any] | None) -> list[Path]:
    """Return the workspace folders that a client sent in the metadata of a call."""
    turn = (meta or {}).get(TURN_METADATA_KEY)
    workspaces = turn.get("workspaces") if isinstance(turn, Mapping) else None
    if not isinstance(workspaces, Mapping):
        return []
    folders = [Path(name) for name in workspaces if isinstance(name, str)]
    return [folder for folder in folders if folder.is_absolute()]
