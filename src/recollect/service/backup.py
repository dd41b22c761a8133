"""
Write backups of the store into a folder, verify each, and delete those that are too old.

A backup is a complete copy of the file, made beside running writers, and a manifest
(backup_manifest.py). `recollect restore` reads it (app/restore_backup.py).
"""

import glob
import hashlib
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path

from recollect.client.atomic_file import atomic_file
from recollect.config import Settings, expand_home
from recollect.domain.backup import Backup, BackupReport, KeepRule
from recollect.errors import ImportRefused, InvalidInput, RecollectError, StoreUnavailable
from recollect.service.backup_manifest import (
    SUFFIX,
    check_copy,
    hash_file,
    manifest_of,
    read_manifest,
    signed_part,
    to_backup,
    to_fields,
)
from recollect.service.services import Services
from recollect.store.protocol import StoreFile
from recollect.wire.requests.maintenance import BackupRequest, ListBackupsRequest

RETRY_AFTER = timedelta(minutes=10)  # a scheduled backup that failed
log = logging.getLogger(__name__)


def back_up(services: Services, request: BackupRequest) -> BackupReport:
    """Write a backup, verify it, and delete the backups of this store that are too old."""
    rule = KeepRule.parse(request.keep or services.settings.backup_keep)
    folder = _folder(services, request.to)
    with _translate_disk_errors(folder):
        return _back_up(services, folder, rule)


def list_backups(services: Services, request: ListBackupsRequest) -> list[Backup]:
    """Return the backups of this store in the folder, newest first."""
    file = _require_file(services)
    folder = _folder(services, request.to)
    with _translate_disk_errors(folder):
        return _backups_of(file.path, folder)[::-1]


class BackupSchedule:
    """Makes backups when they are due; asks the disk only when one may be."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._next_at: datetime | None = None

    def run_if_due(self) -> BackupReport | None:
        """Make a backup if the newest is older than the setting allows."""
        settings, now = self._services.settings, self._services.clock.now()
        folder, every = scheduled_folder(settings), timedelta(hours=settings.backup_every_hours)
        if folder is None or (self._next_at and now < self._next_at):
            return None
        try:
            newest = newest_backup_at(_require_file(self._services).path, folder, now=now)
            if newest is not None and now < newest + every:
                self._next_at = newest + every
                return None
            report = back_up_store(self._services)
        except RecollectError as error:
            # Other background work goes on; `doctor` reports that the newest backup is too old.
            self._next_at = now + RETRY_AFTER
            log.warning("the scheduled backup failed: %s", error)
            return None
        self._next_at = now + every
        return report


def scheduled_folder(settings: Settings) -> Path | None:
    """Return where scheduled backups go, None if there are none."""
    if not settings.backup_folder or not settings.backup_every_hours:
        return None
    return expand_home(settings.backup_folder)


def newest_backup_at(store: Path, folder: Path, *, now: datetime) -> datetime | None:
    """
    Return when the newest complete backup of the store in the file *store* was made, None if never.

    One of the future, by a clock that was wrong, does not count: it must not stop the schedule.
    """
    with _translate_disk_errors(folder):
        times = [backup.created_at for backup in _backups_of(store, folder)]
    return max((at for at in times if at <= now), default=None)


def back_up_store(services: Services) -> BackupReport:
    """Make a backup as the settings say."""
    folder = _folder(services, None)
    with _translate_disk_errors(folder):
        return _back_up(services, folder, KeepRule.parse(services.settings.backup_keep))


def _back_up(services: Services, folder: Path, rule: KeepRule) -> BackupReport:
    file = _require_file(services)
    now = services.clock.now()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = folder / f"{_name_of(file.path)}-{now:%Y%m%dT%H%M%S}Z{file.path.suffix or '.db'}"
    if file.owns(copy):
        raise InvalidInput(f"{folder} would mix backups with the store; choose another folder")
    rows = file.write_copy(copy)
    backup = Backup(
        path=str(copy),
        store=str(file.path),
        created_at=now,
        schema=services.store.schema_version(),
        bytes=copy.stat().st_size,
        sha256=hash_file(copy),
        rows=rows,
        is_encrypted=file.is_encrypted,
        key_id=file.key_id,
    )
    fields = to_fields(backup, file.wrapped_keys())
    fields["hmac"] = file.sign(signed_part(fields))
    with atomic_file(manifest_of(copy)) as manifest:
        manifest.write(json.dumps(fields, indent=1, ensure_ascii=False).encode())
    check_copy(to_backup(read_manifest(manifest_of(copy)), manifest_of(copy)))  # as a reader will
    earlier = _backups_of(file.path, folder)
    # A backup of the future, by a clock that was wrong, must not be kept in place of this one.
    outdated = rule.outdated([old for old in earlier if old.created_at <= now])
    for old in outdated:
        # The manifest first: a copy without one does not count as a backup.
        manifest_of(Path(old.path)).unlink(missing_ok=True)
        Path(old.path).unlink(missing_ok=True)
    return BackupReport(
        backup=backup,
        deleted=tuple(old.path for old in outdated),
        kept=len(earlier) - len(outdated),
    )


@contextmanager
def _translate_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"cannot read or write backups in {folder}: {error}. Check the folder and the disk"
        ) from error


def _backups_of(store: Path, folder: Path) -> list[Backup]:
    """Return the complete backups of this store in *folder*, oldest first."""
    backups = []
    for path in folder.glob(f"{glob.escape(_name_of(store))}-*{SUFFIX}"):
        with suppress(ImportRefused):  # not one of ours, or damaged: never deleted by itself
            backups.append(to_backup(read_manifest(path), path))
    return sorted(backups, key=lambda backup: backup.created_at)


def _name_of(store: Path) -> str:
    """Return how the backups of this store begin: stores of one name in two folders differ."""
    place = hashlib.sha256(str(store.resolve()).encode()).hexdigest()[:8]
    return f"{store.stem}-{place}"


def _folder(services: Services, to: str | None) -> Path:
    if to is not None and services.readable_folders is not None:
        raise InvalidInput("a server writes backups to its own folder only: setting backup_folder")
    folder = to or services.settings.backup_folder
    if not folder:
        raise InvalidInput("no folder for backups: use --to FOLDER, or set backup_folder")
    return expand_home(folder)


def _require_file(services: Services) -> StoreFile:
    file = services.store.file
    if file is None:
        raise InvalidInput("this store is not a file; back it up with the tools of its database")
    return file
