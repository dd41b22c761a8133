"""
Time searches in a filled store: in ordinary projects, and in the one that holds a tenth.

Wall time is what a caller waits; CPU time is what it would be on a machine that has nothing else to
do, give or take. Both include embedding the question, and no question comes twice.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import recollect
from benchmarks.metrics import percentile
from benchmarks.recall.past import ENDS_AT, Question
from benchmarks.recall.rivals import open_rival
from benchmarks.scale.parts import profile
from recollect import LocalRecollect
from recollect.models.embedder import Embedder

WARM_UP = 20


@dataclass(frozen=True, kw_only=True)
class Times:
    """What a search took, in ms, and where that went (ms by piece, medians)."""

    p50: float
    p95: float
    cpu_p50: float
    cpu_p95: float
    parts: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Questions to one kind of project: to warm up with, to be timed, and to be taken apart."""

    warm_up: Sequence[Question]
    timed: Sequence[Question]
    profiled: Sequence[Question]


def own(kind: str, folder: Path, embedder: Embedder, asked: Asked) -> Times:
    """Time `search_messages` or `search`."""
    with recollect.open(folder / "memory.db", embedder=embedder) as memory:
        ask = _verb(kind, memory)
        _each(ask, asked.warm_up)
        wall, cpu = _each(ask, asked.timed)
        parts = profile(ask, asked.profiled)
    return _times(wall, cpu, parts)


def rival(name: str, folder: Path, embedder: Embedder, asked: Asked) -> Times:
    """Time a rival's search."""
    with closing(open_rival(name, folder, embedder)) as store:
        _each(store.search, asked.warm_up)
        wall, cpu = _each(store.search, asked.timed)
    return _times(wall, cpu, {})


def _verb(kind: str, memory: LocalRecollect) -> Callable[[Question], object]:
    if kind == "messages":
        return lambda one: memory.conversations.search(one.text, agent=one.agent, asked_at=ENDS_AT)
    return lambda one: memory.search(one.text, project=one.agent, asked_at=ENDS_AT)


def _each(
    ask: Callable[[Question], object], asked: Sequence[Question]
) -> tuple[list[float], list[float]]:
    wall, cpu = [], []
    for question in asked:
        started, spent = perf_counter(), process_time()
        ask(question)
        wall.append(1000 * (perf_counter() - started))
        cpu.append(1000 * (process_time() - spent))
    return wall, cpu


def _times(wall: Sequence[float], cpu: Sequence[float], parts: dict[str, float]) -> Times:
    return Times(
        p50=percentile(wall, 50),
        p95=percentile(wall, 95),
        cpu_p50=percentile(cpu, 50),
        cpu_p95=percentile(cpu, 95),
        parts=parts,
    )
