"""
What hooks keep on the disk of the person who runs them: a log, and small files by session.

They lie with the state of the servers (cli/server_files.py), readable by their owner only. Light:
strings for paths, so that the hook's own process needs no more than the standard library's least.
Nothing here knows what the files mean.
"""

import json
import os
import time

MOST_LOG_BYTES = 1_000_000
MOST_FILE_BYTES = 200_000
KEPT_S = 14 * 86_400.0  # a file of a session that was silent for so long goes
# But what is still to be captured stays, however long nobody was there, and a lock somebody holds.
STAYING = (".wanted", ".later", ".lock")


def state_folder(environ: "dict[str, str]") -> str:
    """Return where state is kept: XDG's place, or Windows' own."""
    if os.name == "nt" and (local := environ.get("LOCALAPPDATA")):
        return os.path.join(local, "recollect")
    home = environ.get("XDG_STATE_HOME") or "~/.local/state"
    return os.path.join(os.path.expanduser(home), "recollect")


def session_folder(state: str) -> str:
    """Return where the small files of sessions lie."""
    return os.path.join(state, "hooks")


def log(state: str, line: str) -> None:
    """Add a line to the log of hooks; one that has grown large is started anew."""
    path = os.path.join(state, "hooks.log")
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        os.makedirs(state, mode=0o700, exist_ok=True)
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.fstat(opened).st_size > MOST_LOG_BYTES:
                os.replace(path, f"{path}.old")
            os.write(opened, f"{stamp} {line}\n".encode("ascii", "replace"))
        finally:
            os.close(opened)
    except OSError:
        return  # a hook never fails, least of all because it cannot say why it did


def read_small(path: str) -> "dict[str, object]":
    """Return what a small file says; nothing where there is none or it is of no use."""
    try:
        with open(path, "rb") as file:
            read = json.loads(file.read(MOST_FILE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def write_small(path: str, told: "dict[str, object]") -> None:
    """Write a small file, whole or not at all."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    new = f"{path}.{os.getpid()}.{time.monotonic_ns()}"
    opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w", encoding="ascii") as file:
        json.dump(told, file)
    os.replace(new, path)


def remove(path: str) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(path)
    except OSError:
        return


def remove_old(folder: str, now: float) -> None:
    """Remove files of sessions that were silent for long, and what a killed writer left."""
    try:
        with os.scandir(folder) as found:
            gone = [one for one in found if not one.name.endswith(STAYING)]
            old = [one.path for one in gone if now - one.stat().st_mtime > KEPT_S]
    except OSError:
        return
    for path in old:
        remove(path)
