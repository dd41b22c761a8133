"""
Time searches in a filled store: in ordinary projects, and in the one that has a tenth.

Wall time is what a caller waits; CPU time is less affected by a busy machine. Both include
embedding the query, and no question is asked twice.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import recollect
from benchmarks.metrics import percentile
from benchmarks.recall.generated_conversations import ENDS_AT, AgentQuestion
from benchmarks.recall.message_baselines import open_baseline
from benchmarks.scale.search_profile import profile
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

WARM_UP = 20


@dataclass(frozen=True, kw_only=True)
class SearchTimes:
    """What a search took, in ms, and where that went (ms by piece, medians)."""

    p50: float
    p95: float
    cpu_p50: float
    cpu_p95: float
    parts: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class QuestionSet:
    """Questions to one kind of project: to warm up with, to be timed, and to be taken apart."""

    warm_up: Sequence[AgentQuestion]
    timed: Sequence[AgentQuestion]
    profiled: Sequence[AgentQuestion]


def time_recollect(
    kind: str, folder: Path, embedder: Embedder, questions: QuestionSet
) -> SearchTimes:
    """Time `search_messages` or `search`."""
    with recollect.open(folder / "memory.db", embedder=embedder) as rec:
        ask = _verb(kind, rec)
        _call_times(ask, questions.warm_up)
        wall, cpu = _call_times(ask, questions.timed)
        parts = profile(ask, questions.profiled)
    return _times(wall, cpu, parts)


def time_baseline(
    name: str, folder: Path, embedder: Embedder, questions: QuestionSet
) -> SearchTimes:
    """Time a baseline's search."""
    with closing(open_baseline(name, folder, embedder)) as store:
        _call_times(store.search, questions.warm_up)
        wall, cpu = _call_times(store.search, questions.timed)
    return _times(wall, cpu, {})


def _verb(kind: str, rec: LocalRecollect) -> Callable[[AgentQuestion], object]:
    if kind == "messages":
        return lambda question: rec.conversations.search(
            question.text, agent=question.agent, asked_at=ENDS_AT
        )
    return lambda question: rec.search(question.text, project=question.agent, asked_at=ENDS_AT)


def _call_times(
    ask: Callable[[AgentQuestion], object], questions: Sequence[AgentQuestion]
) -> tuple[list[float], list[float]]:
    wall, cpu = [], []
    for question in questions:
        started, spent = perf_counter(), process_time()
        ask(question)
        wall.append(1000 * (perf_counter() - started))
        cpu.append(1000 * (process_time() - spent))
    return wall, cpu


def _times(wall: Sequence[float], cpu: Sequence[float], parts: dict[str, float]) -> SearchTimes:
    return SearchTimes(
        p50=percentile(wall, 50),
        p95=percentile(wall, 95),
        cpu_p50=percentile(cpu, 50),
        cpu_p95=percentile(cpu, 95),
        parts=parts,
    )
