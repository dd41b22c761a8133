"""A process that is killed in the middle of a migration leaves a file that opens again."""

import os
import random
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from older_stores import older_store
from recollect.store.sqlite.connection import connect
from recollect.store.sqlite.migrate import migrate
from support import FakeClock, open_memory

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
]
KILLS = 100
STEPS_PER_TICK = 100  # of SQLite's virtual machine


class Moments:
    """Counts the moments of this process: steps of statements, writes and flushes of files."""

    def __init__(self, kill_at: int) -> None:
        self.count = 0
        self._kill_at = kill_at

    def tick(self) -> bool:
        self.count += 1
        if self.count == self._kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return False


class TickingVfs(apsw.VFS):
    """The file system, with a tick for each write and each flush."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._base = apsw.vfs_names()[0]  # the default until now
        super().__init__("ticking", self._base, makedefault=True)

    def xOpen(self, name: Any, flags: Any) -> apsw.VFSFile:
        return TickingFile(self._moments, self._base, name, flags)


class TickingFile(apsw.VFSFile):
    def __init__(self, moments: Moments, base: str, name: Any, flags: Any) -> None:
        self._moments = moments
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._moments.tick()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._moments.tick()
        super().xSync(flags)


def migrate_in_child(path: Path, clock: FakeClock, kill_at: int) -> int:
    """Migrate *path* in a process that kills itself at a moment; return how many it had, or 0."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, _migrate(path, clock, kill_at).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(reading) as pipe:
        count = pipe.read()
    assert os.WIFSIGNALED(status) is (not count), count
    return int(count or 0)


def _migrate(path: Path, clock: FakeClock, kill_at: int) -> str:
    """Migrate *path*, and return how many moments that had, or an error."""
    moments = Moments(kill_at)
    vfs = TickingVfs(moments)
    apsw.connection_hooks.append(lambda db: db.set_progress_handler(moments.tick, STEPS_PER_TICK))
    try:
        migrate(connect(path), path, clock)
    except Exception as error:  # the process must not go on as a second test run
        return repr(error)
    return str(moments.count) if vfs else ""


def exported(path: Path, clock: FakeClock) -> list[Any]:
    with open_memory(path, clock=clock, words_only=True) as rec:
        assert rec.maintenance.verify().ok
        return list(rec._store.export_rows())


def test_a_migration_that_is_killed_at_any_moment_is_done_by_the_next_who_opens(
    tmp_path: Path, clock: FakeClock
) -> None:
    source = tmp_path / "now.db"
    with open_memory(source, clock=clock, words_only=True) as rec:
        for number in range(40):
            text = f"Server {number} listens on port {8000 + number}."
            rec.capture_session([{"role": "user", "content": text}], project="site")
        rec.drain()
        rec.inbox.promote(
            [
                memory.id
                for memory in rec.memories.list(project="site", statuses=["inbox"], limit=20)
            ]
        )
    old = older_store(source, tmp_path / "old.db", clock, schema=12)
    whole = Path(shutil.copy(old, tmp_path / "whole.db"))
    moments = migrate_in_child(whole, clock, kill_at=0)
    expected = exported(whole, clock)
    assert moments > KILLS

    rng = random.Random(17)
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = Path(shutil.copy(old, folder / "memory.db"))
        assert migrate_in_child(path, clock, kill_at=rng.randint(1, moments)) == 0
        assert exported(path, clock) == expected
        assert (folder / "memory.db.before-0013").exists()
        shutil.rmtree(folder)
