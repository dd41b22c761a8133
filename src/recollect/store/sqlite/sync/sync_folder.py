"""
The shared folder of several devices: immutable, encrypted files, a folder for each device.

    recollect-sync.json            names the key; holds it wrapped by a passphrase, if there is one
    device-<id>/000001.sync        revisions of records that this device published

A file has a head with its number and the SHA-256 of the file before it, one line per revision, and
an end with their number and a hash. It is compressed, and encrypted and authenticated with the key
of the folder. A device writes only to its own folder. After the folder got a new key, each
device rewrites its own files under it. A file that is replaced, because something in
it was forgotten, is named in the head of its successor with its hash, so the chain stays complete.
"""

import gzip
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from recollect.errors import ImportRefused, InvalidInput, RecollectError, StoreUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.store.key_places import KeyPlaces, fsync_folder, read_key_file, write_private
from recollect.store.sqlite.encrypted_file import is_encrypted_file, read_encrypted, write_encrypted
from recollect.store.sqlite.partial_file import remove_leftovers
from recollect.store.sqlite.replace_file import overwrite_file
from recollect.store.sqlite.sync.apply_revision import Revision
from recollect.store.store_key import StoreKey, unwrap_key, wrap_key
from recollect.store.transfer.record_kinds import ALIASES, KINDS

FORMAT = 1
MANIFEST = "recollect-sync.json"
_DEVICE = re.compile(r"device-([0-9a-f]{16})")
_FILE = re.compile(r"([0-9]{6,15})\.sync")
_MAX_MANIFEST = 1_000_000
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)  # Windows has no such flag


@dataclass(frozen=True)
class FileHead:
    """The first line of a file."""

    device: str
    number: int
    previous: str  # the SHA-256 of the file before it, '' of the first
    schema: int
    replaces: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FolderFile:
    """A file of a device."""

    device: str
    number: int
    path: Path

    def sha256(self) -> str:
        """Return the hash of the file as it lies there, encrypted."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


class SharedFolder:
    """The files of all devices."""

    def __init__(
        self, path: Path, key: StoreKey, replaced_key_ids: Sequence[StoreKey] = ()
    ) -> None:
        self.path = path
        self._key = key
        self._former_keys = tuple(replaced_key_ids)

    @property
    def key_id(self) -> str:
        """The key under which files are written."""
        return self._key.id

    def devices(self) -> list[str]:
        """Return the devices that have a folder."""
        with os.scandir(self.path) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return sorted(match[1] for match in map(_DEVICE.fullmatch, names) if match)

    def files(self, device: str) -> list[FolderFile]:
        """Return the files of a device by number."""
        folder = self._folder_of(device)
        if folder.is_symlink() or not folder.is_dir():
            return []
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
        matches = [match for match in map(_FILE.fullmatch, names) if match]
        files = [FolderFile(device, int(match[1]), folder / match[0]) for match in matches]
        return sorted(files, key=lambda file: file.number)

    def path_of(self, device: str, number: int) -> Path:
        """Return the path of a file, which need not exist."""
        return self._folder_of(device) / f"{number:06}.sync"

    def write(self, head: FileHead, revisions: Iterable[bytes]) -> str:
        """Write a file of this device, complete or not at all; return its hash."""
        path = self.path_of(head.device, head.number)
        folder = path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_leftovers(path)
        with (
            write_encrypted(path, self._key) as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=0, compresslevel=6) as packed,
        ):
            digest, count = hashlib.sha256(), 0
            packed.write(_head_line(head))
            for line in revisions:
                digest.update(line)
                packed.write(line)
                count += 1
            packed.write(_line({"end": count, "sha256": digest.hexdigest()}))
        fsync_folder(folder)
        return FolderFile(head.device, head.number, path).sha256()

    def read(self, file: FolderFile) -> Iterator[bytes]:
        """
        Yield the head of a file, then the lines of its revisions.

        Raise `ImportRefused` if it was altered, or is not complete yet.
        """
        if not is_encrypted_file(file.path):
            raise ImportRefused(f"{file.path} is not complete, or not a file of Recollect")
        keys = KeyPlaces(uses_keyring=False, known=(self._key, *self._former_keys))
        digest, count, previous = hashlib.sha256(), 0, b""
        try:
            with read_encrypted(file.path, keys) as raw, gzip.GzipFile(fileobj=raw) as packed:
                for number, line in enumerate(packed):
                    if number > 1:
                        digest.update(previous)
                        count += 1
                        yield previous
                    elif number == 1:
                        yield previous  # the head
                    previous = line
            end = _json_object(previous, file)
            if end.get("end") != count or end.get("sha256") != digest.hexdigest():
                raise ImportRefused(f"{file.path} is not complete, or was altered")
        except (OSError, EOFError, ValueError, RecollectError) as error:
            raise ImportRefused(f"{file.path} cannot be read: {error}") from error

    def remove(self, file: FolderFile) -> None:
        """Overwrite and delete a file of this device; of one with another name, delete this one."""
        try:
            status = file.path.lstat()
        except FileNotFoundError:
            return
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
            descriptor = os.open(file.path, os.O_RDWR | _NO_FOLLOW)
            try:
                overwrite_file(descriptor)
            finally:
                os.close(descriptor)
        file.path.unlink(missing_ok=True)
        fsync_folder(file.path.parent)

    def remove_device(self, device: str) -> None:
        """Delete the folder of a device, the newest file first: a kill leaves no gap."""
        for file in reversed(self.files(device)):
            self.remove(file)
        folder = self._folder_of(device)
        if folder.is_dir() and not list(folder.iterdir()):
            folder.rmdir()

    def _folder_of(self, device: str) -> Path:
        return self.path / f"device-{device}"


def parse_head(line: bytes, file: FolderFile, schema: int) -> FileHead:
    """Return the head of a file; refuse one of another format or a newer version."""
    head = _json_object(line, file)
    if head.get("recollect") != "sync" or head.get("format") != FORMAT:
        raise ImportRefused(
            f"{file.path} has another format; upgrade with pip install -U recollect"
        )
    try:
        written_schema = int(head["schema"])
        place = (str(head["device"]), int(head["number"]))
        previous = str(head["previous"])
        replaces = {int(number): str(sha) for number, sha in head.get("replaces", {}).items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ImportRefused(f"{file.path} has a damaged first line: {error!r}") from error
    if written_schema > schema:
        raise ImportRefused(
            f"{file.path} was written by a newer Recollect; upgrade with pip install -U recollect"
        )
    if place != (file.device, file.number):
        raise ImportRefused(f"{file.path} was renamed: it is {place[0]} {place[1]}")
    return FileHead(file.device, file.number, previous, written_schema, replaces)


def parse_revision(line: bytes, file: FolderFile) -> Revision:
    """Return the revision of a line."""
    fields = _json_object(line, file)
    try:
        if fields["kind"] not in KINDS and fields["kind"] != ALIASES:
            raise ImportRefused(
                f"{file.path} has records of a kind {fields['kind']!r}; "
                "upgrade with pip install -U recollect"
            )
        return Revision(**fields)
    except (KeyError, TypeError) as error:
        raise ImportRefused(f"{file.path} has a line that is not a revision: {error}") from error


def revision_line(revision: Revision) -> bytes:
    """Return a revision as a line of a file."""
    return _line(vars(revision))


def open_folder(path: Path, keys: KeyPlaces, *, known_key_id: str = "") -> SharedFolder:
    """Return the shared folder at *path*; files under an earlier key can be read too."""
    key = key_of_folder(path, keys, known_key_id=known_key_id)
    present = [] if keys.key_file is None else read_key_file(keys.key_file)
    return SharedFolder(path, key, [earlier for earlier in present if earlier != key])


def create_folder(path: Path, key: StoreKey, passphrase: str) -> None:
    """Make *path* a shared folder with *key*, wrapped by the passphrase, or give it a new key."""
    fields = {
        "recollect": "sync",
        "format": FORMAT,
        "key_id": key.id,
        "keys": [wrap_key(key, passphrase)] if passphrase else [],
    }
    write_private(path / MANIFEST, json.dumps(fields, indent=1).encode())


def key_of_folder(path: Path, keys: KeyPlaces, *, known_key_id: str = "") -> StoreKey:
    """
    Return the key of a shared folder, looked for in the places of keys.

    *known_key_id* is the key that this device used before, '' if it is new.
    """
    manifest = _read_manifest(path)
    key_id = str(manifest.get("key_id"))
    for key in keys.candidates(path / MANIFEST):
        if key.id == key_id:
            return key
    wrapped = [entry for entry in manifest.get("keys", []) if isinstance(entry, dict)]
    if keys.passphrase:
        for entry in wrapped:
            if (unwrapped := unwrap_key(entry, keys.passphrase)) is not None:
                return unwrapped
    file = keys.key_file or "the key file"
    with_passphrase = (
        "or run `recollect sync init FOLDER --passphrase` with its passphrase"
        if wrapped
        else "the device that made it printed it, and has it in its own key file"
    )
    has_changed = known_key_id not in ("", key_id)
    what = (
        f"another device gave {path} the new key {key_id}, which is not here"
        if has_changed
        else f"the key {key_id} of {path} is not here"
    )
    raise StoreUnavailable(
        f"{what}. Add its line (rk1-…) to {file} and run chmod 600 on it; {with_passphrase}"
    )


def key_id_of_folder(path: Path) -> str:
    """Return which key a shared folder names."""
    return str(_read_manifest(path).get("key_id"))


def is_shared_folder(path: Path) -> bool:
    """Return whether a device has set up *path*."""
    return (path / MANIFEST).is_file()


def _read_manifest(path: Path) -> dict[str, Any]:
    file = path / MANIFEST
    try:
        if not file.is_file():
            raise ValueError(f"it has no file {MANIFEST}")
        if file.stat().st_size > _MAX_MANIFEST:
            raise ValueError("it is too large")
        manifest = json.loads(file.read_bytes())
        if not isinstance(manifest, dict) or manifest.get("recollect") != "sync":
            raise ValueError("it is not a manifest of Recollect")
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{path} is not a shared folder, or is not available now ({error}). "
            "Connect it, or set it up with `recollect sync init FOLDER`"
        ) from error
    return manifest


def _head_line(head: FileHead) -> bytes:
    fields = {"recollect": "sync", "format": FORMAT, **vars(head)}
    return _line({**fields, "replaces": {str(n): sha for n, sha in head.replaces.items()}})


def _line(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _json_object(line: bytes, file: FolderFile) -> dict[str, Any]:
    try:
        fields = json.loads(line)
        if isinstance(fields, dict):
            return fields
    except ValueError:
        pass
    raise ImportRefused(f"{file.path} has a line that is not a JSON object")
