"""
Measure speed beside other systems: `python -m benchmarks.speed`.

All systems store the same memories and answer the same questions in the same run, one after the
other. speed_timing.py has the measurements, systems/ the systems.
"""

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

import recollect
from benchmarks.generated_sentences import (
    PROJECTS,
    GeneratedSentence,
    ProjectQuestion,
    questions,
    sentences,
)
from benchmarks.random_vectors import RandomVectors
from benchmarks.speed_table import SpeedResult, render
from benchmarks.speed_timing import SpeedInput, TooSlow, import_ms, measure
from benchmarks.systems.system_registry import BASELINES, OWN, SystemMissing, system_opener
from recollect.config import load_settings
from recollect.models.embedder import Embedder
from recollect.models.model_factory import create_embedder

OUT = Path(__file__).resolve().parent / "results" / "speed.md"
WRITES = 500
QUESTIONS = 200
COLD_QUESTIONS = 50
SAMPLE = 64  # real vectors, for the mean of the made-up ones


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    sizes = [int(size) for size in options.sizes.split(",")]
    names = [*OWN, *(name for name in options.baselines.split(",") if name)]
    embedder = create_embedder(load_settings())
    if options.fake_item_vectors:
        sample = [sentence.text for sentence in sentences(SAMPLE)]
        embedder = RandomVectors(embedder, sample)
    embedder.embed_query("warm up")  # loading the model is measured in a fresh process
    notes = _notes(embedder, fake=options.fake_item_vectors)
    took = import_ms()
    done: list[SpeedResult] = []
    for size in sizes:
        done.append(_measure_size(size, names, embedder, options.most_build_s))
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(done, import_ms=took, notes=notes), encoding="utf-8")
    print(render(done, import_ms=took, notes=notes))
    return 0


def _measure_size(
    size: int, names: Sequence[str], embedder: Embedder, most_build_s: float
) -> SpeedResult:
    load = _speed_input(size)
    systems: dict[str, dict[str, float]] = {}
    missing: dict[str, str] = {}
    for name in names:
        print(f"{name} at {size:,} …", file=sys.stderr, flush=True)
        with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
            try:
                systems[name] = measure(
                    name,
                    system_opener(name),
                    load,
                    folder=Path(folder),
                    embedder=embedder,
                    most_build_s=most_build_s,
                )
            except SystemMissing as why:
                missing[name] = str(why)
            except TooSlow as why:
                missing[name] = f"too slow to build: {why}"
    return SpeedResult(size=size, systems=systems, missing=missing)


def _speed_input(size: int) -> SpeedInput:
    generated = sentences(size + WRITES)
    stored, written = generated[:size], generated[size:]
    return SpeedInput(
        stored=stored,
        written=written,
        first_questions=_one_in_each_project(stored),
        questions=questions(stored, QUESTIONS, seed=2),
        everywhere_questions=questions(stored, QUESTIONS, seed=3),
        bundle_questions=questions(stored, QUESTIONS, seed=4),
        cold_questions=questions(stored, COLD_QUESTIONS, seed=5),
    )


def _one_in_each_project(stored: Sequence[GeneratedSentence]) -> list[ProjectQuestion]:
    by_project: dict[str, ProjectQuestion] = {}
    for question in questions(stored, 10 * PROJECTS, seed=6):
        by_project.setdefault(question.project, question)
    return list(by_project.values())


def _notes(embedder: Embedder, *, fake: bool) -> list[str]:
    made_up = (
        "- Vectors of items are made up (`--fake-item-vectors`), questions are embedded by the "
        "real model: searching costs about the same, storing leaves the model's time out."
        if fake
        else "- Items and questions are embedded by the real model."
    )
    return [
        f"- Recollect {recollect.__version__}, {embedder.name}; SQLite "
        f"{apsw.sqlite_lib_version()}, Python {platform.python_version()}, {os.cpu_count()} cores.",
        f"- Made-up sentences of 8 to 40 words over {PROJECTS} projects, a tenth global; "
        f"{QUESTIONS} distinct questions, each in a project, after every project was asked once.",
        made_up,
        "- `recollect` finds by words and meaning, `recollect-words` without embeddings. `fts5` "
        "sees all rows and knows no projects; `chromadb` sees the project's rows alone. Both "
        "Recollects log every question, with its hits and reasons.",
        "- The last columns say how many times better Recollect is; below 1× it is worse.",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="numbers of memories")
    parser.add_argument(
        "--baselines", "--rivals", default=",".join(BASELINES), help="empty for none"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="the Markdown file to write")
    parser.add_argument(
        "--fake-item-vectors",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="make up the vectors of items instead of embedding them",
    )
    parser.add_argument(
        "--most-build-s", type=float, default=900, help="give a system up that stores longer"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
