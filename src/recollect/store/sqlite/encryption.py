"""
Encrypted database files: recognise one, find its key, and copy a database under another key.

The cipher is AEGIS-256 of SQLite3 Multiple Ciphers: every page is encrypted and authenticated, in
the file, in the write-ahead log and in copies. Its first 16 bytes are a random salt; the bytes that
describe the pages stay readable, and by these an encrypted file is recognised.

This is the only file that knows how a key is given to SQLite. `find_key` tries the keys of
`KeyPlaces` on the first page of the file, without locks.
"""

import time
import urllib.parse
from pathlib import Path

import apsw

from recollect.errors import StoreKeyMissing
from recollect.store.key_places import KeyPlaces
from recollect.store.store_key import StoreKey

CIPHER = "aegis"
RESERVED_BYTES = 64  # at the end of each page: nonce and authentication tag
_MAGIC = b"SQLite format 3\0"
# Page size 4096, two format versions, reserved bytes, payload fractions.
_PAGE_SIZE, _FRACTIONS = b"\x10\x00", bytes([RESERVED_BYTES, 64, 32, 32])
HEAD_BYTES = 24
_PROBES = 3  # another process may write the first page at the moment
_PROBE_PAUSE_S = 0.02


def is_encrypted(path: Path) -> bool:
    """Return whether *path* is a database that is encrypted by Recollect."""
    return is_encrypted_head(_head(path))


def is_encrypted_head(head: bytes) -> bool:
    """Return whether a file that begins with *head* is encrypted by Recollect."""
    return (
        len(head) >= HEAD_BYTES
        and head[:16] != _MAGIC
        and head[16:18] == _PAGE_SIZE
        and head[20:24] == _FRACTIONS
    )


def apply_key(db: apsw.Connection, key: StoreKey | None) -> None:
    """Let *db*, which has read nothing yet, encrypt and decrypt with *key*."""
    if key is not None:
        db.execute(f"PRAGMA cipher = '{CIPHER}'")
        db.execute(f"PRAGMA key = 'raw:{key.raw.hex()}'")
        db.execute("PRAGMA temp_store = MEMORY")  # what does not fit a page is not written either


def copy_database(db: apsw.Connection, target: Path, key: StoreKey | None) -> None:
    """Write the content of *db*, opened for `SQLITE_OPEN_URI`, to *target* under *key*."""
    query = "key=" if key is None else f"cipher={CIPHER}&hexkey={_hex_of_raw_key(key)}"
    name = urllib.parse.quote(str(target))
    try:
        db.execute("VACUUM INTO ?", (f"file:{name}?{query}",))
    except apsw.Error as error:
        raise _without_key(error, query, target) from None


def _without_key(error: apsw.Error, query: str, target: Path) -> apsw.Error:
    """Return *error*, whose message may name the target with its key, without the key."""
    if query not in str(error):
        return error
    clean = type(error)(f"unable to open database: {target}")
    for name in ("result", "extendedresult"):
        setattr(clean, name, getattr(error, name, 0))
    return clean


def find_key(path: Path, keys: KeyPlaces) -> StoreKey | None:
    """Return the key of the file *path*; None if it is not encrypted."""
    if not is_encrypted(path):
        return None
    for attempt in range(_PROBES):
        for key in keys.candidates(path):
            if opens(path, key):
                return key
        if attempt < _PROBES - 1:
            time.sleep(_PROBE_PAUSE_S)
    raise StoreKeyMissing(
        f"{path} is encrypted and no key opens it. Keys were looked for in three places: "
        f"{keys.describe(path)}. Put the recovery key into the key file (mode 600), or set the "
        "passphrase. If a key is the right one, the first page of the file is damaged: restore a "
        "backup"
    )


def opens(path: Path, key: StoreKey) -> bool:
    """Return whether *key* decrypts the first page of *path*."""
    uri = f"file:{urllib.parse.quote(str(path))}?immutable=1"
    db = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        apply_key(db, key)
        db.execute("PRAGMA schema_version").fetchall()
    except apsw.NotADBError:
        return False
    except apsw.Error:
        return True  # the page was decrypted, and is damaged otherwise
    finally:
        db.close()
    return True


def _head(path: Path) -> bytes:
    """Return the first `HEAD_BYTES` bytes of *path*, fewer if it is shorter or does not exist."""
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
    try:
        # By SQLite's file layer: closing the file by other means would release the locks of this
        # process's connections to it.
        file = apsw.VFSFile("", str(path), [flags, 0])
    except apsw.Error:
        return b""
    try:
        return file.xRead(HEAD_BYTES, 0)
    except apsw.Error:
        return b""
    finally:
        file.xClose()


def _hex_of_raw_key(key: StoreKey) -> str:
    return f"raw:{key.raw.hex()}".encode().hex()
