"""Where clients keep their settings on each system."""

from pathlib import Path

import pytest

from recollect.setup.settings_paths import ClientEnvironment, is_installed, settings_path
from recollect.setup.supported_clients import BY_NAME, CLIENTS


def machine(home: Path, platform: str = "linux", **environ: str) -> ClientEnvironment:
    return ClientEnvironment(home=home, environ=environ, platform=platform, project=home / "site")


def place(client: str, on: ClientEnvironment, *, project: bool = False) -> str:
    result = BY_NAME[client]
    path = settings_path(result.files[0], result, on, project=project)
    return path.relative_to(on.home).as_posix()


@pytest.mark.parametrize(
    ("client", "linux", "darwin", "win32"),
    [
        ("claude-code", ".claude.json", ".claude.json", ".claude.json"),
        ("codex", ".codex/config.toml", ".codex/config.toml", ".codex/config.toml"),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        (
            "zed",
            ".config/zed/settings.json",
            ".config/zed/settings.json",
            "AppData/Roaming/Zed/settings.json",
        ),
    ],
)
def test_each_system_has_its_places(
    client: str, linux: str, darwin: str, win32: str, tmp_path: Path
) -> None:
    assert place(client, machine(tmp_path)) == linux
    assert place(client, machine(tmp_path, "darwin")) == darwin
    assert place(client, machine(tmp_path, "win32")) == win32


def test_of_two_files_the_one_that_exists_is_taken(tmp_path: Path) -> None:
    on = machine(tmp_path)
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)

    new = place("opencode", on)
    (folder / "opencode.jsonc").touch()

    assert new == ".config/opencode/opencode.json"
    assert place("opencode", on) == ".config/opencode/opencode.jsonc"
    assert place("opencode", on, project=True) == "site/opencode.json"


def test_a_client_is_found_by_its_folder_or_its_command(tmp_path: Path) -> None:
    command = tmp_path / "bin" / "codex"
    command.parent.mkdir()
    command.touch(mode=0o755)
    (tmp_path / ".gemini").mkdir()
    on = machine(tmp_path, PATH=str(command.parent))

    assert [item.name for item in CLIENTS if is_installed(item, on)] == ["codex", "gemini-cli"]
