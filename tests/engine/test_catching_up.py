"""A question and somebody who embeds at the same time: the question waits, but not for long."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import Hit, Recollect
from recollect.engine import indexer
from recollect.models.protocol import Vectors
from recollect.models.scripted import ScriptedEmbedder
from support import open_memory

LAMP = "The lamp in the hall is green."
QUESTION = "Which lamp is green?"


class Held(ScriptedEmbedder):
    """An embedder that can be held up in the middle of a batch. Questions are not held up."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if list(texts) != [QUESTION]:
            self.begun.set()
            assert self.go_on.wait(60)
        return super().embed(texts)


@contextmanager
def embedding(path: Path, *, items: int) -> Iterator[tuple[Recollect, Held, ThreadPoolExecutor]]:
    """Somebody has begun to embed *items*, the last of them about the lamp, and is held up."""
    embedder = Held()
    with open_memory(path, embedder=embedder) as memory, ThreadPoolExecutor(2) as pool:
        memory.ingest_many([{"content": f"Note {number}."} for number in range(items - 1)])
        memory.ingest(LAMP)
        pool.submit(memory.embed_some)
        assert embedder.begun.wait(60)
        try:
            yield memory, embedder, pool
        finally:
            embedder.go_on.set()


def meaning(hits: Sequence[Hit]) -> float:
    [hit] = [one for one in hits if one.memory.content == LAMP]
    return hit.parts.semantic


def test_a_question_waits_for_the_few_that_somebody_is_embedding(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "A_MOMENT_S", 60)

    with embedding(path, items=2) as (memory, embedder, pool):
        asked = pool.submit(memory.search, QUESTION)
        with pytest.raises(TimeoutError):
            asked.result(timeout=0.3)
        embedder.go_on.set()

        assert meaning(asked.result(60)) > 0


def test_a_question_does_not_wait_for_somebody_who_is_stuck(path: Path) -> None:
    with embedding(path, items=2) as (memory, _, _):
        assert meaning(memory.search(QUESTION)) == 0


def test_a_question_does_not_wait_for_a_long_queue(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "A_MOMENT_S", 60)

    with embedding(path, items=indexer.CATCH_UP_ITEMS) as (memory, _, pool):
        asked = pool.submit(memory.search, QUESTION)

        assert meaning(asked.result(30)) == 0
