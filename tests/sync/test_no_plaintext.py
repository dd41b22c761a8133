"""
An encrypted store leaves no word of what it holds in any file.

Looked at are the database, its log, snapshots, backups, exports, files of sync, uploads to a
server, and whatever is put into the folder for temporary files: nothing is deleted from there.
"""

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from in_process_server import LOCAL
from injection_doors import read_corpus
from recollect import LocalRecollect
from recollect.app.restore_backup import preview_restore, restore_backup
from recollect.app.store_encryption import encrypt_store, rekey_store
from recollect.config import Settings
from recollect.server.web_app import web_app
from recollect.store.sqlite.encryption import is_encrypted
from synced_devices import settings_of

SURE_LETTERS = 6  # random bytes hold no such word; of five letters they may hold one
WORD = re.compile(rb"[A-Za-z]{5,}")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, from which nothing is deleted."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for name in ("TMPDIR", "SQLITE_TMPDIR"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setattr(shutil, "rmtree", unless_below(folder, shutil.rmtree))
    monkeypatch.setattr(Path, "unlink", unless_below(folder, Path.unlink))
    return folder


def unless_below(folder: Path, delete: Callable[..., None]) -> Callable[..., None]:
    def run(path: Any, *arguments: Any, **options: Any) -> None:
        if not Path(path).is_relative_to(folder):
            delete(path, *arguments, **options)

    return run


def encrypted_store(folder: Path, name: str) -> Settings:
    """Make an empty store that is encrypted, and return its settings."""
    settings = replace(settings_of(folder, name), backup_folder=str(folder / "backups"))
    settings.db_path.parent.mkdir()
    LocalRecollect(settings).close()
    encrypt_store(settings)
    return settings


def use_everything(folder: Path, phrases: list[str]) -> None:
    """Store *phrases* on two devices, and let every file be written that one can write."""
    here, there = encrypted_store(folder, "here"), encrypted_store(folder, "there")
    with LocalRecollect(here) as rec, LocalRecollect(there) as other:
        rec.agents.create("coder")
        rec.capture_session([{"role": "user", "content": phrase} for phrase in phrases])
        rec.memories.ingest_many([{"content": phrase} for phrase in phrases[:300]])
        rec.archive.insert("coder", "\n".join(phrases[:50]))
        rec.drain()
        assert rec._store.file is not None
        rec._store.file.snapshot("bulk")
        backup = Path(rec.maintenance.backup().backup.path)
        exports = write_exports(rec, folder)
        for device in (rec, other, rec, other):
            device.sync.init(str(folder / "shared"))
            device.sync.run()
        preview_restore(here, backup, here.db_path)
        for path in exports:
            other.import_(path)
            other.import_(path, trust=True)
        upload(other, exports, folder / "temporary")
        copy_files(folder)
    restore_backup(here, backup, folder / "restored.db")
    rekey_store(there)
    read_damaged(here)


def write_exports(rec: LocalRecollect, folder: Path) -> list[Path]:
    rec.engine.export_exchange(folder / "exchange.json")
    paths = [folder / name for name in ("all.jsonl", "all.jsonl.gz", "synced.jsonl")]
    for path in paths:
        rec.export(path, synced=path.stem == "synced")
    return paths


def upload(rec: LocalRecollect, exports: list[Path], temporary: Path) -> None:
    """Send readable and encrypted files to a server of the store, and fetch them again."""
    app = web_app(rec, Settings(requests_per_second=0))
    client = TestClient(app, base_url=LOCAL)
    plain = client.get("/api/export?plain=true").raise_for_status().content
    packed = client.get("/api/export?plain=true&compress=true").raise_for_status().content
    for content in (plain, packed, *(path.read_bytes() for path in exports)):
        client.post("/api/import?trust=true", content=content).raise_for_status()
    agents = client.get("/v1/agents/").raise_for_status().json()
    assert client.get(f"/v1/agents/{agents[0]['id']}/export").status_code == 422

    before = set(temporary.rglob("*"))
    agent = client.get("/api/agents/coder/export?plain=true").raise_for_status().content
    for path in set(temporary.rglob("*")) - before:  # readable by request, and overwritten
        assert path.is_dir() or not path.read_bytes().strip(b"\0")
    client.post("/api/agents/import?name=second", content=agent).raise_for_status()
    files: dict[str, tuple[str | None, bytes]] = {
        "file": ("agent.af", agent),
        "name": (None, b"third"),
    }
    client.post("/v1/agents/import", files=files).raise_for_status()


def copy_files(folder: Path) -> None:
    """Copy what is there while the stores are open: write-ahead logs are emptied later."""
    (folder / "copies").mkdir()
    for number, path in enumerate(sorted(folder.glob("*here/*"))):
        shutil.copy(path, folder / "copies" / f"{number}")


def read_damaged(settings: Settings) -> None:
    """Open the store when one of its pages is damaged: what can be read is copied."""
    content = bytearray(settings.db_path.read_bytes())
    content[len(content) // 2] ^= 1
    settings.db_path.write_bytes(content)
    with LocalRecollect(settings) as rec:
        assert not rec.maintenance.verify().ok


def words_of(texts: list[str]) -> set[bytes]:
    return {word.lower() for text in texts for word in WORD.findall(text.encode())}


def vocabulary(folder: Path) -> set[bytes]:
    """Return the words in the readable files of stores that hold no word: keys, manifests."""
    readable = [path for path in folder.rglob("*") if path.suffix in (".json", ".keys", ".key")]
    names = [str(path) for path in folder.rglob("*")]  # manifests name files
    return words_of([path.read_text() for path in readable if not is_encrypted(path)] + names)


def files_with_words(folder: Path, words: set[bytes]) -> dict[str, list[bytes]]:
    """Return the files below *folder* that hold some of *words*, in any case."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            held = words.intersection(WORD.findall(path.read_bytes().lower()))
            if len(held) > 1 or any(len(word) >= SURE_LETTERS for word in held):
                found[str(path.relative_to(folder))] = sorted(held)
    return found


@pytest.mark.fuzz
def test_no_word_of_the_injection_corpus_is_in_a_file_of_an_encrypted_store(
    tmp_path: Path, temporary: Path
) -> None:
    phrases = sorted({phrase for vector in read_corpus() for phrase in vector.planted})
    use_everything(tmp_path, ["Ok."])  # no word of five letters
    known = vocabulary(tmp_path)
    for path in [path for path in tmp_path.iterdir() if path != temporary]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    use_everything(tmp_path, phrases)

    words = words_of(phrases) - known
    assert len(words) > 600
    assert files_with_words(tmp_path, words) == {}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len([path for path in files if path.suffix == ".sync"]) > 0
    assert len([path for path in files if path.is_relative_to(temporary)]) > 10
    assert any("before-bulk" in path.name for path in files)


def test_the_search_for_words_finds_them_in_a_store_that_is_not_encrypted(tmp_path: Path) -> None:
    settings = replace(settings_of(tmp_path, "plain"), db=str(tmp_path / "plain.db"))
    with LocalRecollect(settings) as rec:
        rec.ingest("Zebra in Graz, quagga in Bern.", scope="global")

        found = files_with_words(tmp_path, {b"zebra", b"quagga", b"heron"})

    assert found["plain.db-wal"] == [b"quagga", b"zebra"]
