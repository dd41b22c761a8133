"""
Store a task with the Python API, ask its questions and return the answers.

The task is stored once, and its questions are asked under each configuration: with both indexes or
the word index only, and with some constants overridden. The search time includes embedding the
query. memory_adapter.py and message_adapter.py define how items are stored.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Protocol

import recollect
from benchmarks.constant_overrides import Override, apply_overrides
from benchmarks.memory_adapter import MemoryAdapter
from benchmarks.message_adapter import MessageAdapter
from benchmarks.question_rounds import PlacedItem, PlacedQuery, QuestionRound, question_rounds
from benchmarks.tasks import Task, TaskQuery
from recollect.domain.limits import MAX_CONTENT
from recollect.models.embedder import Embedder

BOTH, WORDS = "both", "words"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """How to search: with both indexes or words only, and with which overridden constants."""

    indexes: str
    overrides: tuple[Override, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The items a query returned, best first, and the search time."""

    query: TaskQuery
    ranked: tuple[str, ...]
    search_ms: float


@dataclass(frozen=True, kw_only=True)
class TaskAnswers:
    """All answers of a task under one configuration, and the time to store it."""

    answers: tuple[Answer, ...]
    stored: int
    cut: int  # items longer than the limit; their beginning was stored
    ingest_s: float
    embed_s: float


class TaskAdapter(Protocol):
    """How items are stored and searched."""

    def store(self, rec: recollect.LocalRecollect, placed: Sequence[PlacedItem]) -> None: ...

    def ask(self, rec: recollect.LocalRecollect, placed: PlacedQuery) -> Any: ...

    def items(self, hits: Any) -> tuple[str, ...]: ...


def answer_task(
    task: Task,
    configurations: Sequence[Configuration],
    *,
    embedder: Embedder | None,
    messages: bool = False,
) -> list[TaskAnswers]:
    """
    Store *task* in a new memory and ask its questions under each configuration.

    The caller applies overrides that change the store. Without *embedder* only words are searched.
    """
    adapter: TaskAdapter = MessageAdapter() if messages else MemoryAdapter()
    with _open_readers(configurations, embedder) as (writer, readers):
        return _run_rounds(adapter, writer, readers, configurations, question_rounds(task))


@contextmanager
def _open_readers(
    configurations: Sequence[Configuration], embedder: Embedder | None
) -> Iterator[tuple[recollect.LocalRecollect, dict[str, recollect.LocalRecollect]]]:
    """Yield the store to write to, and one for each choice of indexes; all open the same file."""
    choices = {configuration.indexes for configuration in configurations}
    with ExitStack() as resources:
        folder = resources.enter_context(TemporaryDirectory(prefix="recollect-bench-"))
        path = Path(folder) / "memory.db"
        readers = {}
        if WORDS in choices or embedder is None:
            plain = recollect.open(path, embedding_backend="none", cross_project=False)
            readers[WORDS] = resources.enter_context(plain)
        if BOTH in choices and embedder is not None:
            embedder.embed_query("warm up")  # loading the model does not count
            whole = recollect.open(path, embedder=embedder, cross_project=False)
            readers[BOTH] = resources.enter_context(whole)
        yield readers.get(BOTH) or readers[WORDS], readers


def _run_rounds(
    adapter: TaskAdapter,
    writer: recollect.LocalRecollect,
    readers: dict[str, recollect.LocalRecollect],
    configurations: Sequence[Configuration],
    plan: Sequence[QuestionRound],
) -> list[TaskAnswers]:
    answers: list[list[Answer]] = [[] for _ in configurations]
    ingest_s = embed_s = 0.0
    for round_ in plan:
        started = perf_counter()
        adapter.store(writer, round_.items)
        stored = perf_counter()
        writer.drain()
        ingest_s += stored - started
        embed_s += perf_counter() - stored
        for configuration, got in zip(configurations, answers, strict=True):
            with apply_overrides(configuration.overrides):
                got += [
                    _ask(adapter, readers[configuration.indexes], query) for query in round_.queries
                ]
    placed = [placed for round_ in plan for placed in round_.items]
    return [
        TaskAnswers(
            answers=tuple(got),
            stored=len(placed),
            cut=sum(len(placed_item.item.text) > MAX_CONTENT for placed_item in placed),
            ingest_s=ingest_s,
            embed_s=embed_s,
        )
        for got in answers
    ]


def _ask(adapter: TaskAdapter, rec: recollect.LocalRecollect, placed: PlacedQuery) -> Answer:
    started = perf_counter()
    hits = adapter.ask(rec, placed)
    took = perf_counter() - started
    return Answer(placed.query, adapter.items(hits), 1000 * took)
