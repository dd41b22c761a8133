"""Files that are written complete or not at all: whoever looks sees the old one or the new one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from recollect.errors import StoreUnavailable


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Lend a file that takes *path*'s place once all of it is on disk."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error  # not the name of a file nobody named
        raise StoreUnavailable(f"cannot write {path}: {why}; choose another folder") from error
    try:
        with os.fdopen(handle, "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreUnavailable(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
