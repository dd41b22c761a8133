"""
The pid file and the log file of a server, by port.

They are in the state folder of the user, readable by the owner only. A pid file does not prove that
the server still runs: ask it.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path

from recollect.hooks import state_files
from recollect.lazy_dataclass import dataclass

MAX_LOG_BYTES = 5_000_000


@dataclass(frozen=True, kw_only=True)
class ServerRecord:
    """What a pid file says about its server; *key* lets `recollect open` enter its pages."""

    pid: int
    host: str
    port: int
    db: str
    started_at: str
    key: str = field(default="", repr=False)


def state_folder(environ: Mapping[str, str]) -> Path:
    """Return the state folder of XDG, or of Windows."""
    return Path(state_files.state_folder(dict(environ)))


def pid_file(folder: Path, port: int) -> Path:
    """Return where the pid of the server on *port* is written."""
    return folder / f"server-{port}.pid"


def log_file(folder: Path, port: int) -> Path:
    """Return where the server on *port* writes its log when it runs in the background."""
    return folder / f"server-{port}.log"


def write_pid(path: Path, record: ServerRecord) -> None:
    """Write a pid file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(record), file)
    new.replace(path)


def read_pid(path: Path) -> ServerRecord | None:
    """Return what a pid file says, None if there is none or it is not valid."""
    try:
        record = ServerRecord(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    is_valid = type(record.pid) is int and record.pid > 1 and type(record.port) is int
    return record if is_valid and isinstance(record.host, str) else None


def remove_pid(path: Path, pid: int) -> None:
    """Remove a pid file, unless another server has written its own since."""
    record = read_pid(path)
    if record is None or record.pid == pid:
        path.unlink(missing_ok=True)


def open_log(path: Path) -> int:
    """Return a descriptor that appends to the log; a log that is too large is emptied first."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    if os.name == "posix":
        os.fchmod(descriptor, 0o600)
    return descriptor
