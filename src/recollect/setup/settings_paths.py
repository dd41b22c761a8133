"""
Paths of the clients' settings files: the root folders used in `supported_clients`.

Nothing is read or written here, except that the first existing file of several is chosen.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.setup.supported_clients import SettingsFile, SupportedClient


@dataclass(frozen=True, kw_only=True)
class ClientEnvironment:
    """The user's home folder, environment variables and platform, and the project's folder."""

    home: Path
    environ: Mapping[str, str]
    platform: str = sys.platform
    project: Path

    @property
    def is_windows(self) -> bool:
        """Whether commands run in a Windows shell."""
        return self.platform == "win32"

    def roots(self) -> dict[str, str]:
        """Return the folder of each name in braces."""
        config = self._folder_from("XDG_CONFIG_HOME", self.home / ".config")
        roaming = self._folder_from("APPDATA", self.home / "AppData" / "Roaming")
        support = {"darwin": self.home / "Library" / "Application Support", "win32": roaming}.get(
            self.platform, config
        )
        claude = self._folder_from("CLAUDE_CONFIG_DIR", self.home / ".claude")
        folders = {
            "home": self.home,
            "config": config,
            "support": support,
            "zed": roaming / "Zed" if self.is_windows else config / "zed",
            "codex": self._folder_from("CODEX_HOME", self.home / ".codex"),
            "claude": claude,
            "claude_state": claude if self.environ.get("CLAUDE_CONFIG_DIR") else self.home,
        }
        return {name: str(path) for name, path in folders.items()}

    def _folder_from(self, variable: str, default: Path) -> Path:
        value = self.environ.get(variable)
        if not value:
            return default
        if value == "~" or value.startswith("~/"):
            return self.home / value[2:]
        return Path(value).absolute()


def settings_path(
    file: SettingsFile, client: SupportedClient, environment: ClientEnvironment, *, project: bool
) -> Path:
    """Return the path of *file*: the first candidate that exists, else the last."""
    if project and not file.project_paths:
        raise InvalidInput(
            f"{client.title} has no project settings for this; leave out --project-only"
        )
    roots = environment.roots()
    if project:
        candidates = [environment.project / path for path in file.project_paths]
    else:
        candidates = [Path(path.format_map(roots)) for path in file.user_paths]
    existing = (path for path in candidates if path.exists() or path.is_symlink())
    return next(existing, candidates[-1])


def is_installed(client: SupportedClient, environment: ClientEnvironment) -> bool:
    """Return whether the client seems to be installed."""
    roots = environment.roots()
    if any(Path(folder.format_map(roots)).is_dir() for folder in client.folders):
        return True
    path = environment.environ.get("PATH", "")
    return any(shutil.which(command, path=path) for command in client.commands)
