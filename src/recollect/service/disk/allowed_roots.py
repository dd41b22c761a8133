"""
Check that a path is inside the folders an agent may read (the roots).

A path is resolved first, links and `..` included, and then compared, so that it does not matter how
it is written. An error does not reveal whether a file outside exists. Files whose names say that
they hold secrets are refused even inside. A hard link cannot be detected: whoever may write into a
root can link a file of the same disk into it.
"""

import os
from collections.abc import Sequence
from pathlib import Path, PurePath

from recollect.domain.file import FileWindow
from recollect.errors import InvalidInput, NotFound, RequestRefused
from recollect.lazy_dataclass import dataclass
from recollect.service.disk.safe_read import MAX_FILE_BYTES, FileText, UnreadFile, read_file
from recollect.text.line_windows import line_window
from recollect.text.secret_file_names import secret_path_reason

# File systems of the kernel: they show processes, environment variables and devices. They are not
# text of a project even if the root is `/`.
SYSTEM_FOLDERS = (Path("/proc"), Path("/sys"), Path("/dev"))


@dataclass(frozen=True)
class AllowedPath:
    """A real path, the root it lies in, and why it is taken for secret if it is."""

    path: Path
    root: Path
    secret_reason: str


def allowed_path(path: str | Path, roots: Sequence[Path]) -> Path:
    """Return the real path of *path*, a file or folder that exists in one of *roots*."""
    return locate(path, roots).path


def locate(path: str | Path, roots: Sequence[Path]) -> AllowedPath:
    """Return where *path* really is. A relative one starts at the first root."""
    path_text = _path_text(path)
    real_roots = real_folders(roots)
    real = _real_path(real_roots[0] / path_text)  # an absolute path replaces the root
    inside = [root for root in real_roots if real.is_relative_to(root)]
    if not inside:
        allowed = ", ".join(str(root) for root in roots)
        raise InvalidInput(
            f"{path_text} is outside of what may be read ({allowed}); "
            "name a file in there, or add its folder to the roots"
        )
    if is_system(real):
        raise InvalidInput(f"{path_text} belongs to the system, not to a project; it is not read")
    try:
        real.lstat()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound(f"there is no {path_text} in {inside[0]}; check its name") from None
    except OSError as error:
        raise InvalidInput(f"cannot look at {path_text} ({error.strerror or error})") from error
    root = max(inside, key=lambda folder: len(folder.parts))
    # Both names count: a link called .env, and a link that leads to one.
    secret = secret_path_reason(PurePath(path_text).parts[-1:]) or secret_path_reason(
        real.relative_to(root).parts or (real.name,)
    )
    return AllowedPath(real, root, secret)


def require_readable(folder: Path, reach: Sequence[Path] | None) -> Path:
    """Return *folder*, unless it lies outside of the folders that are read for callers."""
    if reach is None or any(_real_path(folder).is_relative_to(_real_path(root)) for root in reach):
        return folder
    raise RequestRefused(
        f"{folder} is not among the folders this server reads for its callers; "
        "start it with `recollect serve --files FOLDER`, or open the store directly"
    )


def read_text(
    path: str | Path,
    roots: Sequence[Path],
    *,
    allow_secret: bool = False,
    max_bytes: int = MAX_FILE_BYTES,
) -> FileText:
    """Return what the file *path* in one of *roots* says, or raise why it is not read."""
    allowed = locate(path, roots)
    if allowed.secret_reason and not allow_secret:
        raise InvalidInput(
            f"{path} is not read, since {allowed.secret_reason}; "
            "copy what is not secret to another file"
        )
    outcome = read_file(allowed.path, allowed.root, max_bytes=max_bytes)
    if isinstance(outcome, UnreadFile):
        raise outcome.error()
    return outcome


def file_window(file: FileText, *, offset: int = 0, length: int | None = None) -> FileWindow:
    """Return *length* lines of *file* after its first *offset* ones; by default all."""
    lines = line_window(file.text, offset, length)
    if offset and offset >= lines.total:
        raise InvalidInput(
            f"{file.path} has {lines.total} lines; an offset is 0 to {max(lines.total - 1, 0)}, "
            f"not {offset}"
        )
    return FileWindow(
        path=str(file.path),
        first_line=lines.first,
        last_line=lines.last,
        total_lines=lines.total,
        text=lines.text,
    )


def real_folders(roots: Sequence[Path]) -> list[Path]:
    """Return *roots* as real paths, in their order."""
    if not roots:
        raise InvalidInput("no folder may be read yet; name one as a root")
    return [_real_path(root) for root in roots]


def is_system(path: Path) -> bool:
    """Return whether *path* lies in a file system that is made of the machine."""
    return any(path.is_relative_to(folder) for folder in SYSTEM_FOLDERS)


def _path_text(path: object) -> str:
    if not isinstance(path, str | Path):
        raise InvalidInput(f"a path must be text, not {type(path).__name__}")
    written = str(path)
    if not written.strip() or "\0" in written:
        raise InvalidInput("a path is empty or has a NUL in it; name a file")
    if written.startswith("~"):
        raise InvalidInput(
            f"{written} starts at a home folder, which is not looked up; write the whole path, "
            "or ./~ for a name that starts so"
        )
    return written


def _real_path(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError) as error:  # too long, or a name no file system has
        raise InvalidInput(f"{str(path)[:200]!a} is not a path ({error})") from error
