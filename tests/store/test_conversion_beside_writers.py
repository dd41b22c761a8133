"""Programs that open and write a store while it is encrypted lose nothing that they were told."""

import subprocess
import sys
from pathlib import Path

import pytest

from recollect import LocalRecollect, StoreBusy
from recollect.app.store_encryption import decrypt_store, encrypt_store, rekey_store
from recollect.config import Settings

pytestmark = pytest.mark.kill
WRITER = """
import sys
from recollect import LocalRecollect
from recollect.config import Settings
path, key, name = sys.argv[1:]
settings = Settings(db=path, embedding_backend="none", key_file=key, keyring=False)
for number in range(25):
    with LocalRecollect(settings) as rec:  # as short as a hook
        print(rec.ingest(f"{name} wrote {number}.", scope="global").id, flush=True)
"""


def test_no_acknowledged_write_is_lost_while_the_store_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.store.sqlite.replace_file.LOCK_MS", 500)
    key = tmp_path / "store.key"
    settings = Settings(
        db=str(tmp_path / "memory.db"), embedding_backend="none", key_file=str(key), keyring=False
    )
    LocalRecollect(settings).close()
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, settings.db, str(key), name], stdout=subprocess.PIPE
        )
        for name in ("Ana", "Ben")
    ]
    replaced = 0
    commands = [encrypt_store, rekey_store, decrypt_store]
    while any(writer.poll() is None for writer in writers):
        try:
            commands[replaced % 3](settings)
            replaced += 1
        except StoreBusy:
            continue  # a writer has it open: nothing was changed
    outputs = [writer.communicate()[0].decode() for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0]
    assert replaced > 3
    ids = [line for output in outputs for line in output.split()]
    assert len(ids) == 50
    with LocalRecollect(settings) as rec:
        assert {rec.memories.get(memory_id).id for memory_id in ids} == set(ids)
        assert rec.maintenance.verify().ok
