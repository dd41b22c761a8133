"""
Where the clients keep their settings on this machine: the roots of the paths in `clients`.

Nothing is read or written here, except that the first existing of several files is chosen.
"""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.setup.clients import Client, SettingsFile


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Whose settings: the home folder, the environment, the system, and the project's folder."""

    home: Path
    environ: Mapping[str, str]
    platform: str = sys.platform  # as sys.platform says it
    project: Path

    @property
    def windows(self) -> bool:
        """Whether commands are read by a shell of Windows."""
        return self.platform == "win32"

    def roots(self) -> dict[str, str]:
        """Return what the words in braces stand for."""
        config = self._named("XDG_CONFIG_HOME", self.home / ".config")
        roaming = self._named("APPDATA", self.home / "AppData" / "Roaming")
        support = {
            "darwin": self.home / "Library" / "Application Support",
            "win32": roaming,
        }.get(self.platform, config)
        claude = self._named("CLAUDE_CONFIG_DIR", self.home / ".claude")
        found = {
            "home": self.home,
            "config": config,
            "support": support,
            "zed": roaming / "Zed" if self.windows else config / "zed",
            "codex": self._named("CODEX_HOME", self.home / ".codex"),
            "claude": claude,
            "claude_state": claude if self.environ.get("CLAUDE_CONFIG_DIR") else self.home,
        }
        return {name: str(path) for name, path in found.items()}

    def _named(self, variable: str, default: Path) -> Path:
        written = self.environ.get(variable)
        if not written:
            return default
        if written == "~" or written.startswith("~/"):
            return self.home / written[2:]
        return Path(written).absolute()


def path_of(file: SettingsFile, client: Client, machine: Machine, *, project: bool) -> Path:
    """Return where *file* is: the first candidate that exists, else the last."""
    if project and not file.project:
        raise InvalidInput(
            f"{client.title} keeps no such settings for one project; leave out --project-only"
        )
    written = file.project if project else file.user
    roots = machine.roots()
    candidates = [
        machine.project / one if project else Path(one.format_map(roots)) for one in written
    ]
    return next((one for one in candidates if one.exists() or one.is_symlink()), candidates[-1])


def is_found(client: Client, machine: Machine) -> bool:
    """Return whether the client seems to be on this machine."""
    roots = machine.roots()
    if any(Path(folder.format_map(roots)).is_dir() for folder in client.folders):
        return True
    path = machine.environ.get("PATH", "")
    return any(shutil.which(command, path=path) for command in client.commands)
