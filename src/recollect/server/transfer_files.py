"""
Files that a server sends or receives, in a private folder until the request ends.

The server of an encrypted store writes uploads encrypted with its key, and overwrites what is
readable before it is deleted.
"""

import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Self

from recollect.app.local_recollect import LocalRecollect
from recollect.service.export_reader import Decrypt
from recollect.store.protocol import StoreFile
from recollect.store.sqlite.encryption import HEAD_BYTES, is_encrypted_head
from recollect.store.sqlite.replace_file import overwrite_file


class TransferFolder:
    """A folder that only this account can enter, until `close`."""

    def __init__(self, rec: LocalRecollect) -> None:
        self._is_of_encrypted_store = _encrypted_file_of(rec) is not None
        self._folder = tempfile.TemporaryDirectory(prefix="recollect-")
        self.path = Path(self._folder.name)

    def close(self) -> None:
        """Remove the folder; if the store is encrypted, its files are overwritten first."""
        for path in self.path.iterdir() if self._is_of_encrypted_store else ():
            with path.open("r+b") as file:
                overwrite_file(file.fileno())
        self._folder.cleanup()


class UploadedFile:
    """Writes what a client uploads to *path*. Use it as a context."""

    def __init__(self, path: Path, rec: LocalRecollect) -> None:
        self._path = path
        self._encrypted_store = _encrypted_file_of(rec)
        self._head = b""  # until it is long enough to see whether the client has encrypted it
        self._context: AbstractContextManager[IO[bytes]] | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._file is None and error[0] is None:
            self._open()
        if self._context is not None:
            self._context.__exit__(*error)

    def write(self, chunk: bytes) -> None:
        """Add *chunk* to the file."""
        if self._file is not None:
            self._file.write(chunk)
            return
        self._head += chunk
        if len(self._head) >= HEAD_BYTES:
            self._open()

    def _open(self) -> None:
        # An encrypted export is stored as it came: it is decrypted once.
        is_plain = not is_encrypted_head(self._head[:HEAD_BYTES])
        if self._encrypted_store is not None and is_plain:
            self._context = self._encrypted_store.write_encrypted(self._path)
        else:
            self._context = self._path.open("wb")
        self._file = self._context.__enter__()
        self._file.write(self._head)


def read_encrypted_of(rec: LocalRecollect) -> Decrypt | None:
    """Return what decrypts files of an encrypted store, None if the store is not encrypted."""
    file = _encrypted_file_of(rec)
    return None if file is None else file.read_encrypted


def _encrypted_file_of(rec: LocalRecollect) -> StoreFile | None:
    file = rec.engine.services.store.file
    return file if file is not None and file.is_encrypted else None
