"""
Files that hooks write on the user's disk: a log, and one small JSON file per session and purpose.

They are in the state folder of the servers (cli/server_files.py), readable only by their owner.
Paths are strings, so that the hook process loads as little of the standard library as possible.
"""

import os
import time

from recollect.hooks.quick_json import parse_json

MAX_LOG_BYTES = 1_000_000
MAX_FILE_BYTES = 200_000
RETENTION_S = 14 * 86_400.0  # files of a session that was idle for longer are removed
# These are never removed by age: pending captures, and locks that may be held.
PERMANENT_SUFFIXES = (".wanted", ".later", ".lock")


def state_folder(environ: "dict[str, str]") -> str:
    """Return the state folder: the XDG location, or the one of Windows."""
    if os.name == "nt" and (local := environ.get("LOCALAPPDATA")):
        return os.path.join(local, "recollect")
    home = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return os.path.join(os.path.expanduser(home), "recollect")


def session_folder(state: str) -> str:
    """Return the folder of the session files."""
    return os.path.join(state, "hooks")


def append_log(state: str, line: str) -> None:
    """Append a line to the hook log, and rotate the log if it is too large."""
    path = os.path.join(state, "hooks.log")
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(descriptor).st_size > MAX_LOG_BYTES:
                os.replace(path, f"{path}.old")
            os.write(descriptor, f"{stamp} {line}\n".encode("ascii", "replace"))
        finally:
            os.close(descriptor)
    except OSError:
        return  # a hook must not fail because its log cannot be written


def read_json(path: str) -> "dict[str, object]":
    """Return the JSON object in a file, {} if the file is missing or not such an object."""
    try:
        with open(path, "rb") as file:
            content = parse_json(file.read(MAX_FILE_BYTES).decode())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def write_json(path: str, content: "dict[str, object]") -> None:
    """Write a JSON file atomically."""
    # Imported here: a hook that a server answers writes no such file, and this is slow to load.
    import json

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.{time.monotonic_ns()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(content, file)
    os.replace(temporary, path)


def remove(path: str) -> None:
    """Remove a file if it exists."""
    try:
        os.unlink(path)
    except OSError:
        return


def remove_old(folder: str, now: float) -> None:
    """Remove the files of idle sessions, and temporary files of writers that were killed."""
    try:
        with os.scandir(folder) as entries:
            removable = [entry for entry in entries if not entry.name.endswith(PERMANENT_SUFFIXES)]
            old = [entry.path for entry in removable if now - entry.stat().st_mtime > RETENTION_S]
    except OSError:
        return
    for path in old:
        remove(path)
