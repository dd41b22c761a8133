"""
Time one system at one size. Knows the verbs of a system, not which system it is.

The order is fixed: store everything, settle, write one by one, close; open again and ask. Every
project is asked once before the questions that count, and that first time is reported by itself.
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

from benchmarks.metrics import percentile
from benchmarks.sentences import Question, Sentence
from benchmarks.systems.own import Own
from benchmarks.systems.protocol import Opens, System
from benchmarks.tasks import ROOT
from recollect.models.embedder import Embedder

BATCH = 100
IMPORTS = 10
FRESH = 3

T = TypeVar("T")


class TooSlow(Exception):
    """Storing took longer than the run allows."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a system is given; no question comes twice, so nothing is answered from a cache."""

    stored: Sequence[Sentence]
    written: Sequence[Sentence]
    first_asked: Sequence[Question]
    asked: Sequence[Question]
    asked_everywhere: Sequence[Question]
    bundles: Sequence[Question]
    asked_fresh: Sequence[Question]


def measure(
    name: str,
    opens: Opens,
    load: Load,
    *,
    folder: Path,
    embedder: Embedder,
    most_build_s: float,
) -> dict[str, float]:
    """Return every measurement of one system by name; times in ms."""
    with closing(opens(folder, embedder)) as system:
        found = _built(system, load, most_build_s)
        found |= _spread("write", _times(system.add, load.written), also_p99=True)
        system.settle()
    found["size MB"] = _size_mb(folder)
    with closing(opens(folder, embedder)) as system:
        found |= _asked(system, load)
    found["size after MB"] = _size_mb(folder)
    return found | _fresh(name, folder, load.asked_fresh)


def import_ms() -> float:
    """Return how long `import recollect` takes in a new process, the median of IMPORTS."""
    code = "from time import perf_counter as t; s = t(); import recollect; print(1000 * (t() - s))"
    command = [sys.executable, "-c", code]
    times = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(IMPORTS)
    ]
    return percentile(times, 50)


def _built(system: System, load: Load, most_build_s: float) -> dict[str, float]:
    started = perf_counter()
    for start in range(0, len(load.stored), BATCH):
        system.add_many(load.stored[start : start + BATCH])
        if perf_counter() - started > most_build_s:
            raise TooSlow(f"{start + BATCH:,} of {len(load.stored):,} in {most_build_s:.0f} s")
    stored = perf_counter()
    system.settle()
    settled = perf_counter()
    return {
        "stored/s": len(load.stored) / (stored - started),
        "stored and settled/s": len(load.stored) / (settled - started),
    }


def _asked(system: System, load: Load) -> dict[str, float]:
    found = _spread("first question", _times(system.ask, load.first_asked))
    found |= _spread("search", _times(system.ask, load.asked))
    if isinstance(system, Own):
        everywhere = _times(system.ask_everywhere, load.asked_everywhere)
        found |= _spread("search everywhere", everywhere)
        found |= _spread("context", _times(system.context, load.bundles))
    return found


def _times(call: Callable[[T], object], given: Iterable[T]) -> list[float]:
    times = []
    for one in given:
        started = perf_counter()
        call(one)
        times.append(1000 * (perf_counter() - started))
    return times


def _spread(name: str, times: Sequence[float], *, also_p99: bool = False) -> dict[str, float]:
    wanted = (50, 95, 99) if also_p99 else (50, 95)
    return {f"{name} p{one}": percentile(times, one) for one in wanted}


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def _fresh(name: str, folder: Path, asked: Sequence[Question]) -> dict[str, float]:
    told = [_told_by_fresh(name, folder, asked) for _ in range(FRESH)]
    names = {"open_ms": "open", "first_ms": "first answer", "rss_mb": "resident MB"}
    values = {key: [one[key] for one in told if one[key] is not None] for key in names}
    return {names[key]: percentile(found, 50) for key, found in values.items() if found}


def _told_by_fresh(name: str, folder: Path, asked: Sequence[Question]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fresh", name, str(folder)],
        input=json.dumps([asdict(question) for question in asked]),
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    return told
