"""
A file of any content, encrypted and authenticated with the key of a store.

The content is in numbered chunks in an encrypted database: the cipher of the store also serves
exports, and nothing else has to be trusted. A chunk that is missing is an error, and so is a byte
that was changed.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import apsw

from recollect.errors import ImportRefused
from recollect.store.key_places import KeyPlaces
from recollect.store.sqlite.connection import translate_errors
from recollect.store.sqlite.encryption import apply_key, find_key, is_encrypted
from recollect.store.sqlite.partial_file import partial_file
from recollect.store.store_key import StoreKey

CHUNK_BYTES = 1_000_000
_SCHEMA = "CREATE TABLE chunks (number INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT"


@contextmanager
def write_encrypted(path: Path, key: StoreKey) -> Iterator[IO[bytes]]:
    """Yield a file to write to; *path* holds its content, encrypted, after the block."""
    with translate_errors(path), partial_file(path) as partial:
        db = apsw.Connection(str(partial))
        try:
            apply_key(db, key)
            db.execute("PRAGMA journal_mode = OFF").fetchall()
            db.execute("BEGIN")
            db.execute(_SCHEMA)
            file = io.BufferedWriter(_ChunkWriter(db), CHUNK_BYTES)
            yield file
            file.flush()
            db.execute("COMMIT")
        finally:
            db.close()


@contextmanager
def read_encrypted(path: Path, keys: KeyPlaces) -> Iterator[IO[bytes]]:
    """Yield the content of a file that `write_encrypted` wrote."""
    key = find_key(path, keys)
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        apply_key(db, key)
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema")]
        if names != ["chunks"]:
            raise ImportRefused(f"{path} is a store, not an export; use it with --db {path}")
        yield io.BufferedReader(_ChunkReader(db), CHUNK_BYTES)
    except apsw.Error as error:
        raise ImportRefused(f"{path} was altered or damaged ({error}); nothing was read") from error
    finally:
        db.close()


def is_encrypted_file(path: Path) -> bool:
    """Return whether *path* is encrypted: an export, or a store."""
    return path.is_file() and is_encrypted(path)


class _ChunkWriter(io.RawIOBase):
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        chunk = bytes(content)  # type: ignore[call-overload]  # a buffer
        self._db.execute("INSERT INTO chunks (content) VALUES (?)", (chunk,))
        return len(chunk)


class _ChunkReader(io.RawIOBase):
    def __init__(self, db: apsw.Connection) -> None:
        rows = db.execute("SELECT number, content FROM chunks ORDER BY number")
        self._chunks = enumerate(rows, start=1)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # a writable buffer
        if not self._rest:
            expected, (number, self._rest) = next(self._chunks, (0, (0, b"")))
            if number != expected:
                raise OSError(f"part {expected} is missing")
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
