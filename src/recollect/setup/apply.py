"""
Read settings files, and write all changes of one client or none.

Every new text is first written whole beside its file; then each takes its file's place in one
step, with the permissions the file had. If one cannot, those before it are put back. A symlink is
followed: dotfile managers link settings to where they keep them, and the link stays. Nothing is
decided here.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import InvalidInput
from recollect.setup.plan import Change
from recollect.setup.record import Record, from_json, to_json

MOST_BYTES = 64 * 1024 * 1024
RECORDS = "setup.json"


@dataclass(frozen=True)
class _Staged:
    """A file about to be replaced (None: removed) by a new one that is written already."""

    path: Path
    before: bytes | None
    new: Path | None


def read_text(path: Path) -> str | None:
    """Return the text of a settings file, None where there is none; refuse what is no text."""
    try:
        content = _read(path)
        return None if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is not UTF-8 text ({error}); save it as UTF-8, then run this again"
        ) from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error


def check_writable(path: Path) -> None:
    """Refuse a file that its owner made read-only."""
    real = _real(path)
    if real.exists() and not real.stat().st_mode & stat.S_IWUSR:
        raise InvalidInput(
            f"{path} is read-only; make it writable (chmod u+w), then run this again"
        )


def missing_folders(path: Path) -> tuple[str, ...]:
    """Return the folders that have to be made for *path*, outermost first."""
    missing = []
    for folder in path.parents:
        if folder.exists():
            if not folder.is_dir():
                raise InvalidInput(f"{folder} is no folder, so {path} cannot be written")
            break
        missing.append(str(folder))
    return tuple(reversed(missing))


def read_records(state: Path) -> dict[str, Record]:
    """Return what is remembered of the files that were changed."""
    try:
        return _records_in((state / RECORDS).read_bytes())
    except OSError:
        return {}


def apply(changes: Sequence[Change], state: Path) -> None:
    """Make *changes*, all or none, and remember the way back."""
    kept = state / RECORDS
    remembered = _read(kept)  # once: what another set-up writes meanwhile must not get lost
    records = _records_in(remembered or b"")
    for change in changes:
        records.pop(str(change.path), None)
        if change.record is not None:
            records[str(change.path)] = change.record
    folders: list[str] = []
    staged: list[_Staged] = []
    try:
        for change in changes:
            check_writable(change.path)
            if change.after is not None:
                folders += _make_folders(change.path.parent)
            before = None if change.before is None else change.before.encode("utf-8")
            staged.append(_stage(change.path, before, change.after))
        folders += _make_folders(state, mode=0o700)
        staged.append(_stage(kept, remembered, to_json(records) if records else None, mode=0o600))
        _commit(staged)
    except (OSError, InvalidInput) as error:
        for one in staged:
            if one.new is not None:
                one.new.unlink(missing_ok=True)
        _remove_folders(folders)
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"nothing was changed: {error}") from error
    for change in changes:
        _remove_folders(change.folders)
    if not records:
        _remove_folders([str(state)])


def _records_in(content: bytes) -> dict[str, Record]:
    try:
        return from_json(content.decode("utf-8"))
    except UnicodeDecodeError:
        return {}


def _read(path: Path) -> bytes | None:
    if path.is_symlink() and not path.exists():
        raise InvalidInput(
            f"{path} is a symlink that leads nowhere; remove it or make its target, then run this "
            "again"
        )
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):  # before opening: a pipe would wait for ever
        raise InvalidInput(f"{path} is no file; move it away, then run this again")
    if found.st_size > MOST_BYTES:
        raise InvalidInput(
            f"{path} is larger than {MOST_BYTES // 1024 // 1024} MB; that is no settings"
        )
    return path.read_bytes()


def _stage(path: Path, before: bytes | None, after: str | None, *, mode: int = 0o666) -> _Staged:
    real = _real(path)
    if after is None:
        return _Staged(real, before, None)
    new = real.with_name(f".{real.name}.{secrets.token_hex(6)}.recollect")
    as_it_is = getattr(os, "O_BINARY", 0)  # Windows would change the ends of lines
    opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | as_it_is, mode)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(after.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            _like(new, real)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    return _Staged(real, before, new)


def _commit(staged: Sequence[_Staged]) -> None:
    """Put every new file in its place; put back what was there if one cannot be."""
    done: list[_Staged] = []
    try:
        for one in staged:
            if _read(one.path) != one.before:
                raise InvalidInput(
                    f"{one.path} was changed by another program just now, so nothing was written; "
                    "run this again"
                )
            if one.new is not None:
                one.new.replace(one.path)
            elif one.before is not None:
                one.path.unlink()
            done.append(one)
    except (OSError, InvalidInput):
        for one in reversed(done):
            if one.before is None:
                one.path.unlink(missing_ok=True)
            else:
                one.path.write_bytes(one.before)
        raise


def _like(new: Path, old: Path) -> None:
    """Give *new* the permissions and owner of *old*."""
    was = old.stat()
    new.chmod(stat.S_IMODE(was.st_mode))
    if hasattr(os, "chown") and (was.st_uid, was.st_gid) != (new.stat().st_uid, new.stat().st_gid):
        with contextlib.suppress(PermissionError):
            os.chown(new, was.st_uid, was.st_gid)


def _real(path: Path) -> Path:
    try:
        return path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError) as error:  # links that lead to each other
        raise InvalidInput(f"{path} is a symlink that leads nowhere: {error}") from error


def _make_folders(folder: Path, *, mode: int = 0o777) -> list[str]:
    made = [*missing_folders(folder / "x")]
    folder.mkdir(parents=True, exist_ok=True, mode=mode)
    return made


def _remove_folders(folders: Sequence[str]) -> None:
    for folder in reversed(folders):
        with contextlib.suppress(OSError):  # not empty, or gone already
            Path(folder).rmdir()
