"""
Read settings files, and write all changes of one client or none.

Each new text is first written to a temporary file beside its file, and then replaces the file
atomically, with the same permissions. If one replacement fails, the earlier ones are undone.
Symlinks are followed and kept, because dotfile managers use them.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.setup.plan_changes import FileChange
from recollect.setup.undo_records import UndoRecord, records_from_json, records_to_json

MAX_SETTINGS_BYTES = 64 * 1024 * 1024
RECORDS_FILE = "setup.json"


@dataclass(frozen=True)
class _StagedFile:
    """A file to be replaced by the temporary file *new* (None: to be removed)."""

    path: Path
    before: bytes | None
    new: Path | None


def read_text(path: Path) -> str | None:
    """Return the text of a settings file, None if it is missing; raise if it is not text."""
    try:
        content = _read_bytes(path)
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8 text ({error}); save it as UTF-8, then run this again"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error


def check_writable(path: Path) -> None:
    """Raise `InvalidInput` if the file is read-only."""
    real = _resolve_symlink(path)
    if real.exists() and not real.stat().st_mode & stat.S_IWUSR:
        raise InvalidInput(
            f"{path} is read-only; make it writable (chmod u+w), then run this again"
        )


def missing_folders(path: Path) -> tuple[str, ...]:
    """Return the folders to create for *path*, outermost first."""
    missing = []
    for folder in path.parents:
        if folder.exists():
            if not folder.is_dir():
                raise InvalidInput(f"{folder} is not a folder, so {path} cannot be written")
            break
        missing.append(str(folder))
    return tuple(reversed(missing))


def read_records(state: Path) -> dict[str, UndoRecord]:
    """Return the undo records of the changed files."""
    try:
        return _parse_records((state / RECORDS_FILE).read_bytes())
    except OSError:
        return {}


def apply_changes(changes: Sequence[FileChange], state: Path) -> None:
    """Make all *changes* or none, and store how to undo them."""
    records_path = state / RECORDS_FILE
    # Read once, so that `_commit` notices a change by another setup.
    old_records = _read_bytes(records_path)
    records = _parse_records(old_records or b"")
    for change in changes:
        records.pop(str(change.path), None)
        if change.record is not None:
            records[str(change.path)] = change.record
    folders: list[str] = []
    staged: list[_StagedFile] = []
    try:
        for change in changes:
            check_writable(change.path)
            if change.after is not None:
                folders += _make_folders(change.path.parent)
            before = None if change.before is None else change.before.encode("utf-8")
            staged.append(_stage(change.path, before, change.after))
        folders += _make_folders(state, mode=0o700)
        new_records = records_to_json(records) if records else None
        staged.append(_stage(records_path, old_records, new_records, mode=0o600))
        _commit(staged)
    except (OSError, InvalidInput) as error:
        for file in staged:
            if file.new is not None:
                file.new.unlink(missing_ok=True)
        _remove_folders(folders)
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"nothing was changed: {error}") from error
    for change in changes:
        _remove_folders(change.removable_folders)
    if not records:
        _remove_folders([str(state)])


def _parse_records(content: bytes) -> dict[str, UndoRecord]:
    try:
        return records_from_json(content.decode("utf-8"))
    except UnicodeDecodeError:
        return {}


def _read_bytes(path: Path) -> bytes | None:
    if path.is_symlink() and not path.exists():
        raise InvalidInput(
            f"{path} is a symlink without a target; remove it or create the target, then run this "
            "again"
        )
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):  # before opening: reading a pipe would block
        raise InvalidInput(f"{path} is not a regular file; move it away, then run this again")
    if status.st_size > MAX_SETTINGS_BYTES:
        limit = f"{MAX_SETTINGS_BYTES // 1024 // 1024} MB"
        raise InvalidInput(f"{path} is larger than {limit}, so it is not a settings file")
    return path.read_bytes()


def _stage(path: Path, before: bytes | None, after: str | None, mode: int = 0o666) -> _StagedFile:
    real = _resolve_symlink(path)
    if after is None:
        return _StagedFile(real, before, None)
    new = real.with_name(f".{real.name}.{secrets.token_hex(6)}.recollect")
    binary = getattr(os, "O_BINARY", 0)  # otherwise Windows changes line ends
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | binary, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _copy_permissions(new, real)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    return _StagedFile(real, before, new)


def _commit(staged: Sequence[_StagedFile]) -> None:
    """Replace every file; if one fails, restore those already replaced."""
    done: list[_StagedFile] = []
    try:
        for file in staged:
            if _read_bytes(file.path) != file.before:
                raise InvalidInput(
                    f"{file.path} was changed by another program just now, so nothing was written; "
                    "run this again"
                )
            if file.new is not None:
                file.new.replace(file.path)
            elif file.before is not None:
                file.path.unlink()
            done.append(file)
    except (OSError, InvalidInput):
        for file in reversed(done):
            if file.before is None:
                file.path.unlink(missing_ok=True)
            else:
                file.path.write_bytes(file.before)
        raise


def _copy_permissions(new: Path, old: Path) -> None:
    status = old.stat()
    new.chmod(stat.S_IMODE(status.st_mode))
    owner, new_status = (status.st_uid, status.st_gid), new.stat()
    if hasattr(os, "chown") and owner != (new_status.st_uid, new_status.st_gid):
        with contextlib.suppress(PermissionError):
            os.chown(new, *owner)


def _resolve_symlink(path: Path) -> Path:
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError) as error:  # a loop of links
        raise InvalidInput(f"{path} is a symlink that cannot be resolved: {error}") from error


def _make_folders(folder: Path, *, mode: int = 0o777) -> list[str]:
    created = [*missing_folders(folder / "x")]
    folder.mkdir(parents=True, exist_ok=True, mode=mode)
    return created


def _remove_folders(folders: Sequence[str]) -> None:
    for folder in reversed(folders):
        with contextlib.suppress(OSError):  # not empty, or already removed
            Path(folder).rmdir()
