"""
Where a client works: which folder is the project of a call over standard input and output.

Clients say it in three ways: they start the server in the folder, they name roots when asked, or
they send their workspaces along with a call, as Codex does. What belongs to a plugin may be started
in the plugin's own folder, and a desktop client starts in `/` or at home: there nobody works.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PLUGIN_ROOTS = ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")  # as clients name a plugin's folder
TURN = "x-codex-turn-metadata"


def place_among(roots: Sequence[Path], here: Path) -> Path | None:
    """Return the folder that is worked in: *here* if it lies in a root, else the first root."""
    if not roots or any(here.is_relative_to(root) for root in roots):
        return here if is_project(here) else None
    return next((root for root in roots if is_project(root)), None)


def is_project(folder: Path) -> bool:
    """Say whether work happens in *folder*."""
    plugins = [Path(root) for name in PLUGIN_ROOTS if (root := os.environ.get(name))]
    if any(folder.is_relative_to(root) for root in plugins):
        return False
    return folder != Path(folder.anchor) and folder != Path.home()


def told_with(meta: Mapping[str, Any] | None) -> list[Path]:
    """Return the folders that a client says, along with a call, that it works in."""
    turn = (meta or {}).get(TURN)
    workspaces = turn.get("workspaces") if isinstance(turn, Mapping) else None
    if not isinstance(workspaces, Mapping):
        return []
    folders = [Path(one) for one in workspaces if isinstance(one, str)]
    return [one for one in folders if one.is_absolute()]
