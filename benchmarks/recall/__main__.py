"""
What an agent's past costs: `python -m benchmarks.recall`.

100,000 messages of eleven agents lie in one store: appending, searching, the bundle, compacting and
deleting are timed there, with the memory and the disk an agent takes. Plain SQLite with FTS5 and
ChromaDB take the same messages and questions in the same round. What is measured stands in
stopwatch.py; this file is the run.
"""

import argparse
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw

import recollect
from benchmarks.capture.messages import make_pool
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.recall.past import LENGTH, SMALL, talks
from benchmarks.recall.report import render
from benchmarks.recall.rivals import NAMES, is_there
from benchmarks.recall.stopwatch import BUDGET, Given, measure
from benchmarks.tasks import default_folder
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder

OUT = RESULTS / "recall.md"
SAMPLE = 64  # real vectors, for the mean of the made-up ones


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    load = _load()
    made = _given(given.tasks, given.messages)
    rivals = [name for name in given.rivals.split(",") if name]
    rounds = []
    for number in range(given.rounds):
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
        rounds.append(measure(made, rivals))
    asked = sys.argv[1:] if arguments is None else arguments
    notes = _notes(made, rivals, given.rounds, load, asked)
    report = render(rounds, notes)
    print(report)
    if given.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def _given(tasks: Path, count: int) -> Given:
    pool = make_pool(tasks)
    past = talks(pool, count)
    real = create_embedder(load_settings())
    sample = [one.content for one in past[0].messages if one.content][:SAMPLE]
    real.embed_query("warm up")  # what loading the model takes is measured by benchmarks.speed
    return Given(pool=pool, past=past, embedder=RandomVectors(real, sample), real=real)


def _notes(
    made: Given, rivals: Sequence[str], rounds: int, load: str, arguments: Sequence[str]
) -> list[str]:
    said = [one for talk in made.past for one in talk.messages]
    chars = sum(len(one.content) for one in said) / len(said)
    missing = [name for name in rivals if not is_there(name)]
    lines = [
        f"- `{shlex.join(['python', '-m', 'benchmarks.recall', *arguments])}`, LocalRecollect "
        f"{recollect.__version__}, {made.real.name}; SQLite {apsw.sqlite_lib_version()}, Python "
        f"{platform.python_version()}, {os.cpu_count()} cores; load of the machine when it began: "
        f"{load}.",
        f"- {len(said):,} messages over a year, {chars:.0f} characters in the mean; half are one "
        f"agent's (*large*), the rest is divided among {len(SMALL)} (*small*). Conversations have "
        f"{LENGTH} messages, one in five a tool call without words. Texts: {made.pool.origin}; the "
        "output of tools is made up.",
        "- Vectors of items are made up, questions are embedded by the real model and every one is "
        "new. Recollect logs every question with its hits and reasons; the rivals do not.",
        f"- A bundle has a budget of {BUDGET:,} tokens: system prompt, blocks, summary, pins, "
        "history, memories, messages.",
        "- `fts5` knows words alone, `chromadb` meaning alone; each stands where it can be "
        "compared. The last columns say how many times better Recollect is; below 1× it is worse.",
    ]
    if rounds > 1:
        lines.append(
            f"- Each figure is the median of {rounds} rounds, every round with a store of its own; "
            "in brackets the least and the most."
        )
    lines += [f"- {name}: left out, it is not installed." for name in missing]
    return lines


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000, help="in the store")
    parser.add_argument("--rounds", type=int, default=2, help="of which the median counts")
    parser.add_argument("--rivals", default=",".join(NAMES), help="empty for none")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
