"""An encrypted store leaves no word of what it holds in any file: database, log, backup, sync."""

from dataclasses import replace
from pathlib import Path

import pytest

from injection_doors import read_corpus
from recollect import LocalRecollect
from recollect.app.store_encryption import encrypt_store
from recollect.store.sqlite.encryption import is_encrypted
from synced_devices import settings_of

pytestmark = pytest.mark.fuzz


def test_no_word_of_the_injection_corpus_is_in_a_file_of_an_encrypted_store(tmp_path: Path) -> None:
    phrases = sorted({phrase for vector in read_corpus() for phrase in vector.planted})
    settings = replace(settings_of(tmp_path, "a"), backup_folder=str(tmp_path / "backups"))
    LocalRecollect(settings).close()
    encrypt_store(settings)

    with LocalRecollect(settings) as rec:
        rec.sync.init(str(tmp_path / "shared"))
        rec.capture_session([{"role": "user", "content": phrase} for phrase in phrases])
        rec.memories.ingest_many([{"content": phrase} for phrase in phrases[:200]])
        rec.drain()
        rec.sync.run()
        rec.maintenance.backup()
        rec.export(tmp_path / "export.jsonl")
        while_open = files_with_phrases(tmp_path, phrases)
        found = rec.search(phrases[0])

    assert is_encrypted(settings.db_path)
    assert found
    assert len(phrases) > 200
    assert while_open == files_with_phrases(tmp_path, phrases) == []
    assert len(list(tmp_path.rglob("*.sync"))) >= 1


def files_with_phrases(folder: Path, phrases: list[str]) -> list[str]:
    """Return the files below *folder* that hold one of *phrases*, or a long word of one."""
    words = {word.encode() for phrase in phrases for word in phrase.split() if len(word) > 7}
    needles = words | {phrase.encode() for phrase in phrases}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path.name for path in files if any(word in path.read_bytes() for word in needles)]
