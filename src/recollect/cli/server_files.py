"""
What a server leaves on the disk of the person who runs it: its pid and its log, by port.

They lie where the system keeps the state of programs, readable by their owner only. A pid file says
who should be there; whether it still is must be asked.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from recollect.hooks import state_files

MOST_LOG_BYTES = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Running:
    """The server a pid file tells of."""

    pid: int
    host: str
    port: int
    db: str
    started_at: str


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return where state is kept: XDG's place, or Windows' own."""
    return Path(state_files.state_folder(dict(environ)))


def pid_file(folder: Path, port: int) -> Path:
    """Return where the pid of the server on *port* is written."""
    return folder / f"server-{port}.pid"


def log_file(folder: Path, port: int) -> Path:
    """Return where the server on *port* writes its log when it runs in the background."""
    return folder / f"server-{port}.log"


def write_pid(path: Path, running: Running) -> None:
    """Write a pid file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(running), file)
    new.replace(path)


def read_pid(path: Path) -> Running | None:
    """Return what a pid file tells, None where there is none or it is of no use."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        running = Running(**read)
    except (OSError, ValueError, TypeError):
        return None
    sound = type(running.pid) is int and running.pid > 1 and type(running.port) is int
    return running if sound and isinstance(running.host, str) else None


def remove_pid(path: Path, pid: int) -> None:
    """Remove a pid file, unless another server has written its own there meanwhile."""
    running = read_pid(path)
    if running is None or running.pid == pid:
        path.unlink(missing_ok=True)


def open_log(path: Path) -> int:
    """Return a descriptor that appends to the log; one that has grown large is started anew."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > MOST_LOG_BYTES:
        path.unlink()
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    if os.name == "posix":
        os.fchmod(opened, 0o600)
    return opened
