"""
Generate conversations of a hundred projects, one of which has a tenth. Deterministic.

Each project has one agent of the same name. Conversations come in random order, so that the rows of
a project are spread over the file, as in real use.
"""

from collections.abc import Iterator
from datetime import timedelta
from random import Random

from benchmarks.capture.generated_messages import TextPool, generated_messages
from benchmarks.recall.generated_conversations import (
    ENDS_AT,
    YEAR,
    GeneratedConversation,
    MessageTexts,
    conversation_messages,
)

PROJECTS = 100
LARGE = "project-0"
ORDINARY = tuple(f"project-{number}" for number in range(1, PROJECTS))
LARGE_SHARE = 0.1
LENGTH = 100  # messages of a conversation
STOCK = 20_000  # texts of tools; then they come again
SEED = 29


def project_conversations(pool: TextPool, count: int) -> Iterator[GeneratedConversation]:
    """Yield conversations of about *count* messages in all."""
    random = Random(SEED)
    texts = MessageTexts(pool, random, generated_messages(pool, STOCK, shape="agent"))
    for project, length in _conversation_lengths(count, random):
        started_at = ENDS_AT - random.random() * (YEAR - timedelta(days=3)) - timedelta(days=2)
        spoken = tuple(conversation_messages(project, started_at, length, texts))
        yield GeneratedConversation(
            agent=project, project=project, started_at=started_at, messages=spoken
        )


def _conversation_lengths(count: int, random: Random) -> list[tuple[str, int]]:
    """Return a project and a length for each conversation, in random order."""
    lengths = []
    for project in (LARGE, *ORDINARY):
        share = LARGE_SHARE if project == LARGE else (1 - LARGE_SHARE) / len(ORDINARY)
        left = round(count * share)
        while left > 0:
            lengths.append((project, min(LENGTH, left)))
            left -= LENGTH
    random.shuffle(lengths)
    return lengths
