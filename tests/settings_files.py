"""Sample settings files of every client, and helpers that compare files on disk."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from recollect.cli.main import main

Run = Callable[..., Result]

CLAUDE_STATE = """{
  "numStartups": 42,
  "oauthAccount": {
    "emailAddress": "ana@example.com"
  },
  "projects": {
    "/srv/site": {
      "mcpServers": {},
      "allowedTools": []
    }
  },
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://example.com/mcp"
    }
  },
  "tipsHistory": {}
}"""

CLAUDE_SETTINGS = """{
  "env": { "API_KEY": "not-for-anybody" },
  "hooks": {
    "SessionStart": [
      {
        "matcher": "startup",
        "hooks": [
          { "type": "command", "command": "echo hello" }
        ]
      }
    ],
    "PostToolUse": []
  },
  "model": "opus"
}
"""

CODEX_CONFIG = '''# my settings
model = "gpt-5"
notes = """
[not.a.table]
"""

[mcp_servers.docs] # theirs
command = "npx"
args = [
  "-y",
  "docs-server",
]

[projects."/srv/site"]
trust_level = "trusted"'''

CODEX_HOOKS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}\n'

CURSOR_MCP = (
    '\ufeff{\r\n\t"mcpServers": {\r\n\t\t// mine\r\n'
    '\t\t"files": { "command": "npx" },\r\n\t}\r\n}\r\n'
)

CURSOR_HOOKS = """{
    "version": 1,
    "hooks": {
        "stop": [ { "command": "./audit.sh" } ]
    }
}
"""

VSCODE_MCP = """{
	// servers of this machine
	"servers": { },
	"inputs": [
		{ "id": "key", "type": "promptString", "password": true }, // asked once
	],
}
"""

DESKTOP = '{"globalShortcut":"","mcpServers":{"a":{"command":"b"}}}'

ZED = """// Zed settings
//
// For information on how to configure Zed, see the Zed documentation
{
  "theme": "One Dark", /* day and
  night */
  "buffer_font_size": 15 // points
}
"""

OPENCODE = """{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "servers": {
      "docs": { "type": "remote", "url": "https://example.com" },
    },
  },
}
"""

# client: its files below the home folder, as somebody has them
SETTINGS_BY_CLIENT: dict[str, dict[str, str]] = {
    "claude-code": {".claude.json": CLAUDE_STATE, ".claude/settings.json": CLAUDE_SETTINGS},
    "codex": {".codex/config.toml": CODEX_CONFIG, ".codex/hooks.json": CODEX_HOOKS},
    "cursor": {".cursor/mcp.json": CURSOR_MCP, ".cursor/hooks.json": CURSOR_HOOKS},
    "vscode": {".config/Code/User/mcp.json": VSCODE_MCP},
    "claude-desktop": {".config/Claude/claude_desktop_config.json": DESKTOP},
    "gemini-cli": {".gemini/settings.json": "{ }\n"},
    "windsurf": {".codeium/windsurf/mcp_config.json": ""},
    "zed": {".config/zed/settings.json": ZED},
    "opencode": {".config/opencode/opencode.jsonc": OPENCODE},
}


def use_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a home folder with a project as the current folder, and return the home folder."""
    folder = tmp_path / "home"
    (folder / "work" / "site").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "RECOLLECT_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder / "work" / "site")
    return folder


def run_setup(*args: str) -> Result:
    """Run `recollect setup`, and assert that no temporary file is left."""
    result = CliRunner().invoke(main, ["setup", *args])
    folders = (Path.home(), Path.home().parent / "state")
    assert [path for folder in folders for path in folder.rglob(".*.recollect")] == []
    return result


def write_settings(home: Path, client: str) -> dict[str, Path]:
    """Write the settings of *client* below *home*; return their paths."""
    written = {}
    for name, text in SETTINGS_BY_CLIENT[client].items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(0o640)
        written[name] = path
    return written


def listing(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return everything below *folder*: kind, permissions, time of change, bytes or target."""
    entries: dict[str, tuple[object, ...]] = {}
    for path in sorted(folder.rglob("*")):
        stat = path.lstat()
        content: object = None
        if path.is_symlink():
            content = path.readlink()
        elif path.is_file():
            content = path.read_bytes()
        times = stat.st_mtime_ns if not path.is_dir() else 0
        entries[str(path.relative_to(folder))] = (stat.st_mode, times, content)
    return entries


def contents(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    """Return everything below *folder* by permissions and bytes, without times."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
    }


def files_after_diff(diff: str, root: Path) -> dict[str, str | None]:
    """Return the content of each file after *diff*, by path; None if the file is removed."""
    after: dict[str, str | None] = {}
    for part in re.split(r"^(?=--- /)", diff, flags=re.MULTILINE)[1:]:
        old, new = re.findall(r"^(?:---|\+\+\+) (.*)$", part, flags=re.MULTILINE)[:2]
        path = Path(new if old == "/dev/null" else old)
        text = "" if old == "/dev/null" else path.read_bytes().decode()
        result = apply_diff(text, part)
        after[str(path.relative_to(root))] = None if new == "/dev/null" else result
    return after


def apply_diff(text: str, diff: str) -> str:
    """Return *text* after a unified diff of it, as `patch` would make it."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    shift = 0
    hunk = r"^@@ -(\d+)(?:,(\d+))? \+\S+ @@\n((?:[ +\-\\].*\n)*)"
    for start, count, body in re.findall(hunk, diff, flags=re.MULTILINE):
        parts = re.findall(r"([ +\-])(.*\n)(\\.*\n)?", body)
        written = [(sign, line[:-1] if unended else line) for sign, line, unended in parts]
        removed = [line for sign, line in written if sign in " -"]
        added = [line for sign, line in written if sign in " +"]
        first = int(start) - (0 if count == "0" else 1) + shift
        assert lines[first : first + len(removed)] == removed
        lines[first : first + len(removed)] = added
        shift += len(added) - len(removed)
    return "".join(lines)


def successful_output(result: Result) -> str:
    """Assert that a command succeeded, and return its output."""
    assert result.exit_code == 0, result.output
    return result.output
