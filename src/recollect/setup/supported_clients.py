"""
The table of supported clients: their settings files, what each file contains, and their hooks.

`plan_changes` reads this table. Paths begin with a root in braces, defined in `settings_paths`. A
test compares the plugin's hooks (`plugin/hooks/hooks.json`) with this table.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, NamedTuple

from recollect.lazy_dataclass import dataclass
from recollect.setup.invocation import EntryShape

SERVER_NAME = "recollect"  # the name of the MCP server in every client


class HookSettings(NamedTuple):
    """The hook of one event: our name of the event, the timeout, and the tools it is run for."""

    event: str
    timeout_s: int
    tools: str = ""  # a regular expression; '': the event is not about tools, or about all


HookEvents = Mapping[str, HookSettings]  # by the event name of the client


@dataclass(frozen=True, kw_only=True)
class SettingsFile:
    """One settings file of a client: its paths and what setup writes into it."""

    holds: Literal["server", "hooks"]
    user_paths: tuple[str, ...]  # use the first that exists, else the last
    project_paths: tuple[str, ...] = ()  # relative to the project's folder; empty: not supported
    format: Literal["json", "toml"] = "json"
    servers_key: tuple[str, ...] = ()  # where the file lists servers
    alternative_servers_key: tuple[str, ...] = ()  # used instead if the file has it
    entry_shape: EntryShape = "plain"
    events: HookEvents = field(default_factory=dict)
    hooks_in_groups: bool = True  # {"hooks": [{…}]}
    timeouts_in_ms: bool = False
    # other members that the file must have
    required_members: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SupportedClient:
    """A program that can use Recollect."""

    name: str
    title: str
    files: tuple[SettingsFile, ...]
    folders: tuple[str, ...]  # if one exists, the client is installed
    commands: tuple[str, ...] = ()  # or if one of these is on the PATH
    next_step: str  # for the user


_SERVER_HINT = "Lines at tool calls need a running server: `recollect serve --background`."

_SESSION = {
    "SessionStart": HookSettings("session-start", 10),
    "UserPromptSubmit": HookSettings("prompt", 10),
    "PreCompact": HookSettings("pre-compact", 10),
}

# The tools that run a command or change a file; others would only start a process.
CLAUDE_CODE_EVENTS: HookEvents = {
    **_SESSION,
    "PreToolUse": HookSettings("pre-tool", 5, "Bash|Edit|MultiEdit|Write|NotebookEdit"),
    "PostToolUseFailure": HookSettings("post-tool", 5, "Bash"),
    "SessionEnd": HookSettings("session-end", 10),
}
# Codex has SessionEnd since 0.145, and warns about a timeout of more than three seconds.
CODEX_EVENTS: HookEvents = {
    **_SESSION,
    "PreToolUse": HookSettings("pre-tool", 3, "Bash|apply_patch"),
    "Stop": HookSettings("stop", 10),
    "SessionEnd": HookSettings("session-end", 3),
}
# Cursor does not run sessionEnd when the window closes; it runs stop after every answer. It takes
# text for the model after a tool, not before one.
CURSOR_EVENTS: HookEvents = {
    "sessionStart": HookSettings("session-start", 10),
    "beforeSubmitPrompt": HookSettings("prompt", 10),
    "postToolUse": HookSettings("post-tool", 5, "Shell|Write"),
    "preCompact": HookSettings("pre-compact", 10),
    "stop": HookSettings("stop", 10),
    "sessionEnd": HookSettings("session-end", 10),
}
# Gemini CLI takes text after a tool, not before one. Its PreCompress comes before every request to
# the model, and its transcript keeps what is compressed, so AfterAgent is enough.
GEMINI_EVENTS: HookEvents = {
    "SessionStart": HookSettings("session-start", 10),
    "BeforeAgent": HookSettings("prompt", 10),
    "AfterTool": HookSettings("post-tool", 5, "run_shell_command|write_file|replace"),
    "AfterAgent": HookSettings("stop", 10),
    "SessionEnd": HookSettings("session-end", 10),
}


def _server_file(
    *user_paths: str,
    project: tuple[str, ...] = (),
    servers_key: tuple[str, ...] = ("mcpServers",),
    alternative_servers_key: tuple[str, ...] = (),
    shape: EntryShape = "plain",
) -> SettingsFile:
    return SettingsFile(
        holds="server",
        user_paths=user_paths,
        project_paths=project,
        servers_key=servers_key,
        alternative_servers_key=alternative_servers_key,
        entry_shape=shape,
    )


CLIENTS: tuple[SupportedClient, ...] = (
    SupportedClient(
        name="claude-code",
        title="Claude Code",
        files=(
            _server_file("{claude_state}/.claude.json", project=(".mcp.json",), shape="stdio"),
            SettingsFile(
                holds="hooks",
                user_paths=("{claude}/settings.json",),
                project_paths=(".claude/settings.local.json",),
                events=CLAUDE_CODE_EVENTS,
            ),
        ),
        folders=("{claude}",),
        commands=("claude",),
        next_step=(
            f"Start a new session; /mcp lists the server and /hooks the hooks. {_SERVER_HINT}"
        ),
    ),
    SupportedClient(
        name="codex",
        title="Codex",
        files=(
            SettingsFile(
                holds="server",
                user_paths=("{codex}/config.toml",),
                project_paths=(".codex/config.toml",),
                format="toml",
                servers_key=("mcp_servers",),
            ),
            SettingsFile(
                holds="hooks",
                user_paths=("{codex}/hooks.json",),
                project_paths=(".codex/hooks.json",),
                events=CODEX_EVENTS,
            ),
        ),
        folders=("{codex}",),
        commands=("codex",),
        next_step=(
            "Start Codex and trust the hooks with /hooks; Codex runs no hooks before. "
            f"{_SERVER_HINT}"
        ),
    ),
    SupportedClient(
        name="cursor",
        title="Cursor",
        files=(
            _server_file("{home}/.cursor/mcp.json", project=(".cursor/mcp.json",)),
            SettingsFile(
                holds="hooks",
                user_paths=("{home}/.cursor/hooks.json",),
                project_paths=(".cursor/hooks.json",),
                events=CURSOR_EVENTS,
                hooks_in_groups=False,
                required_members={"version": 1},
            ),
        ),
        folders=("{home}/.cursor",),
        commands=("cursor", "cursor-agent"),
        next_step=(
            "Restart Cursor; its settings list the server (MCP) and the hooks (Hooks). "
            f"{_SERVER_HINT}"
        ),
    ),
    SupportedClient(
        name="vscode",
        title="VS Code",
        files=(
            _server_file(
                "{support}/Code/User/mcp.json",
                project=(".vscode/mcp.json",),
                servers_key=("servers",),
                shape="stdio",
            ),
        ),
        folders=("{support}/Code",),
        commands=("code",),
        next_step="Run “MCP: List Servers” from the command palette and start recollect.",
    ),
    SupportedClient(
        name="claude-desktop",
        title="Claude Desktop",
        files=(_server_file("{support}/Claude/claude_desktop_config.json"),),
        folders=("{support}/Claude",),
        next_step="Quit Claude Desktop and start it again.",
    ),
    SupportedClient(
        name="gemini-cli",
        title="Gemini CLI",
        files=(
            _server_file("{home}/.gemini/settings.json", project=(".gemini/settings.json",)),
            SettingsFile(
                holds="hooks",
                user_paths=("{home}/.gemini/settings.json",),
                project_paths=(".gemini/settings.json",),
                events=GEMINI_EVENTS,
                timeouts_in_ms=True,
            ),
        ),
        folders=("{home}/.gemini",),
        commands=("gemini",),
        next_step=(f"Start Gemini CLI; /mcp lists the server and /hooks the hooks. {_SERVER_HINT}"),
    ),
    SupportedClient(
        name="windsurf",
        title="Windsurf",
        files=(_server_file("{home}/.codeium/windsurf/mcp_config.json"),),
        folders=("{home}/.codeium/windsurf",),
        commands=("windsurf",),
        next_step="Refresh the MCP servers in Cascade's settings.",
    ),
    SupportedClient(
        name="zed",
        title="Zed",
        files=(
            _server_file(
                "{zed}/settings.json",
                project=(".zed/settings.json",),
                servers_key=("context_servers",),
            ),
        ),
        folders=("{zed}",),
        commands=("zed", "zeditor"),
        next_step="The agent panel's settings list the server; Zed starts it by itself.",
    ),
    SupportedClient(
        name="opencode",
        title="OpenCode",
        files=(
            _server_file(
                "{config}/opencode/opencode.jsonc",
                "{config}/opencode/opencode.json",
                project=("opencode.jsonc", "opencode.json"),
                servers_key=("mcp",),
                alternative_servers_key=("mcp", "servers"),
                shape="joined",
            ),
        ),
        folders=("{config}/opencode",),
        commands=("opencode",),
        next_step="Start OpenCode; `opencode mcp list` shows the server.",
    ),
)

BY_NAME: Mapping[str, SupportedClient] = {client.name: client for client in CLIENTS}
