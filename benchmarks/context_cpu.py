"""
Compare the processor time of `context_for` with that of an older checkout.

`python -m benchmarks.context_cpu --before FOLDER --write`: the older code fills a store of messages
and memories; both codes ask it the same questions, each in its own process and on its own copy, in
turn. CPU time, because wall time depends on other load. A hash of all texts says whether the
bundles are equal.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import recollect
from benchmarks.capture.generated_messages import make_pool
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from benchmarks.recall.generated_conversations import questions
from benchmarks.server.context_profile import CONTEXT_OPTIONS
from benchmarks.server.fill_store import AGENT, fill_store
from benchmarks.server.processes import environment, keep_bytecode
from benchmarks.tasks import ROOT, default_folder

OUT = RESULTS / "context_cpu.md"
WARM_UP = 20


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.step:
        return _run_step(options)
    sources = {"now": ROOT}
    if options.before:
        sources = {"before": options.before, **sources}
    rounds: dict[str, list[Mapping[str, Any]]] = {name: [] for name in sources}
    with TemporaryDirectory(prefix="recollect-cpu-") as temporary:
        folder = Path(temporary)
        keep_bytecode(folder / "compiled")
        _start_step("fill", folder, options, next(iter(sources.values())))
        for name in sources:
            shutil.copy(folder / "filled.db", folder / f"{name}.db")
        for _ in range(options.rounds):
            for name, source in sources.items():
                _start_step("ask", folder, options, source, db=folder / f"{name}.db")
                rounds[name].append(json.loads((folder / "times.json").read_text("utf-8")))
    text = "\n".join([*_notes(options), "", *_rows(rounds), ""])
    print(text)
    if options.write:
        OUT.write_text(text, encoding="utf-8")
    return 0


def _start_step(
    step: str, folder: Path, options: argparse.Namespace, source: Path, *, db: Path | None = None
) -> None:
    """Run one step with the package of *source* and the benchmarks of this checkout."""
    command = ["-m", "benchmarks.context_cpu", "--step", step, "--folder", str(folder)]
    command += ["--messages", str(options.messages), "--questions", str(options.questions)]
    command += ["--tasks", str(options.tasks)] + (["--db", str(db)] if db else [])
    paths = os.pathsep.join((str(source / "src"), str(ROOT)))
    env = {**environment(folder), "PYTHONPATH": paths}
    subprocess.run([sys.executable, *command], env=env, check=True)


def _run_step(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if options.step == "fill":
        filled = fill_store(folder / "filled.db", make_pool(options.tasks), options.messages)
        drawn = questions(filled.past, AGENT, options.questions + WARM_UP, seed=97)
        texts = [question.text for question in drawn]
        (folder / "questions.json").write_text(json.dumps(texts), encoding="utf-8")
        return 0
    texts = json.loads((folder / "questions.json").read_text("utf-8"))
    times, digest = [], sha256()
    with recollect.open(options.db) as rec:
        for number, text in enumerate(texts):
            started = process_time()
            bundle = rec.context_for(text, visible_texts=[text], **CONTEXT_OPTIONS)
            if number >= WARM_UP:
                times.append(1000 * (process_time() - started))
                digest.update(f"{bundle.prefix}\0{bundle.text}\0".encode())
    result = {"times": times, "texts": digest.hexdigest()[:12]}
    (folder / "times.json").write_text(json.dumps(result), encoding="utf-8")
    return 0


def _rows(rounds: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    rows = []
    for name, results in rounds.items():
        times = [took for result in results for took in result["times"]]
        figures = [f"{percentile(times, share):.1f}" for share in (50, 95)]
        best = min(percentile(result["times"], 50) for result in results)
        texts = ", ".join(sorted({result["texts"] for result in results}))
        rows.append([name, f"{len(times):,}", *figures, f"{best:.1f}", texts])
    header = ["", "calls", "CPU p50 ms", "CPU p95 ms", "p50 of the best round", "hash of the texts"]
    return table(header, rows)


def _notes(options: argparse.Namespace) -> list[str]:
    more = " --before FOLDER" if options.before else ""
    more += f" --questions {options.questions}"
    return [
        "# Processor time of `context_for`",
        "",
        f"- `python -m benchmarks.context_cpu{more} --write`, Recollect {recollect.__version__}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores.",
        f"- A store of {options.messages:,} messages of one agent and some 600 memories; "
        f"{options.questions} questions in {options.rounds} rounds, after {WARM_UP} to warm up, to "
        "an open memory, with the real model. *Before* is an older checkout, measured in turn.",
        "- CPU time of the whole process, the embedding of the question included, because wall "
        "time depends on other load. Other load raises CPU time too, by shared caches: compare the "
        "rows with each other. Hashes differ if the ranking or the selection changed in between.",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="the folder of an older checkout")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    for name in ("--step", "--folder", "--db"):  # of the processes that it starts
        parser.add_argument(name, type=str if name == "--step" else Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
