"""
What a search costs as the store grows: `python -m benchmarks.scale`.

10,000, 100,000 and a million messages of a hundred projects, one of which holds a tenth, as
messages and as memories; questions to ordinary projects and to the large one, embedded by the real
model.
Plain FTS5 and ChromaDB take the same messages and questions in the same run. What is measured
stands in stopwatch.py and parts.py; this file is the run.
"""

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

import recollect
from benchmarks.capture.messages import Pool, make_pool
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.recall.past import Question, Talk, questions
from benchmarks.recall.rivals import NAMES, is_there
from benchmarks.scale.fill import fill
from benchmarks.scale.past import LARGE, ORDINARY, PROJECTS, STOCK, talks
from benchmarks.scale.report import WHERE, AtSize, render
from benchmarks.scale.stopwatch import WARM_UP, Asked, Times, own, rival
from benchmarks.tasks import default_folder
from recollect.config import load_settings
from recollect.models.embedder import Embedder
from recollect.models.model_factory import create_embedder

OUT = RESULTS / "scale.md"
SAMPLE = 64  # real vectors, for the mean of the made-up ones
ASKED = 200
PROFILED = 100
FEW = 9  # ordinary projects that are asked, in turn
LOOKED_AT = 3_000  # conversations, for something to ask about


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    pool = make_pool(given.tasks)
    real = create_embedder(load_settings())
    sample = [one.content for one in next(talks(pool, 1_000)).messages if one.content][:SAMPLE]
    embedder = RandomVectors(real, sample)
    real.embed_query("warm up")  # what loading the model takes is measured by benchmarks.speed
    notes = _notes(pool, real, load)
    done: list[AtSize] = []
    with _folder(given.keep) as folder:
        for size in given.sizes:
            done.append(_at_size(size, given, folder, pool, embedder))
            if given.write:
                OUT.write_text(render(done, notes), encoding="utf-8")
    print(render(done, notes))
    return 0


def _at_size(
    size: int, given: argparse.Namespace, folder: Path, pool: Pool, embedder: Embedder
) -> AtSize:
    asked = {where: _asked(pool, size, where) for where in WHERE}
    times: dict[tuple[str, str], Times] = {}
    rates: dict[str, float] = {}
    held: dict[str, float] = {}
    missing: dict[str, str] = {}
    for kind in ("messages", "memories", *given.rivals):
        if why := _left_out(kind, size, given):
            missing[kind] = why
            continue
        _say(f"{kind} at {size:,} …")
        filled = fill(kind, folder / f"{kind}-{size}", pool, size, embedder)
        rates[kind] = filled.per_second
        for where, some in asked.items():
            time = own if kind in ("messages", "memories") else rival
            times[kind, where] = time(kind, filled.folder, embedder, some)
        if (mb := _resident_mb()) is not None:
            held[kind] = mb
    return AtSize(size=size, times=times, per_second=rates, resident_mb=held, missing=missing)


def _left_out(kind: str, size: int, given: argparse.Namespace) -> str:
    if kind in given.rivals and not is_there(kind):
        return "it is not installed"
    if kind == "memories" and size > given.most_memories:
        return f"measured up to {given.most_memories:,}"
    if kind == "chromadb" and size > given.most_chromadb:
        return f"measured up to {given.most_chromadb:,}, since it stores some hundred a second"
    return ""


def _asked(pool: Pool, size: int, where: str) -> Asked:
    """Return questions about what is said in some projects, of each as many."""
    chosen = [LARGE] if where == "large" else list(ORDINARY[:FEW])
    past: dict[str, list[Talk]] = {project: [] for project in chosen}
    for talk in islice(talks(pool, size), LOOKED_AT):
        if talk.agent in past:
            past[talk.agent].append(talk)
    count = -(-(WARM_UP + ASKED + PROFILED) // len(chosen))
    by_project = [questions(past[one], one, count, seed=41) for one in chosen if past[one]]
    in_turn: list[Question] = [one for several in zip(*by_project, strict=True) for one in several]
    return Asked(
        warm_up=in_turn[:WARM_UP],
        timed=in_turn[WARM_UP : WARM_UP + ASKED],
        profiled=in_turn[WARM_UP + ASKED :],
    )


def _notes(pool: Pool, real: Embedder, load: str) -> list[str]:
    return [
        f"- Recollect {recollect.__version__}, {real.name}; SQLite {apsw.sqlite_lib_version()}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores, one process; load of the "
        f"machine when it began: {load}.",
        f"- Messages of {PROJECTS} projects, one of which (*large*) holds a tenth; questions to "
        f"the others (*ordinary*) go to {FEW} of them in turn. One message in five is a tool call "
        f"without words. Texts: {pool.origin}; the output of tools is made up, and one in five is "
        f"such: {STOCK // 5:,} texts that come again. *Memories* are the same texts.",
        f"- {ASKED} questions each, no two alike, embedded by the real model within the time; "
        "vectors of items are made up. Recollect logs every question with its hits and reasons, "
        "the rivals do not; fts5 needs no embedding.",
        "- CPU is that of the whole process: on a busy machine wall time says little. Of a store "
        "that was kept, the rate is that of the run that filled it.",
    ]


def _resident_mb() -> float | None:
    try:
        # Optional: without it memory is not reported.
        import psutil
    except ImportError:
        return None
    return float(psutil.Process().memory_info().rss) / 1e6


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept
        return
    with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)

    def numbers(text: str) -> list[int]:
        return [int(one) for one in text.split(",")]

    def names(text: str) -> list[str]:
        return [one for one in text.split(",") if one]

    parser.add_argument("--sizes", type=numbers, default="10000,100000,1000000", help="messages")
    parser.add_argument("--rivals", type=names, default=",".join(NAMES), help="empty for none")
    parser.add_argument("--keep", type=Path, help="keep filled stores here, and use them again")
    parser.add_argument("--most-memories", type=int, default=100_000, help="also as memories up to")
    parser.add_argument("--most-chromadb", type=int, default=100_000, help="chromadb up to")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
