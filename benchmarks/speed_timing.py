"""
Time one system at one size.

The order is fixed: store everything, finish indexing, write one by one, close; open again and ask.
Every project is asked once before the questions that count; that first time is reported separately.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from benchmarks.generated_sentences import GeneratedSentence, ProjectQuestion
from benchmarks.metrics import percentile
from benchmarks.systems.recollect_system import RecollectSystem
from benchmarks.systems.system_protocol import System, SystemOpener
from benchmarks.tasks import ROOT
from recollect.models.embedder import Embedder

BATCH = 100
IMPORTS = 10
COLD_STARTS = 3

T = TypeVar("T")


class TooSlow(Exception):
    """Storing took longer than the run allows."""


@dataclass(frozen=True, kw_only=True)
class SpeedInput:
    """What a system is given; no question comes twice, so nothing is answered from a cache."""

    stored: Sequence[GeneratedSentence]
    written: Sequence[GeneratedSentence]
    first_questions: Sequence[ProjectQuestion]
    questions: Sequence[ProjectQuestion]
    everywhere_questions: Sequence[ProjectQuestion]
    bundle_questions: Sequence[ProjectQuestion]
    cold_questions: Sequence[ProjectQuestion]


def measure(
    name: str,
    opens: SystemOpener,
    load: SpeedInput,
    *,
    folder: Path,
    embedder: Embedder,
    most_build_s: float,
) -> dict[str, float]:
    """Return every measurement of one system by name; times in ms."""
    with closing(opens(folder, embedder)) as system:
        figures = _time_ingest(system, load, most_build_s)
        figures |= _percentiles("write", _call_times(system.add, load.written), also_p99=True)
        system.finish_indexing()
    figures["size MB"] = _size_mb(folder)
    with closing(opens(folder, embedder)) as system:
        figures |= _time_questions(system, load)
    figures["size after MB"] = _size_mb(folder)
    return figures | _cold_start_figures(name, folder, load.cold_questions)


def import_ms() -> float:
    """Return how long `import recollect` takes in a new process, the median of IMPORTS."""
    code = "from time import perf_counter as t; s = t(); import recollect; print(1000 * (t() - s))"
    command = [sys.executable, "-c", code]
    times = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(IMPORTS)
    ]
    return percentile(times, 50)


def _time_ingest(system: System, load: SpeedInput, most_build_s: float) -> dict[str, float]:
    started = perf_counter()
    for start in range(0, len(load.stored), BATCH):
        system.add_many(load.stored[start : start + BATCH])
        if perf_counter() - started > most_build_s:
            raise TooSlow(f"{start + BATCH:,} of {len(load.stored):,} in {most_build_s:.0f} s")
    stored = perf_counter()
    system.finish_indexing()
    settled = perf_counter()
    return {
        "stored/s": len(load.stored) / (stored - started),
        "stored and settled/s": len(load.stored) / (settled - started),
    }


def _time_questions(system: System, load: SpeedInput) -> dict[str, float]:
    figures = _percentiles("first question", _call_times(system.ask, load.first_questions))
    figures |= _percentiles("search", _call_times(system.ask, load.questions))
    if isinstance(system, RecollectSystem):
        everywhere = _call_times(system.ask_everywhere, load.everywhere_questions)
        figures |= _percentiles("search everywhere", everywhere)
        figures |= _percentiles("context", _call_times(system.context, load.bundle_questions))
    return figures


def _call_times(call: Callable[[T], object], arguments: Iterable[T]) -> list[float]:
    times = []
    for argument in arguments:
        started = perf_counter()
        call(argument)
        times.append(1000 * (perf_counter() - started))
    return times


def _percentiles(name: str, times: Sequence[float], *, also_p99: bool = False) -> dict[str, float]:
    ranks = (50, 95, 99) if also_p99 else (50, 95)
    return {f"{name} p{rank}": percentile(times, rank) for rank in ranks}


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _cold_start_figures(
    name: str, folder: Path, questions: Sequence[ProjectQuestion]
) -> dict[str, float]:
    runs = [_run_cold_start(name, folder, questions) for _ in range(COLD_STARTS)]
    names = {"open_ms": "open", "first_ms": "first answer", "rss_mb": "resident MB"}
    values = {key: [run[key] for run in runs if run[key] is not None] for key in names}
    return {names[key]: percentile(numbers, 50) for key, numbers in values.items() if numbers}


def _run_cold_start(
    name: str, folder: Path, questions: Sequence[ProjectQuestion]
) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.cold_start", name, str(folder)],
        input=json.dumps([asdict(question) for question in questions]),
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures
