"""
The three places of a store's key: a key file, the OS keyring, and a passphrase.

They are asked in this order, and the next one only if no key of the one before fits: a key file
takes microseconds, a keyring milliseconds, a passphrase about 100 ms. Each may hold several keys,
because backups and copies may have an older one; the newest is tried first.

The wrapped keys for a passphrase are in `<store>.keys` beside the store. Nothing here opens a
database.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from recollect.errors import InvalidInput, StoreUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.store.store_key import StoreKey, parse_keys, unwrap_key, wrap_key

KEYRING_SERVICE, KEYRING_USER = "recollect", "store keys"
MAX_FILE_BYTES = 1_000_000


class KeyPlace(StrEnum):
    """A place where a key can be."""

    FILE = "file"
    KEYRING = "keyring"
    PASSPHRASE = "passphrase"


@dataclass(frozen=True, kw_only=True)
class KeyPlaces:
    """Where the keys of this user are."""

    key_file: Path | None = None
    uses_keyring: bool = True
    passphrase: str = field(default="", repr=False)
    known: tuple[StoreKey, ...] = field(default=(), repr=False)  # found before, tried first

    def candidates(self, store: Path) -> Iterator[StoreKey]:
        """Yield the keys that may open *store*, in the order of the places."""
        yield from self.known
        if self.key_file is not None:
            yield from read_key_file(self.key_file)
        if self.uses_keyring:
            yield from parse_keys(_read_keyring()[0])
        if self.passphrase:
            for wrapped in read_wrapped_keys(store):
                if (key := unwrap_key(wrapped, self.passphrase)) is not None:
                    yield key

    def describe(self, store: Path) -> str:
        """Return what was found in each of the three places."""
        return f"{self._describe_file()}; {self._describe_keyring()}; {self._describe_wrap(store)}"

    def _describe_file(self) -> str:
        if self.key_file is None:
            return "(1) no key file is configured"
        if not self.key_file.exists():
            return f"(1) the key file {self.key_file} does not exist"
        return f"(1) the key file {self.key_file}: {_count(read_key_file(self.key_file))}"

    def _describe_keyring(self) -> str:
        if not self.uses_keyring:
            return "(2) the OS keyring is not used (setting keyring)"
        text, problem = _read_keyring()
        return f"(2) the OS keyring: {problem or _count(parse_keys(text))}"

    def _describe_wrap(self, store: Path) -> str:
        file = wrapped_keys_file(store)
        if not read_wrapped_keys(store):
            return f"(3) no passphrase: {file} has no wrapped key"
        if not self.passphrase:
            return f"(3) {file} needs a passphrase and RECOLLECT_PASSPHRASE is not set"
        return f"(3) the passphrase does not open {file}"

    def save(self, store: Path, key: StoreKey, place: KeyPlace) -> None:
        """Add *key* to a place, durably, before a store is encrypted."""
        if place is KeyPlace.FILE:
            if self.key_file is None:
                raise InvalidInput("no key file is configured; set key_file")
            if key not in read_key_file(self.key_file):
                _append_line(self.key_file, f"{key.text}  # {key.id} {store}")
        elif place is KeyPlace.KEYRING:
            _add_to_keyring(key)
        else:
            write_wrapped_keys(store, [wrap_key(key, self.passphrase), *read_wrapped_keys(store)])

    def describe_place(self, store: Path, place: KeyPlace) -> str:
        """Return where `save` puts a key."""
        if place is KeyPlace.FILE:
            return str(self.key_file)
        if place is KeyPlace.KEYRING:
            return f"OS keyring ({KEYRING_SERVICE})"
        return str(wrapped_keys_file(store))


def wrapped_keys_file(store: Path) -> Path:
    """Return the file beside *store* that holds its wrapped keys."""
    return store.with_name(f"{store.name}.keys")


def read_wrapped_keys(store: Path) -> list[Mapping[str, Any]]:
    """Return the wrapped keys of *store*; none if it has no such file."""
    path = wrapped_keys_file(store)
    try:
        if not path.exists():
            return []
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError("it is too large")
        keys = json.loads(path.read_text(encoding="utf-8"))["keys"]
        return [entry for entry in keys if isinstance(entry, dict)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreUnavailable(f"cannot read the wrapped keys in {path}: {error}") from error


def write_wrapped_keys(store: Path, keys: list[Mapping[str, Any]]) -> None:
    """Replace the wrapped keys of *store*; without keys the file is removed."""
    path = wrapped_keys_file(store)
    if not keys:
        path.unlink(missing_ok=True)
        return
    write_private(path, json.dumps({"recollect": "keys", "keys": keys}, indent=1).encode())


def read_key_file(path: Path) -> list[StoreKey]:
    """Return the keys in a key file, newest first; refuse a file that others can read."""
    try:
        status = path.stat()
        if os.name == "posix" and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise StoreUnavailable(
                f"the key file {path} can be read by other users; run: chmod 600 {path}"
            )
        if status.st_size > MAX_FILE_BYTES:
            raise StoreUnavailable(f"{path} is too large to be a key file")
        return parse_keys(path.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreUnavailable(f"cannot read the key file {path}: {error}") from error


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, complete and on disk, or not at all."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        fsync_folder(path.parent)
    except OSError as error:
        raise StoreUnavailable(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def fsync_folder(folder: Path) -> None:
    """Write the names in *folder* to disk, if the operating system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _append_line(path: Path, line: str) -> None:
    earlier = path.read_bytes() if path.exists() else b"# Keys of Recollect stores. Keep a copy.\n"
    write_private(path, earlier.rstrip(b"\n") + b"\n" + line.encode() + b"\n")


def _count(keys: list[StoreKey]) -> str:
    return f"{len(keys)} {'key' if len(keys) == 1 else 'keys'}, none fits"


def _read_keyring() -> tuple[str, str]:
    """Return the text in the keyring, and why it could not be read."""
    keyring = _keyring_package()
    if keyring is None:
        return "", "not available (in the checkout of Recollect: pip install '.[keyring]')"
    try:
        return keyring.get_password(KEYRING_SERVICE, KEYRING_USER) or "", ""
    except Exception as error:  # any back end of any system; a machine without one has other places
        return "", f"failed ({type(error).__name__})"


def _add_to_keyring(key: StoreKey) -> None:
    keyring = _keyring_package()
    if keyring is None:
        raise InvalidInput(
            "the OS keyring needs a package: pip install '.[keyring]' "
            "(in the checkout of Recollect)"
        )
    try:
        text = keyring.get_password(KEYRING_SERVICE, KEYRING_USER) or ""
        if key not in parse_keys(text):
            keyring.set_password(KEYRING_SERVICE, KEYRING_USER, f"{text}\n{key.text}".strip())
    except Exception as error:  # any back end of any system
        raise StoreUnavailable(
            f"the OS keyring did not accept the key ({type(error).__name__}: {error}); "
            "nothing was encrypted. Use a key file or a passphrase instead"
        ) from error


def _keyring_package() -> ModuleType | None:
    try:
        return import_module("keyring")  # optional: the extra `keyring`
    except ImportError:
        return None
