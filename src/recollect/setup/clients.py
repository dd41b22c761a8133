"""
The clients Recollect can be set up in: their files, what goes where, which hooks they have.

One table, and nothing else; `plan` reads it. Paths begin with a root in braces that `places` knows.
The plugin's own hooks (`plugin/hooks/hooks.json`) come from the same table: a test compares them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from recollect.setup.invocation import Shape

SERVER = "recollect"  # the name of the server in every client

# event: its own name, ours, and how many seconds it may take
Events = Mapping[str, tuple[str, int]]


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """One file of a client: where it is, and what it gets."""

    holds: Literal["server", "hooks"]
    user: tuple[str, ...]  # the first that exists, else the last
    project: tuple[str, ...] = ()  # below the project's folder; empty: there is none
    form: Literal["json", "toml"] = "json"
    below: tuple[str, ...] = ()  # where the servers are listed
    below_if_there: tuple[str, ...] = ()  # or here, where the file has that already
    shape: Shape = "plain"
    events: Events = field(default_factory=dict)
    nested: bool = True  # hooks stand in groups: {"hooks": [{…}]}
    needs: Mapping[str, Any] = field(default_factory=dict)  # members the file must have beside it


@dataclass(frozen=True, kw_only=True)
class Client:
    """A program whose agent is to remember."""

    name: str
    title: str
    files: tuple[SettingsFile, ...]
    folders: tuple[str, ...]  # one of them is there where the client is
    commands: tuple[str, ...] = ()  # or one of these can be run
    then: str  # what the user does next


_SESSION = {
    "SessionStart": ("session-start", 10),
    "UserPromptSubmit": ("prompt", 10),
    "PreCompact": ("pre-compact", 10),
}

CLAUDE_CODE_EVENTS: Events = {**_SESSION, "SessionEnd": ("session-end", 10)}
# Before 0.145 there was no SessionEnd; since then it may take three seconds, and more is warned of.
CODEX_EVENTS: Events = {**_SESSION, "Stop": ("stop", 10), "SessionEnd": ("session-end", 3)}
# sessionEnd is not run when the whole window closes; stop comes after every answer.
CURSOR_EVENTS: Events = {
    "sessionStart": ("session-start", 10),
    "beforeSubmitPrompt": ("prompt", 10),
    "preCompact": ("pre-compact", 10),
    "stop": ("stop", 10),
    "sessionEnd": ("session-end", 10),
}


def _server(*user: str, project: tuple[str, ...] = (), **more: Any) -> SettingsFile:
    return SettingsFile(
        holds="server", user=user, project=project, **{"below": ("mcpServers",), **more}
    )


CLIENTS: tuple[Client, ...] = (
    Client(
        name="claude-code",
        title="Claude Code",
        files=(
            _server("{claude_state}/.claude.json", project=(".mcp.json",), shape="stdio"),
            SettingsFile(
                holds="hooks",
                user=("{claude}/settings.json",),
                project=(".claude/settings.local.json",),
                events=CLAUDE_CODE_EVENTS,
            ),
        ),
        folders=("{claude}",),
        commands=("claude",),
        then="Start a new session; /mcp and /hooks list what is there.",
    ),
    Client(
        name="codex",
        title="Codex",
        files=(
            SettingsFile(
                holds="server",
                user=("{codex}/config.toml",),
                project=(".codex/config.toml",),
                form="toml",
                below=("mcp_servers",),
            ),
            SettingsFile(
                holds="hooks",
                user=("{codex}/hooks.json",),
                project=(".codex/hooks.json",),
                events=CODEX_EVENTS,
            ),
        ),
        folders=("{codex}",),
        commands=("codex",),
        then="Start Codex and trust the hooks with /hooks; it runs none before.",
    ),
    Client(
        name="cursor",
        title="Cursor",
        files=(
            _server("{home}/.cursor/mcp.json", project=(".cursor/mcp.json",)),
            SettingsFile(
                holds="hooks",
                user=("{home}/.cursor/hooks.json",),
                project=(".cursor/hooks.json",),
                events=CURSOR_EVENTS,
                nested=False,
                needs={"version": 1},
            ),
        ),
        folders=("{home}/.cursor",),
        commands=("cursor", "cursor-agent"),
        then="Restart Cursor; its settings list the server under MCP and the hooks under Hooks.",
    ),
    Client(
        name="vscode",
        title="VS Code",
        files=(
            _server(
                "{support}/Code/User/mcp.json",
                project=(".vscode/mcp.json",),
                below=("servers",),
                shape="stdio",
            ),
        ),
        folders=("{support}/Code",),
        commands=("code",),
        then="Run “MCP: List Servers” from the command palette and start recollect.",
    ),
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        files=(_server("{support}/Claude/claude_desktop_config.json"),),
        folders=("{support}/Claude",),
        then="Quit Claude Desktop and start it again.",
    ),
    Client(
        name="gemini-cli",
        title="Gemini CLI",
        files=(_server("{home}/.gemini/settings.json", project=(".gemini/settings.json",)),),
        folders=("{home}/.gemini",),
        commands=("gemini",),
        then="Start Gemini CLI; /mcp lists the server.",
    ),
    Client(
        name="windsurf",
        title="Windsurf",
        files=(_server("{home}/.codeium/windsurf/mcp_config.json"),),
        folders=("{home}/.codeium/windsurf",),
        commands=("windsurf",),
        then="Refresh the MCP servers in Cascade's settings.",
    ),
    Client(
        name="zed",
        title="Zed",
        files=(
            _server(
                "{zed}/settings.json", project=(".zed/settings.json",), below=("context_servers",)
            ),
        ),
        folders=("{zed}",),
        commands=("zed", "zeditor"),
        then="The agent panel's settings list the server; Zed starts it by itself.",
    ),
    Client(
        name="opencode",
        title="OpenCode",
        files=(
            _server(
                "{config}/opencode/opencode.jsonc",
                "{config}/opencode/opencode.json",
                project=("opencode.jsonc", "opencode.json"),
                below=("mcp",),
                below_if_there=("mcp", "servers"),
                shape="joined",
            ),
        ),
        folders=("{config}/opencode",),
        commands=("opencode",),
        then="Start OpenCode; `opencode mcp list` shows the server.",
    ),
)

BY_NAME: Mapping[str, Client] = {client.name: client for client in CLIENTS}
