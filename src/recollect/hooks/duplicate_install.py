"""
Detect hooks that are installed twice: by the plugin, and by `recollect setup`.

Claude Code sets an environment variable for the hooks of a plugin. A plugin hook checks whether the
client's settings run the same hook, and leaves the event to that one, which may name a store. This
module is small because the hook process loads it.
"""

import os

MAX_BYTES = 1_000_000


def runs_from_settings(kind: str, environ: "dict[str, str]") -> bool:
    """Return whether the client's settings also run our hook for the event *kind*."""
    command = f"hook {kind} --client claude-code".encode("ascii")
    return any(command in _read(path) for path in _settings_files(environ))


def _settings_files(environ: "dict[str, str]") -> "tuple[str, ...]":
    user = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    project = os.path.join(environ.get("CLAUDE_PROJECT_DIR") or os.getcwd(), ".claude")
    return (
        os.path.join(user, "settings.json"),
        os.path.join(project, "settings.local.json"),
        os.path.join(project, "settings.json"),
    )


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""
