"""
Measure search as the store grows: `python -m benchmarks.scale`.

10,000, 100,000 and a million messages of a hundred projects, one of which has a tenth, as messages
and as memories. Questions go to ordinary projects and to the large one, embedded by the real model.
Plain FTS5 and ChromaDB store the same messages and answer the same questions in the same run.
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
from benchmarks.capture.generated_messages import TextPool, make_pool
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.recall.generated_conversations import (
    AgentQuestion,
    GeneratedConversation,
    questions,
)
from benchmarks.recall.message_baselines import BASELINES, is_installed
from benchmarks.scale.fill_projects import fill
from benchmarks.scale.generated_projects import (
    LARGE,
    ORDINARY,
    PROJECTS,
    STOCK,
    project_conversations,
)
from benchmarks.scale.scale_report import WHERE, ScaleResult, render
from benchmarks.scale.search_timing import (
    WARM_UP,
    QuestionSet,
    SearchTimes,
    time_baseline,
    time_recollect,
)
from benchmarks.tasks import default_folder
from recollect.config import load_settings
from recollect.models.embedder import Embedder
from recollect.models.model_factory import create_embedder

OUT = RESULTS / "scale.md"
SAMPLE = 64  # real vectors, for the mean of the made-up ones
QUESTIONS = 200
PROFILED = 100
ASKED_PROJECTS = 9  # ordinary projects that are asked, in turn
MAX_CONVERSATIONS = 3_000  # conversations, for something to ask about


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    pool = make_pool(options.tasks)
    real = create_embedder(load_settings())
    sample = [
        message.content
        for message in next(project_conversations(pool, 1_000)).messages
        if message.content
    ][:SAMPLE]
    embedder = RandomVectors(real, sample)
    real.embed_query("warm up")  # what loading the model takes is measured by benchmarks.speed
    notes = _notes(pool, real, load)
    done: list[ScaleResult] = []
    with _store_folder(options.keep) as folder:
        for size in options.sizes:
            done.append(_measure_size(size, options, folder, pool, embedder))
            if options.write:
                OUT.write_text(render(done, notes), encoding="utf-8")
    print(render(done, notes))
    return 0


def _measure_size(
    size: int, options: argparse.Namespace, folder: Path, pool: TextPool, embedder: Embedder
) -> ScaleResult:
    question_sets = {where: _question_set(pool, size, where) for where in WHERE}
    times: dict[tuple[str, str], SearchTimes] = {}
    rates: dict[str, float] = {}
    resident: dict[str, float] = {}
    missing: dict[str, str] = {}
    for kind in ("messages", "memories", *options.baselines):
        if why := _skip_reason(kind, size, options):
            missing[kind] = why
            continue
        _print_progress(f"{kind} at {size:,} …")
        filled = fill(kind, folder / f"{kind}-{size}", pool, size, embedder)
        rates[kind] = filled.per_second
        for where, some in question_sets.items():
            time = time_recollect if kind in ("messages", "memories") else time_baseline
            times[kind, where] = time(kind, filled.folder, embedder, some)
        if (mb := _resident_mb()) is not None:
            resident[kind] = mb
    return ScaleResult(
        size=size, times=times, per_second=rates, resident_mb=resident, missing=missing
    )


def _skip_reason(kind: str, size: int, options: argparse.Namespace) -> str:
    if kind in options.baselines and not is_installed(kind):
        return "it is not installed"
    if kind == "memories" and size > options.most_memories:
        return f"measured up to {options.most_memories:,}"
    if kind == "chromadb" and size > options.most_chromadb:
        return f"measured up to {options.most_chromadb:,}, since it stores some hundred a second"
    return ""


def _question_set(pool: TextPool, size: int, where: str) -> QuestionSet:
    """Return questions about what is said in some projects, of each as many."""
    chosen = [LARGE] if where == "large" else list(ORDINARY[:ASKED_PROJECTS])
    past: dict[str, list[GeneratedConversation]] = {project: [] for project in chosen}
    for conversation in islice(project_conversations(pool, size), MAX_CONVERSATIONS):
        if conversation.agent in past:
            past[conversation.agent].append(conversation)
    count = -(-(WARM_UP + QUESTIONS + PROFILED) // len(chosen))
    by_project = [
        questions(past[project], project, count, seed=41) for project in chosen if past[project]
    ]
    in_turn: list[AgentQuestion] = [
        question for several in zip(*by_project, strict=True) for question in several
    ]
    return QuestionSet(
        warm_up=in_turn[:WARM_UP],
        timed=in_turn[WARM_UP : WARM_UP + QUESTIONS],
        profiled=in_turn[WARM_UP + QUESTIONS :],
    )


def _notes(pool: TextPool, real: Embedder, load: str) -> list[str]:
    return [
        f"- Recollect {recollect.__version__}, {real.name}; SQLite {apsw.sqlite_lib_version()}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores, one process; load of the "
        f"machine when it began: {load}.",
        f"- Messages of {PROJECTS} projects, one of which (*large*) has a tenth; questions to the "
        f"others (*ordinary*) go to {ASKED_PROJECTS} of them in turn. One message in five is "
        "a tool "
        f"call without text. Texts: {pool.origin}; tool output is generated, one message in five, "
        f"from {STOCK // 5:,} texts that repeat. *Memories* are the same texts.",
        f"- {QUESTIONS} distinct questions each; the time includes embedding them with the "
        "real model. "
        "Vectors of items are random. Recollect logs every question with its hits and reasons, "
        "the baselines do not; fts5 needs no embedding.",
        "- CPU is that of the whole process; on a busy machine wall time says little. The "
        "fill rate of "
        "a kept store is that of the run that filled it.",
    ]


def _resident_mb() -> float | None:
    try:
        # Optional: without it memory is not reported.
        import psutil
    except ImportError:
        return None
    return float(psutil.Process().memory_info().rss) / 1e6


@contextmanager
def _store_folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _print_progress(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)

    def numbers(text: str) -> list[int]:
        return [int(number) for number in text.split(",")]

    def names(text: str) -> list[str]:
        return [name for name in text.split(",") if name]

    parser.add_argument("--sizes", type=numbers, default="10000,100000,1000000", help="messages")
    parser.add_argument(
        "--baselines",
        "--rivals",
        type=names,
        default=",".join(BASELINES),
        help="empty for none",
    )
    parser.add_argument("--keep", type=Path, help="keep filled stores here, and use them again")
    parser.add_argument("--most-memories", type=int, default=100_000, help="also as memories up to")
    parser.add_argument("--most-chromadb", type=int, default=100_000, help="chromadb up to")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
