"""A store that cannot be written is read, searched and exported; a write says why it is refused."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from support import file_store, open_memory

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX"),
]

# Root may write everywhere, unless it gives this right up.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'

READ_EVERYTHING = """
import json, sys
from pathlib import Path
import recollect

path, export = sys.argv[1:]
result = {}
with recollect.open(path, embedding_backend="none") as rec:
    result["found"] = [hit.memory.content for hit in rec.search("short answers")]
    result["context"] = "short" in rec.context_for("short answers").text
    result["problems"] = len(rec.maintenance.verify().problems)
    result["rows"] = rec.export(export)
    result["read_only"] = rec.maintenance.status().read_only
    result["jobs"] = rec.drain()
    try:
        rec.ingest("Something new.")
    except recollect.StoreReadOnly as error:
        result["refused"] = str(error)
print(json.dumps(result))
"""


@pytest.fixture
def read_only(path: Path) -> Iterator[Path]:
    """Return a store in a folder in which nothing can be written."""
    with open_memory(path, words_only=True) as rec:
        rec.ingest("Answers should be short.")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    yield path
    path.parent.chmod(0o755)


def test_a_store_without_permission_to_write_is_read_searched_and_exported(
    read_only: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = _files(read_only)

    result = _read_everything(_without_rights(), read_only, tmp_path_factory.mktemp("out"))

    _check_reading(result, read_only)
    assert _files(read_only) == before


def test_a_store_on_a_read_only_mount_is_read_searched_and_exported(
    path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with open_memory(path, words_only=True) as rec:
        rec.ingest("Answers should be short.")
    mount = ["unshare", "-m", "sh", "-c", MOUNT, str(path.parent)]
    _skip_unless_it_runs(mount)

    result = _read_everything(mount, path, tmp_path_factory.mktemp("out"))

    _check_reading(result, path)


def test_what_is_only_in_the_write_ahead_log_is_read_too(
    path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with open_memory(path, words_only=True) as rec:
        file_store(rec)._tables.connection.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        rec.ingest("Answers should be short.")
    path.with_name("memory.db-shm").unlink(missing_ok=True)
    assert path.with_name("memory.db-wal").stat().st_size > 0
    path.parent.chmod(0o555)

    try:
        out = tmp_path_factory.mktemp("out")
        result = _read_everything(_without_rights(), path, out)
    finally:
        path.parent.chmod(0o755)

    _check_reading(result, path)


def test_the_commands_say_that_a_store_is_read_only_and_answer(read_only: Path) -> None:
    command = [*_without_rights(), sys.executable, "-m", "recollect", "--db", str(read_only)]

    status, add, search = (
        subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        for arguments in (["status"], ["add", "new"], ["search", "short answers"])
    )

    assert status.returncode == 0
    assert "is read-only" in status.stdout
    assert add.returncode == 1
    assert add.stderr.startswith("Error: ")
    assert "is read-only" in add.stderr
    assert "Traceback" not in add.stderr
    assert search.returncode == 0
    assert "Answers should be short." in search.stdout


def test_an_old_store_that_cannot_be_migrated_says_so(read_only: Path) -> None:
    read_only.parent.chmod(0o755)
    read_only.chmod(0o644)
    db = apsw.Connection(str(read_only))
    db.execute("DELETE FROM migrations WHERE number = (SELECT max(number) FROM migrations)")
    db.close()
    read_only.chmod(0o444)
    read_only.parent.chmod(0o555)
    command = [*_without_rights(), sys.executable, "-m", "recollect", "--db", str(read_only)]

    status = subprocess.run([*command, "status"], capture_output=True, text=True, check=False)

    assert status.returncode == 1
    assert "older schema" in status.stderr
    assert "copy it to a folder" in status.stderr


def _read_everything(prefix: list[str], path: Path, out: Path) -> dict[str, object]:
    arguments = [sys.executable, "-c", READ_EVERYTHING, str(path), str(out / "export.jsonl")]
    done = subprocess.run([*prefix, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def _check_reading(result: dict[str, object], path: Path) -> None:
    assert result["found"] == ["Answers should be short."]
    assert result["context"] is True
    assert result["problems"] == 0
    # The source, its event, the evidence, the memory, its change, and that it is not compared yet.
    assert result["rows"] == 6
    assert result["jobs"] == 0
    assert str(result["read_only"]).startswith(f"{path} is read-only")
    assert "nothing was written" in str(result["refused"])


def _without_rights() -> list[str]:
    """Return the start of a command that may not write where permissions forbid it."""
    if os.geteuid() != 0:
        return []
    _skip_unless_it_runs(WITHOUT_RIGHTS)
    return WITHOUT_RIGHTS


def _skip_unless_it_runs(prefix: list[str]) -> None:
    if shutil.which(prefix[0]) is None:
        pytest.skip(f"{prefix[0]} is not installed")
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip(f"{prefix[0]} is not permitted here")


def _files(path: Path) -> set[str]:
    return {entry.name for entry in path.parent.iterdir()}
