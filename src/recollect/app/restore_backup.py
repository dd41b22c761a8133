"""
Restore a backup into a new file, or in place of the current store.

The copy is checked against its manifest, opened with its key, migrated if it is older, and verified
before it gets its name. A dry run does the same in a private folder, compares the result with the
current store, and deletes it.
"""

import errno
import glob
import hmac
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.app.local_recollect import key_places
from recollect.clock import SystemClock
from recollect.config import Settings
from recollect.domain.backup import Backup, RestoreReport, TableDifference
from recollect.errors import (
    AlreadyExists,
    ImportRefused,
    InvalidInput,
    StoreDamaged,
    StoreFull,
    StoreKeyMissing,
    StoreUnavailable,
)
from recollect.service.backup_manifest import (
    SUFFIX,
    check_copy,
    manifest_of,
    read_manifest,
    signed_part,
    to_backup,
)
from recollect.store.key_places import KeyPlaces, read_wrapped_keys, write_wrapped_keys
from recollect.store.sqlite.compare_stores import compare_rows
from recollect.store.sqlite.encryption import find_key, is_encrypted
from recollect.store.sqlite.partial_file import partial_file, remove_leftovers
from recollect.store.sqlite.replace_file import copy_under_key, replace_and_keep
from recollect.store.sqlite.store import SqliteStore
from recollect.store.store_key import StoreKey, unwrap_key, wrap_key


def restore_backup(
    settings: Settings, backup: Path, to: Path, *, trust: bool = False
) -> RestoreReport:
    """
    Write *backup* as the new store *to*, complete or not at all.

    With *trust* a backup may be plain although the store is encrypted.
    """
    if to.exists():
        raise AlreadyExists(f"{to} exists; choose another name, or --replace the current store")
    remove_leftovers(to)  # of a restore that was killed
    fields, checked = _check(settings, backup, trust=trust)
    key = _key_of(settings, checked, fields)
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    was_compared = _can_compare(settings)
    differences = _differences(settings, checked, key)
    if key is not None:
        _add_wrapped_keys(settings, to, fields, key)
    with partial_file(to) as partial:
        _fill(partial, checked, key, key)
    return RestoreReport(
        backup=checked,
        to=str(to),
        dry_run=False,
        differences=differences,
        was_compared=was_compared,
    )


def replace_by_backup(settings: Settings, backup: Path, *, trust: bool = False) -> RestoreReport:
    """
    Replace the current store by *backup*; the previous one stays beside it as a snapshot.

    An encrypted store keeps its key, whatever key the backup has, and also if it has none, which
    needs *trust*.
    """
    path = settings.db_path
    if not path.exists():
        return restore_backup(settings, backup, path, trust=trust)
    fields, checked = _check(settings, backup, trust=trust)
    key = _key_of(settings, checked, fields)
    current_key = find_key(path, key_places(settings))
    differences = _differences(settings, checked, key)

    new_key = current_key or key  # an encrypted store stays encrypted, and keeps its key

    def write(partial: Path) -> None:
        _fill(partial, checked, key, new_key)
        if current_key is None and key is not None:
            _add_wrapped_keys(settings, path, fields, key)

    previous = replace_and_keep(path, current_key, new_key, write)
    return RestoreReport(
        backup=checked,
        to=str(path),
        dry_run=False,
        replaced=str(previous),
        differences=differences,
    )


def preview_restore(
    settings: Settings, backup: Path, to: Path, *, trust: bool = False
) -> RestoreReport:
    """Check *backup* and compare it with the current store; write nothing."""
    fields, checked = _check(settings, backup, trust=trust)
    differences = _differences(settings, checked, _key_of(settings, checked, fields))
    return RestoreReport(
        backup=checked,
        to=str(to),
        dry_run=True,
        differences=differences,
        was_compared=_can_compare(settings),
    )


def _check(settings: Settings, backup: Path, *, trust: bool) -> tuple[Mapping[str, Any], Backup]:
    """
    Return the manifest of a backup whose copy is intact.

    *backup* is the copy, its manifest, or a folder, of which the newest backup is taken. If the
    store is encrypted, a plain backup is refused unless the caller trusts it: it is not
    authenticated, so whoever can write the folder could have put it in place of an encrypted one.
    """
    if backup.is_dir():
        backup = _newest_in(backup, SystemClock().now())
    manifest = backup if backup.name.endswith(SUFFIX) else manifest_of(backup)
    fields = read_manifest(manifest)
    checked = to_backup(fields, manifest)
    check_copy(checked)
    if not (trust or checked.is_encrypted) and is_encrypted(settings.db_path):
        raise ImportRefused(
            f"the backup {checked.path} is not encrypted, but {settings.db_path} is: anybody who "
            "can write that folder could have made it. If you know where it comes from, add --trust"
        )
    return fields, checked


def _newest_in(folder: Path, now: datetime) -> Path:
    """Return the newest backup in *folder*, of the future only if there are no others."""
    backups = [to_backup(read_manifest(path), path) for path in folder.glob(f"*{SUFFIX}")]
    stores = sorted({backup.store for backup in backups})
    if not stores:
        raise InvalidInput(f"{folder} contains no backup (*{SUFFIX}); check the path")
    if len(stores) > 1:
        raise InvalidInput(
            f"{folder} contains backups of several stores: {', '.join(stores)}. Pass the file of "
            "one backup"
        )
    past = [backup for backup in backups if backup.created_at <= now]
    return Path(max(past or backups, key=lambda backup: backup.created_at).path)


def _key_of(settings: Settings, backup: Backup, fields: Mapping[str, Any]) -> StoreKey | None:
    """Return the key of a backup, and check that the manifest was made with it."""
    if not backup.is_encrypted:
        return None
    keys = key_places(settings)
    unwrapped = []
    if settings.passphrase:
        wrapped = (unwrap_key(entry, settings.passphrase) for entry in fields["wrapped_keys"])
        unwrapped = [key for key in wrapped if key is not None]
    earlier_keys = (*unwrapped, *keys.candidates(settings.db_path))  # also wrapped beside the store
    key = find_key(Path(backup.path), replace(keys, known=earlier_keys))
    if key is None or not hmac.compare_digest(key.sign(signed_part(fields)), fields["hmac"]):
        raise ImportRefused(
            f"the manifest of {backup.path} was altered: it is not authenticated by the key of the "
            "store. Use another backup"
        )
    return key


def _add_wrapped_keys(
    settings: Settings, path: Path, fields: Mapping[str, Any], key: StoreKey
) -> None:
    """Let the passphrase of a backup open the store *path*, and the passphrase of today too."""
    wrapped = [*fields["wrapped_keys"], *read_wrapped_keys(path)]
    passphrase = settings.passphrase
    if wrapped and passphrase and all(unwrap_key(entry, passphrase) != key for entry in wrapped):
        wrapped.insert(0, wrap_key(key, passphrase))
    if wrapped:
        write_wrapped_keys(path, wrapped)


def _fill(partial: Path, backup: Backup, key: StoreKey | None, new_key: StoreKey | None) -> None:
    """Copy a backup, which has *key*, to *partial* under *new_key*, migrate it, and verify it."""
    if key == new_key:
        _copy_file(Path(backup.path), partial)
    else:
        copy_under_key(Path(backup.path), key, partial, new_key)
    try:
        store = SqliteStore(partial, SystemClock(), keys=_places_of_key(new_key))
        try:
            problems = store.check()[1]
            if problems or store.rescue_report is not None:
                detail = problems[0].detail if problems else "rows are damaged"
                raise StoreDamaged(f"the backup {backup.path} is damaged: {detail}")
        finally:
            store.close()
    finally:
        for snapshot_file in partial.parent.glob(f"{glob.escape(partial.name)}.before-*"):
            snapshot_file.unlink()  # of the migration


def _copy_file(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise (StoreFull if is_full else StoreUnavailable)(
            f"cannot copy {source} to {target.parent}: {error.strerror or error}; nothing was "
            "changed. Check the disk, or choose another folder"
        ) from error


def _can_compare(settings: Settings) -> bool:
    """Return whether there is a current store and a key that opens it, if it needs one."""
    try:
        find_key(settings.db_path, key_places(settings))
    except StoreKeyMissing:
        return False
    return settings.db_path.exists()


def _differences(
    settings: Settings, backup: Backup, key: StoreKey | None
) -> Mapping[str, TableDifference]:
    """Return how a backup differs from the current store, compared in a private folder."""
    path = settings.db_path
    if not _can_compare(settings):
        return {}
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        copy = Path(folder) / "backup.db"
        copy.touch(mode=0o600)
        _fill(copy, backup, key, key)
        old = SqliteStore(copy, SystemClock(), keys=_places_of_key(key))
        try:
            new = SqliteStore(path, SystemClock(), keys=key_places(settings))
            try:
                with old.read() as old_tables, new.read() as new_tables:
                    return compare_rows(old_tables.connection.db, new_tables.connection.db)
            finally:
                new.close()
        finally:
            old.close()


def _places_of_key(key: StoreKey | None) -> KeyPlaces:
    return KeyPlaces(uses_keyring=False, known=() if key is None else (key,))
