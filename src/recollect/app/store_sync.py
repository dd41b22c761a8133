"""
Sync a store with other devices through a shared folder.

One sync: take over own files of a killed process, store deletions of other devices and carry them
out, store their records, publish what changed here, and rewrite own files that hold what was
forgotten. Every part may be interrupted; the next sync goes on. Only one process syncs a store at a
time.
"""

import logging
import secrets
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from recollect.clock import from_micros, to_micros
from recollect.config import expand_home
from recollect.domain.sync_report import KeptVersion, SyncPeer, SyncReport, SyncSetup, SyncStatus
from recollect.domain.unfinished_work import WorkKind
from recollect.errors import InvalidInput, NotFound, RecollectError, StoreBusy, StoreUnavailable
from recollect.service.apply_tombstones import apply_tombstones
from recollect.service.erase_deleted import finish_erasure
from recollect.service.forget import forget
from recollect.service.services import Services
from recollect.store.file_lock import hold_lock
from recollect.store.key_places import KeyPlace, KeyPlaces
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from recollect.store.sqlite.sync.change_triggers import create_triggers
from recollect.store.sqlite.sync.kept_versions import KeptVersions
from recollect.store.sqlite.sync.publish import Publisher
from recollect.store.sqlite.sync.receive import Receiver
from recollect.store.sqlite.sync.received_deletions import delete_sources, delete_under_main_ids
from recollect.store.sqlite.sync.sync_folder import (
    SharedFolder,
    create_folder,
    is_shared_folder,
    key_id_of_folder,
    key_of_folder,
    open_folder,
)
from recollect.store.sqlite.sync.sync_state import Device, SyncState
from recollect.store.store_fingerprint import fingerprint_of, is_same_store
from recollect.store.store_key import StoreKey
from recollect.wire.requests.recollect import ForgetRequest

LOCK_S = 5.0  # how long a sync waits for another one
RETRY_AFTER = timedelta(minutes=5)
log = logging.getLogger(__name__)


class StoreSync:
    """The syncing of one store."""

    def __init__(self, services: Services, store: SqliteStore, keys: KeyPlaces) -> None:
        self._services = services
        self._store = store
        self._keys = keys
        self._next_at: datetime | None = None

    def init(self, folder: str, *, passphrase: str = "") -> SyncSetup:
        """
        Make this store a device of a shared folder; the first device makes the folder's key.

        The key is added to the key file, so that later syncs need no passphrase.
        """
        path = expand_home(folder).absolute()
        if self._store.owns(path) or self._store.path.resolve().parent == path.resolve():
            raise InvalidInput(f"{path} holds the store itself; choose another folder to share")
        keys = replace(self._keys, passphrase=passphrase or self._keys.passphrase)
        with self._lock(), _translate_disk_errors(path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            is_new = not is_shared_folder(path)
            key = StoreKey.generate() if is_new else key_of_folder(path, keys)
            self._keys.save(path, key, KeyPlace.FILE)
            if is_new:
                create_folder(path, key, passphrase)
            present = self._device()
            if present is None or present.folder != str(path) or is_new:
                device = self._new_device(str(path), key.id, present)
                self._store.write(lambda tables: _set_up(tables, device))
            else:
                device = present
        return SyncSetup(
            folder=str(path),
            device=device.device,
            key_id=key.id,
            key_place=self._keys.describe_place(path, KeyPlace.FILE),
            is_new_folder=is_new,
            recovery_key=key.text if is_new else "",
        )

    def rekey(self, *, passphrase: str = "") -> SyncSetup:
        """
        Give the shared folder a new key, and rewrite the files of this device under it.

        Every other device does so with its next sync, for which it needs the new key.
        """
        with self._lock():
            device = self._require_device()
            path = Path(device.folder)
            with _translate_disk_errors(path):
                if not _names_former_key(device):
                    key_of_folder(path, self._keys)  # who does not have the key cannot change it
                key = StoreKey.generate()
                self._keys.save(path, key, KeyPlace.FILE)  # first: a kill must not lose it
                create_folder(path, key, passphrase)
                self._sync(open_folder(path, self._keys), device)
        return SyncSetup(
            folder=str(path),
            device=self._require_device().device,
            key_id=key.id,
            key_place=self._keys.describe_place(path, KeyPlace.FILE),
            is_new_folder=False,
            recovery_key=key.text,
        )

    def run(self) -> SyncReport:
        """Exchange changes with the other devices."""
        with self._lock():
            device = self._require_device()
            path = Path(device.folder)
            try:
                with _translate_disk_errors(path):
                    return self._sync(self._open_folder(device), device)
            except RecollectError as error:
                self._note_failure(error)
                raise

    def _note_failure(self, error: RecollectError) -> None:
        """Record why the last sync failed, for `status` and `doctor`."""
        with suppress(RecollectError):  # the store may be what failed
            self._store.write(
                lambda tables: SyncState(tables.connection.db).set_problems([str(error)])
            )

    def status(self) -> SyncStatus:
        """Return the state of this device and of the others; change nothing."""
        device = self._device()
        if device is None:
            return SyncStatus(is_set_up=False)
        with self._store.read() as tables:
            state = SyncState(tables.connection.db)
            unsent, problems = state.count_unsent(), state.problems()
            versions = self._versions(tables).count()
        peers: tuple[SyncPeer, ...] = ()
        try:
            path = Path(device.folder)
            with _translate_disk_errors(path):
                peers = tuple(self._peers(self._open_folder(device), device))
        except RecollectError as error:
            problems = list(dict.fromkeys([str(error), *problems]))
        return SyncStatus(
            is_set_up=True,
            folder=device.folder,
            device=device.device,
            key_id=device.key_id,
            unsent=unsent,
            versions=versions,
            synced_at=from_micros(device.synced_at) if device.synced_at else None,
            peers=peers,
            problems=tuple(problems),
        )

    def run_if_due(self) -> SyncReport | None:
        """Sync if the settings ask for it now; a failure is logged and tried later."""
        every = timedelta(seconds=self._services.settings.sync_every_s)
        now = self._services.clock.now()
        if not every or (self._next_at and now < self._next_at):
            return None
        try:
            report = self.run() if self._device() is not None else None
        except RecollectError as error:
            # Other background work goes on; `recollect sync status` reports the problem.
            self._next_at = now + max(RETRY_AFTER, every)
            log.warning("the scheduled sync failed: %s", error)
            return None
        self._next_at = now + every
        return report

    def versions(self) -> list[KeptVersion]:
        """Return the values that lost against those of another device, newest first."""
        with self._store.read() as tables:
            return self._versions(tables).list()

    def restore_version(self, version_id: str) -> KeptVersion:
        """Put the values of a version back; return the version that keeps what they replaced."""
        return self._store.write(lambda tables: self._versions(tables).restore(version_id))

    def discard_version(self, version_id: str) -> KeptVersion:
        """Delete a version, on the other devices too; return it."""
        return self._store.write(lambda tables: self._versions(tables).discard(version_id))

    def _versions(self, tables: SqliteTables) -> KeptVersions:
        return KeptVersions(tables, self._services.clock)

    def _sync(self, folder: SharedFolder, device: Device) -> SyncReport:
        clock = self._services.clock
        publisher = Publisher(self._store, folder, clock)
        fingerprint = fingerprint_of(self._store.path)
        is_copy = not is_same_store(device.store_fingerprint, fingerprint)
        if not is_copy and device.store_fingerprint != fingerprint:  # it was moved, or replaced
            device = replace(device, store_fingerprint=fingerprint)
            self._store.write(lambda tables: SyncState(tables.connection.db).set_device(device))
        if is_copy or not publisher.adopt_own_files():
            # A copy or a restored backup: what it publishes must not be taken for the original's.
            renamed = self._new_device(device.folder, device.key_id, device)
            former_ids = "" if is_copy else f"{device.former_devices} {device.device}".strip()
            renamed = replace(renamed, must_resend_all=True, former_devices=former_ids)
            self._store.write(
                lambda tables: SyncState(tables.connection.db).replace_device(renamed)
            )
        receiver = Receiver(self._store, folder, clock)
        receiver.read_deletions()
        forgotten = self._carry_out_deletions()
        receiver.read_records()
        forgotten += self._forget(receiver.received.to_forget)
        forgotten += self._carry_out_deletions()
        self._erase_deleted()
        if self._require_device().must_resend_all:  # after receiving, or all of it would be merged
            self._store.write(lambda tables: SyncState(tables.connection.db).reset_sent_and_read())
        publisher.publish()
        if self._require_device().key_id != folder.key_id:
            publisher.encrypt_anew()
        self._remove_former_devices(folder, receiver.received.waiting)
        now = to_micros(clock.now())
        received, published = receiver.received, publisher.published
        waiting = tuple(received.waiting.values())
        self._store.write(lambda tables: SyncState(tables.connection.db).set_synced(now, waiting))
        return SyncReport(
            received=dict(received.changed),
            sent=dict(published.sent),
            forgotten=forgotten,
            files_read=received.files,
            files_written=published.files,
            files_rewritten=published.rewritten,
            files_resent=published.restored,
            waiting=waiting,
            conflicts=tuple(dict.fromkeys(received.conflicts)),
        )

    def _remove_former_devices(self, folder: SharedFolder, waiting: Iterable[str]) -> None:
        """Delete the shared files of this store's former device ids, unless some are unread."""
        unread = {Path(path).parent for path in waiting}
        for device_id in self._require_device().former_devices.split():
            if folder.path_of(device_id, 1).parent not in unread:
                folder.remove_device(device_id)  # its content is in the files of the new id
                self._store.write(partial(_end_former_device, name=device_id))

    def _carry_out_deletions(self) -> int:
        """Delete here what a person deleted on another device; return how many records."""
        self._store.write(delete_under_main_ids)
        count = sum(apply_tombstones(self._services).values())
        clock = self._services.clock
        return count + self._forget(self._store.write(lambda tables: delete_sources(tables, clock)))

    def _erase_deleted(self) -> None:
        """Erase deleted words from the files of the store, unless a reader prevents it for now."""
        with self._store.read() as tables:
            work = tables.unfinished_work.all(WorkKind.ERASE_DELETED)
        if work:
            finish_erasure(self._services)

    def _forget(self, memory_ids: list[str]) -> int:
        count = 0
        for memory_id in dict.fromkeys(memory_ids):
            with suppress(NotFound):  # it went with another one
                forget(self._services, ForgetRequest.of({"memory_id": memory_id}))
                count += 1
        return count

    def _open_folder(self, device: Device) -> SharedFolder:
        """Return the shared folder; refuse it if it names a key again that was replaced."""
        path = Path(device.folder)
        if _names_former_key(device):
            raise StoreUnavailable(
                f"{path} names the key {key_id_of_folder(path)}, which this device replaced by "
                f"{device.key_id}: a person or the cloud service put an old recollect-sync.json "
                "back. Nothing was sent. Run `recollect sync rekey` to give the folder a new key"
            )
        return open_folder(path, self._keys, known_key_id=device.key_id)

    def _device(self) -> Device | None:
        with self._store.read() as tables:
            return SyncState(tables.connection.db).device()

    def _require_device(self) -> Device:
        device = self._device()
        if device is None:
            raise InvalidInput("sync is not set up; run `recollect sync init FOLDER`")
        return device

    def _new_device(self, folder: str, key_id: str, replaced: Device | None) -> Device:
        return Device(
            device=secrets.token_hex(8),
            store_fingerprint=fingerprint_of(self._store.path),
            folder=folder,
            key_id=key_id,
            clock=replaced.clock if replaced else 0,
            replaced_key_ids=replaced.replaced_key_ids
            if replaced and replaced.folder == folder
            else "",
        )

    def _peers(self, folder: SharedFolder, device: Device) -> Iterator[SyncPeer]:
        for name in folder.devices():
            files = folder.files(name)
            with self._store.read() as tables:
                hashes = SyncState(tables.connection.db).files(name)
            times = [file.path.stat() for file in files]
            newest = max((entry.st_mtime for entry in times), default=None)
            is_this = name == device.device
            yield SyncPeer(
                device=name,
                is_this=is_this,
                files=len(files),
                last_number=max((file.number for file in files), default=0),
                unread=0 if is_this else sum(file.number not in hashes for file in files),
                bytes=sum(entry.st_size for entry in times),
                written_at=None if newest is None else datetime.fromtimestamp(newest, UTC),
            )

    @contextmanager
    def _lock(self) -> Iterator[None]:
        path = self._store.path.with_name(f"{self._store.path.name}.sync-lock")
        with ExitStack() as stack:
            try:
                is_held = stack.enter_context(hold_lock(str(path), timeout_s=LOCK_S))
            except OSError as error:
                raise StoreUnavailable(
                    f"cannot write {path}: {error.strerror or error}. A store syncs only where its "
                    "folder can be written"
                ) from error
            if not is_held:
                raise StoreBusy(f"another process syncs {self._store.path}; wait until it is done")
            yield


def _names_former_key(device: Device) -> bool:
    return key_id_of_folder(Path(device.folder)) in device.replaced_key_ids.split()


def _end_former_device(tables: SqliteTables, *, name: str) -> None:
    SyncState(tables.connection.db).forget_former_device(name)


def _set_up(tables: SqliteTables, device: Device) -> None:
    create_triggers(tables.connection.db)
    state = SyncState(tables.connection.db)
    state.set_device(device)
    state.reset_sent_and_read()


@contextmanager
def _translate_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"cannot read or write the shared folder {folder}: {error}. Is it connected?"
        ) from error
