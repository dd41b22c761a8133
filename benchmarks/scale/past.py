"""
What lies in the store: conversations of a hundred projects, one of which holds a tenth.

Each project has one agent of the same name. Conversations come in random order, so that what
belongs together lies apart in the file, as it does in use. Deterministic; nothing here knows a
store.
"""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

from benchmarks.capture.messages import Pool, messages
from benchmarks.recall.past import ENDS_AT, YEAR, Talk, Texts, said

PROJECTS = 100
LARGE = "project-0"
ORDINARY = tuple(f"project-{number}" for number in range(1, PROJECTS))
LARGE_SHARE = 0.1
LENGTH = 100  # messages of a conversation
STOCK = 20_000  # texts of tools; then they come again
SEED = 29


def talks(pool: Pool, count: int) -> Iterator[Talk]:
    """Yield conversations of about *count* messages in all."""
    random = Random(SEED)
    texts = Texts(pool, random, messages(pool, STOCK, shape="agent"))
    for project, length in _lengths(count, random):
        started_at = ENDS_AT - random.random() * (YEAR - timedelta(days=3)) - timedelta(days=2)
        spoken = tuple(said(project, started_at, length, texts))
        yield Talk(agent=project, project=project, started_at=started_at, messages=spoken)


def _lengths(count: int, random: Random) -> list[tuple[str, int]]:
    """Return a project and a length for each conversation, in random order."""
    found = []
    for project in (LARGE, *ORDINARY):
        share = LARGE_SHARE if project == LARGE else (1 - LARGE_SHARE) / len(ORDINARY)
        left = round(count * share)
        while left > 0:
            found.append((project, min(LENGTH, left)))
            left -= LENGTH
    random.shuffle(found)
    return found
