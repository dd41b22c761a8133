"""Snapshots of a store are private while they are written, and leave nothing if they are killed."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recollect.clock import SystemClock
from recollect.store.sqlite.store import SqliteStore
from support import open_memory

TAKE_SNAPSHOTS = """
import os, sys
from pathlib import Path
from recollect.clock import SystemClock
from recollect.store.sqlite.store import SqliteStore

os.umask(0)
store = SqliteStore(Path(sys.argv[1]), SystemClock())
for number in range(1_000):
    store.snapshot(f"{number}")
"""


@pytest.mark.kill
@pytest.mark.skipif(sys.platform == "win32", reason="modes and signals of POSIX")
def test_a_snapshot_is_private_from_its_first_byte_and_gone_if_its_process_is_killed(
    path: Path,
) -> None:
    with open_memory(path, words_only=True) as rec:
        rec.capture_session("User: hello\nAssistant: " + "filler " * 1_000_000)
    command = [sys.executable, "-c", TAKE_SNAPSHOTS, str(path)]
    process = subprocess.Popen(command)
    modes: set[int] = set()
    partial: list[str] = []
    deadline = time.monotonic() + 30
    while not partial and time.monotonic() < deadline:
        copies = _copies(path)
        modes |= set(copies.values())
        partial = [name for name in copies if not _is_complete(name, path)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = _copies(path)

    SqliteStore(path, SystemClock()).close()

    assert partial
    assert modes | set(left.values()) == {0o600}
    assert all(_is_complete(name, path) for name in _copies(path))


def _is_complete(name: str, path: Path) -> bool:
    return name.removeprefix(f"{path.name}.before-").isdigit()


def _copies(path: Path) -> dict[str, int]:
    modes = {}
    for entry in os.scandir(path.parent):
        if entry.name.startswith(f"{path.name}.before-"):
            try:
                modes[entry.name] = stat.S_IMODE(entry.stat().st_mode)
            except FileNotFoundError:
                continue  # renamed meanwhile
    return modes
