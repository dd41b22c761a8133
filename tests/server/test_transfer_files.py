"""Uploads in the temporary folder of a server: encrypted if its store is, whatever they hold."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.app.store_encryption import encrypt_store
from recollect.server.transfer_files import TransferFolder, UploadedFile, read_encrypted_of
from recollect.store.sqlite.encryption import is_encrypted
from synced_devices import settings_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    settings = settings_of(tmp_path, "a")
    settings.db_path.parent.mkdir()
    LocalRecollect(settings).close()
    encrypt_store(settings)
    return tmp_path


@pytest.mark.parametrize("chunks", [[], [b"z"], [b"zeb", b"ra " * 1_000, b"end"]])
def test_an_upload_to_an_encrypted_store_is_encrypted(folder: Path, chunks: list[bytes]) -> None:
    with (
        LocalRecollect(settings_of(folder, "a")) as rec,
        closing(TransferFolder(rec)) as transfer,
    ):
        path = transfer.path / "upload"
        write(path, rec, chunks)
        stored, decrypt = path.read_bytes(), read_encrypted_of(rec)
        assert decrypt is not None
        with decrypt(path) or path.open("rb") as uploaded:
            content = uploaded.read()

    assert content == b"".join(chunks)
    assert b"zebra" not in stored
    assert not path.exists()


def write(path: Path, rec: LocalRecollect, chunks: Iterable[bytes]) -> None:
    with UploadedFile(path, rec) as file:
        for chunk in chunks:
            file.write(chunk)


def test_an_encrypted_export_is_kept_as_it_was_sent(folder: Path) -> None:
    with LocalRecollect(settings_of(folder, "a")) as rec:
        rec.export(folder / "all.jsonl")
        sent = (folder / "all.jsonl").read_bytes()
        write(folder / "upload", rec, [sent[:10], sent[10:]])

    assert (folder / "upload").read_bytes() == sent


def test_an_upload_to_a_store_that_is_not_encrypted_is_kept_as_it_was_sent(folder: Path) -> None:
    with LocalRecollect(replace(settings_of(folder, "a"), db=str(folder / "plain.db"))) as rec:
        write(folder / "upload", rec, [b"zebra"])
        assert read_encrypted_of(rec) is None

    assert (folder / "upload").read_bytes() == b"zebra"
    assert not is_encrypted(folder / "upload")


def test_an_upload_that_breaks_off_leaves_no_file(folder: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"zebra" * 100
        raise ConnectionError

    with LocalRecollect(settings_of(folder, "a")) as rec, pytest.raises(ConnectionError):
        write(folder / "upload", rec, chunks())

    assert not (folder / "upload").exists()
