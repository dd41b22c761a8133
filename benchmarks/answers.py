"""
Put a task to Recollect through its Python door, and keep what it answers.

Every item is an episode of a project; each question is asked in its project, with the door to
other projects shut (`cross_project=False`), so that nothing outside its scope can be returned.
Nothing but text, time and project is handed over: no category, no gold. The time of a search
includes embedding the question. This file does not score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import recollect
from benchmarks.metrics import DEPTH
from benchmarks.rounds import Placed, Round, rounds
from benchmarks.tasks import Query, Task
from recollect.models.protocol import Embedder
from recollect.service.inputs import MAX_CONTENT

BATCH = 500


@dataclass(frozen=True)
class Answer:
    """The items a question got, best first, and how long it took."""

    query: Query
    ranked: tuple[str, ...]
    search_ms: float


@dataclass(frozen=True, kw_only=True)
class Answers:
    """All answers of a task, and what storing it cost."""

    answers: tuple[Answer, ...]
    stored: int
    cut: int  # items longer than the door takes; their beginning was stored
    ingest_s: float
    embed_s: float


def answer(task: Task, *, embedder: Embedder | None) -> Answers:
    """Store *task* in a new memory and ask its questions; without *embedder* by words only."""
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = Path(folder) / "memory.db"
        if embedder is None:
            memory = recollect.open(path, embedding_backend="none", cross_project=False)
        else:
            embedder.embed_query("warm up")  # loading the model is no part of a search
            memory = recollect.open(path, embedder=embedder, cross_project=False)
        with memory:
            return _answer(memory, rounds(task))


def _answer(memory: recollect.Recollect, plan: Sequence[Round]) -> Answers:
    item_of: dict[str, str] = {}
    answers: list[Answer] = []
    ingest_s = embed_s = 0.0
    for one in plan:
        started = perf_counter()
        for batch in _batches(one.stored):
            written = memory.ingest_many([_draft(placed) for placed in batch])
            ids = (placed.item.id for placed in batch)
            item_of.update(zip((kept.id for kept in written), ids, strict=True))
        stored = perf_counter()
        memory.drain()
        ingest_s += stored - started
        embed_s += perf_counter() - stored
        answers += [_ask(memory, asked.project, asked.query, item_of) for asked in one.asked]
    placed = [placed for one in plan for placed in one.stored]
    return Answers(
        answers=tuple(answers),
        stored=len(placed),
        cut=sum(len(one.item.text) > MAX_CONTENT for one in placed),
        ingest_s=ingest_s,
        embed_s=embed_s,
    )


def _ask(
    memory: recollect.Recollect, project: str, query: Query, item_of: dict[str, str]
) -> Answer:
    started = perf_counter()
    hits = memory.search(query.text, project=project, asked_at=query.asked_at, limit=DEPTH)
    took = perf_counter() - started
    return Answer(query, tuple(item_of[hit.memory.id] for hit in hits), 1000 * took)


def _draft(placed: Placed) -> dict[str, Any]:
    item = placed.item
    return {
        "content": item.text[:MAX_CONTENT],
        "type": "episode",
        "scope": "project",
        "project": placed.project,
        "title": "",
        "observed_at": item.at,
    }


def _batches(placed: Sequence[Placed]) -> Iterator[Sequence[Placed]]:
    for start in range(0, len(placed), BATCH):
        yield placed[start : start + BATCH]
