"""A full disk, a busy file, a fork: a clear error, and an intact store."""

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from recollect import LocalRecollect, StoreBusy, StoreClosed, StoreFull
from recollect.store.sqlite import connection
from support import file_store, open_memory

pytestmark = pytest.mark.kill

FULL_DISK = """
import resource, signal, sys
import recollect

path, limit = sys.argv[1], int(sys.argv[2])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with recollect.open(path, embedding_backend="none") as memory:
    first = memory.ingest("written while there was space")
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    kept = [first.id]
    try:
        for number in range(100_000):
            kept.append(memory.ingest(f"number {number} " + "filler " * 200).id)
    except recollect.StoreFull as error:
        print("full:", error)
    found = memory.search("written while there was space")
    assert found[0].memory.id == first.id, found
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    kept.append(memory.ingest("written after space was freed").id)
print("\\n".join(kept))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_full_disk_gives_a_clear_error_and_an_intact_store(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path), str(3_000_000)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    message, *kept = done.stdout.splitlines()
    assert message.startswith("full: no space left to write")
    assert "nothing of this write was kept" in message
    assert len(kept) > 2
    with open_memory(path, words_only=True) as rec:
        assert rec.maintenance.verify().ok
        assert [rec.memories.get(memory_id).id for memory_id in kept] == kept
        assert rec.maintenance.status().counts["memories"] == len(kept)


def test_a_store_at_its_size_limit_says_so_and_loses_nothing(path: Path) -> None:
    with open_memory(path, words_only=True) as rec:
        kept = rec.ingest("small")
        database = file_store(rec)._tables.connection.db
        pages = database.execute("PRAGMA page_count").get
        database.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()

        with pytest.raises(StoreFull, match="Free some space"):
            rec.ingest("large " * 20_000)

        assert rec.memories.get(kept.id) == kept
        assert rec.search("large") == []
        assert rec.maintenance.verify().ok


def test_a_lock_held_too_long_is_a_busy_error_and_searching_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_S", 0.05)
    with open_memory(path, words_only=True) as rec:
        rec.ingest("readable all the time")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreBusy, match="try again"):
            rec.ingest("cannot be written now")
        [hit] = rec.search("readable")
        assert hit.retrieval_id is not None
        waiting = rec.explain(hit.retrieval_id)  # not written yet
        assert list(other.execute("SELECT id FROM retrievals")) == []
        other.execute("ROLLBACK")

        other.close()

        assert rec.ingest("can be written now").content == "can be written now"
    with open_memory(path, words_only=True) as rec:
        assert rec.explain(hit.retrieval_id) == waiting


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_store_opened_before_a_fork_is_refused_in_the_child(rec: LocalRecollect) -> None:
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            rec.search("anything")
            os.write(writable, b"no error")
        except StoreClosed as error:
            os.write(writable, str(error).encode())
        finally:
            os._exit(0)
    os.close(writable)
    os.waitpid(pid, 0)
    message = os.read(readable, 1000).decode()
    os.close(readable)

    assert "forked" in message
    assert rec.ingest("the parent goes on").content == "the parent goes on"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_temporary_memory_closed_in_a_forked_child_stays_with_its_parent() -> None:
    with open_memory(Path(":memory:"), words_only=True) as rec:
        rec.ingest("still here")
        pid = os.fork()
        if pid == 0:
            rec.close()
            os._exit(0)
        os.waitpid(pid, 0)

        assert Path(rec.maintenance.status().path).exists()
        assert len(rec.search("still")) == 1
