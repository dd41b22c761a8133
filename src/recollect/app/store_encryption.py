"""
Encrypt a store, change its key, and decrypt it.

Not verbs of an open store: every connection to the file must be closed, and a key has no place in
a request to a server. The new key is saved before the store is written under it, so a process that
is killed at any moment leaves a store that one of the saved keys opens. An old key stays in the key
file or the keyring, because backups and exports need it; one that a passphrase wraps is removed
after the store is written.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.app.local_recollect import LocalRecollect, key_places
from recollect.config import Settings
from recollect.domain.encryption_report import EncryptionReport, FileEncryption
from recollect.errors import InvalidInput, NotFound
from recollect.store.key_places import (
    KeyPlace,
    KeyPlaces,
    read_wrapped_keys,
    write_wrapped_keys,
)
from recollect.store.sqlite.encryption import CIPHER, find_key, is_encrypted
from recollect.store.sqlite.migrate import snapshots
from recollect.store.sqlite.replace_file import change_key
from recollect.store.store_key import StoreKey, unwrap_key, wrap_key


def encrypt_store(
    settings: Settings, place: KeyPlace = KeyPlace.FILE, *, new_passphrase: str = ""
) -> EncryptionReport:
    """Encrypt the store of *settings* and its snapshots with a new key, saved in *place*."""
    path = _existing_store(settings)
    if is_encrypted(path):
        raise InvalidInput(f"{path} is encrypted already; `recollect rekey` changes its key")
    return _convert(settings, path, None, place, new_passphrase=new_passphrase)


def rekey_store(
    settings: Settings, place: KeyPlace = KeyPlace.FILE, *, new_passphrase: str = ""
) -> EncryptionReport:
    """
    Rewrite an encrypted store under a new key, saved in *place*.

    *settings* opens the store as it is; a new key is wrapped by *new_passphrase*, if given.
    """
    path = _existing_store(settings)
    if not is_encrypted(path):
        raise InvalidInput(f"{path} is not encrypted; `recollect encrypt` encrypts it")
    key = find_key(path, key_places(settings))
    return _convert(settings, path, key, place, new_passphrase=new_passphrase)


def decrypt_store(settings: Settings) -> EncryptionReport:
    """Rewrite an encrypted store and its snapshots without encryption."""
    path = _existing_store(settings)
    keys = key_places(settings)
    key = find_key(path, keys)
    if key is None:
        raise InvalidInput(f"{path} is not encrypted")
    keys = _with_keys_of(path, keys)
    copies = _change_keys(path, key, None, keys)
    write_wrapped_keys(path, [])
    return EncryptionReport(path=str(path), is_encrypted=False, snapshots=copies)


def encrypted_files(path: Path) -> list[FileEncryption]:
    """Return which files of a store are encrypted: the database, its snapshots and rescued copy."""
    rescued = path.with_name(f"{path.stem}.rescued{path.suffix}")
    files = [path, *snapshots(path), *([rescued] if rescued.exists() else [])]
    return [FileEncryption(path=str(file), is_encrypted=is_encrypted(file)) for file in files]


def _convert(
    settings: Settings,
    path: Path,
    old: StoreKey | None,
    place: KeyPlace,
    *,
    new_passphrase: str = "",
) -> EncryptionReport:
    keys = key_places(settings)
    with LocalRecollect(settings):
        pass  # migrates an older store, and refuses one that is damaged or of another program
    new = StoreKey.generate()
    new_keys = replace(keys, passphrase=new_passphrase or keys.passphrase)
    keys = _with_keys_of(path, keys)
    opened, unopened = _wrapped_keys(path, keys.passphrase)

    def save_key() -> None:
        # Backups and exports need the keys that only the old passphrase opens: the oldest first.
        for key in [*opened, new] if place is not KeyPlace.PASSPHRASE else [new]:
            new_keys.save(path, key, place)

    copies = _change_keys(path, old, new, keys, save_key=save_key)
    if place is KeyPlace.PASSPHRASE:
        wrapped = [wrap_key(key, new_keys.passphrase) for key in [new, *opened[::-1]]]
        write_wrapped_keys(path, [*wrapped, *unopened])
    elif opened:
        write_wrapped_keys(path, unopened)  # the others are in the new place
    return EncryptionReport(
        path=str(path),
        is_encrypted=True,
        cipher=CIPHER,
        key_id=new.id,
        key_place=new_keys.describe_place(path, place),
        recovery_key=new.text,
        snapshots=copies,
    )


def _change_keys(
    path: Path,
    old: StoreKey | None,
    new: StoreKey | None,
    keys: KeyPlaces,
    *,
    save_key: Callable[[], object] = lambda: None,
) -> int:
    """
    Rewrite a store and its snapshots under another key; return how many snapshots it has.

    The store is locked first, then each snapshot, then *save_key* is called, and only then the
    first byte is written: if one of the files is open in another program, none is changed. The
    snapshots are written before the store: a plain copy must not outlive the plain store.
    """
    count = 0

    def convert_snapshots() -> None:
        nonlocal count
        copies = [(copy, find_key(copy, keys)) for copy in snapshots(path)]
        count = len(copies)
        convert_next(copies)

    def convert_next(copies: list[tuple[Path, StoreKey | None]]) -> None:
        if not copies:
            save_key()
            return
        (copy, key), *rest = copies
        change_key(copy, key, new, prepare=lambda: convert_next(rest))

    change_key(path, old, new, prepare=convert_snapshots)
    return count


def _wrapped_keys(path: Path, passphrase: str) -> tuple[list[StoreKey], list[Mapping[str, Any]]]:
    """Return the wrapped keys that *passphrase* opens, oldest first, and the entries of others."""
    opened: list[StoreKey] = []
    unopened: list[Mapping[str, Any]] = []
    for entry in read_wrapped_keys(path)[::-1]:
        key = unwrap_key(entry, passphrase) if passphrase else None
        if key is None:
            unopened.insert(0, entry)
        elif key not in opened:
            opened.append(key)
    return opened, unopened


def _with_keys_of(path: Path, keys: KeyPlaces) -> KeyPlaces:
    """Return *keys* with those that are wrapped beside the store: its copies have the same."""
    return replace(keys, known=tuple(keys.candidates(path)))


def _existing_store(settings: Settings) -> Path:
    path = settings.db_path
    if not path.exists():
        raise NotFound(f"there is no store at {path}; check --db or RECOLLECT_DB")
    return path
