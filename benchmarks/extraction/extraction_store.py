"""
Capture conversations with the Python API, and return the candidates.

Extraction by rules only: embeddings are off and no chat model is configured. Candidates are the
memories in the inbox or active, without the record of the session itself (the episode).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import recollect
from recollect.domain.limits import MAX_LIMIT
from recollect.domain.memory import Memory, MemoryType, Status

STATUSES = (Status.INBOX, Status.ACTIVE)
TYPES = tuple(kind for kind in MemoryType if kind is not MemoryType.EPISODE)

Messages = Sequence[Mapping[str, str]]


class TooManyCandidates(Exception):
    """There are more candidates of one type than one page lists."""


@contextmanager
def new_memory() -> Iterator[recollect.LocalRecollect]:
    """Open a store in a temporary file, with embeddings off."""
    with (
        TemporaryDirectory(prefix="recollect-bench-") as folder,
        recollect.open(Path(folder) / "memory.db", embedding_backend="none") as rec,
    ):
        yield rec


def candidates(rec: recollect.LocalRecollect) -> list[Memory]:
    """Return all memories in the inbox or active, except episodes."""
    memories: list[Memory] = []
    for kind in TYPES:
        for status in STATUSES:
            page = rec.memories.list(
                everywhere=True, types=[kind], statuses=[status], limit=MAX_LIMIT
            )
            if len(page) == MAX_LIMIT:
                raise TooManyCandidates(
                    f"{MAX_LIMIT} or more of {kind}, {status}; use smaller stores"
                )
            memories += page
    return memories
