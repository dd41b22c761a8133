"""
Whether an event reaches us twice: as the plugin's hook, and as one that `recollect setup` wrote.

Claude Code tells the hooks of a plugin where the plugin lies. One of ours that is told so looks
whether the settings run the same hook, and leaves the event to that one, which may name a store.
Light, as everything the hook's own process loads.
"""

import os

MOST_BYTES = 1_000_000


def runs_from_settings(kind: str, environ: "dict[str, str]") -> bool:
    """Say whether the client's settings have a hook of ours for the event, beside the plugin's."""
    ours = f"hook {kind} --client claude-code".encode("ascii")
    return any(ours in _read(path) for path in _settings(environ))


def _settings(environ: "dict[str, str]") -> "tuple[str, ...]":
    own = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    here = os.path.join(environ.get("CLAUDE_PROJECT_DIR") or os.getcwd(), ".claude")
    return (
        os.path.join(own, "settings.json"),
        os.path.join(here, "settings.local.json"),
        os.path.join(here, "settings.json"),
    )


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return b""
