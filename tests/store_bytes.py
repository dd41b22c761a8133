"""Look into the bytes of the files of a store."""

import glob
from pathlib import Path


def files_with_word(path: Path, word: str) -> list[str]:
    """Return which of the files of the store *path* hold *word*, in any case, in their bytes."""
    return [
        file.name
        for file in sorted(path.parent.glob(f"{glob.escape(path.name)}*"))
        if word.lower().encode() in file.read_bytes().lower()
    ]
