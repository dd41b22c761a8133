"""
What a hook costs whoever waits for it: `python -m benchmarks.hooks --write`.

Hooks run as a coding agent runs them: a process each, JSON in, an answer out, with a server of the
store and without. Beside them, in turn with them: the bare interpreter, and a hook that does
nothing. The clock begins before the process and stops when it has ended.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import recollect
from benchmarks.markdown import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.sentences import PROJECTS, Question, Sentence, questions, sentences
from benchmarks.server.processes import environment, keep_bytecode, memory_server
from benchmarks.tasks import ROOT
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder
from recollect.text.token_counter import counter_for

OUT = RESULTS / "hooks.md"
SAMPLE = 64  # real vectors, for the mean of the made-up ones
AT_ONCE = 1_000
WARM_UP = 5
TYPES = ("decision", "project", "task_hint", "episode", "artifact")
# As an installer writes it: a file that imports one function and calls it.
SCRIPT = "import sys\nfrom recollect.entry import main\nsys.exit(main())\n"


class Took(NamedTuple):
    """What one process took, in ms: on the clock, and of the processor."""

    wall: float
    cpu: float


Times = dict[str, list[Took]]


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    parts: list[str] = []
    with TemporaryDirectory(prefix="recollect-hooks-") as made:
        folder = Path(made)
        keep_bytecode(folder / "compiled")
        script = folder / "recollect"
        script.write_text(SCRIPT)
        for size in given.sizes:
            parts += _at_size(size, folder / str(size), script, given.times)
            text = "\n".join([*_notes(given, load), *parts, ""])
            if given.write:
                OUT.write_text(text, encoding="utf-8")
    print(text)
    return 0


def _at_size(size: int, folder: Path, script: Path, times: int) -> list[str]:
    folder.mkdir()
    db = folder / "memory.db"
    stored = _filled(db, size)
    # As many questions as hooks, so that none is answered from a cache.
    asked = questions(stored, 2 * (times + WARM_UP), seed=5)
    found: Times = {}
    said: dict[str, list[str]] = {}
    hooks = Hooks(script, db, found, said)
    with memory_server(db) as running:
        with recollect.connect(running.url) as remote:
            remote.search("warm up")  # what loading the model takes is measured elsewhere
        hooks.run("server", asked[: times + WARM_UP], bare=True)
    hooks.run("no server", asked[times + WARM_UP :][: max(times // 3, 1) + WARM_UP], bare=False)
    rows = [
        [name, f"{len(one)}", *_percentiles(one), _answered(said, name)]
        for name, one in found.items()
    ]
    count = counter_for().count
    bundles = [count(_text(one)) for one in said["session-start, server"] if one]
    longest = max(len(_text(one)) for one in said["session-start, server"] if one)
    return [
        "",
        f"## {size:,} memories",
        "",
        *table(["", "times", "p50 ms", "p95 ms", "CPU ms", "answered"], rows),
        "",
        f"A session's beginning has {percentile(bundles, 50):.0f} tokens (p50), {max(bundles)} at "
        f"most, and {longest:,} characters at most. Gave up because it was late: "
        f"{_late(folder)} hooks.",
    ]


class Hooks:
    """Runs hooks in turn and keeps what each took and said."""

    def __init__(self, script: Path, db: Path, found: Times, said: dict[str, list[str]]) -> None:
        self._script = script
        self._db = db
        self._env = {**environment(db.parent), "PYTHONPATH": str(ROOT / "src")}
        self._found = found
        self._said = said

    def run(self, how: str, asked: Sequence[Question], *, bare: bool) -> None:
        """Run both hooks for each question, after some that do not count."""
        for number, one in enumerate(asked):
            transcript = str(self._db.with_name(f"{number}.jsonl"))
            told = {"cwd": "/", "prompt": one.text, "transcript_path": transcript}
            kept = number >= WARM_UP
            for event in ("session-start", "prompt"):
                words = [str(self._script), "hook", event, "--project", one.project]
                name = f"{event}, {how}"
                # Of a session of its own: a beginning tells what a prompt would.
                self._timed(name, words, {**told, "session_id": f"{event} {how} {number}"}, kept)
            if bare:
                self._timed("python -c pass", ["-c", "pass"], {}, kept)
                self._timed("a hook that does nothing", [str(self._script), "hook", "x"], {}, kept)

    def _timed(
        self, name: str, words: Sequence[str], told: Mapping[str, object], kept: bool
    ) -> None:
        command = [sys.executable, *words]
        env = {**self._env, "RECOLLECT_DB": str(self._db)}
        computed, begun = _computed_ms(), perf_counter()
        done = subprocess.run(
            command, input=json.dumps(told).encode(), env=env, stdout=subprocess.PIPE, check=True
        )
        took = Took(1000 * (perf_counter() - begun), _computed_ms() - computed)
        if kept:
            self._found.setdefault(name, []).append(took)
            self._said.setdefault(name, []).append(done.stdout.decode())


def _filled(db: Path, size: int) -> list[Sentence]:
    """Make a store of *size* memories, embedded, and return them."""
    stored = sentences(size, seed=3)
    embedder = RandomVectors(
        create_embedder(load_settings()), [one.text for one in stored[:SAMPLE]]
    )
    with recollect.open(db, embedder=embedder) as memory:
        for start in range(0, size, AT_ONCE):
            some = stored[start : start + AT_ONCE]
            memory.memories.ingest_many(
                [
                    {"content": one.text, "type": TYPES[place % len(TYPES)], "project": one.project}
                    if one.project
                    else {"content": one.text, "type": "profile", "scope": "global"}
                    for place, one in enumerate(some)
                ]
            )
        memory.drain()
    return stored


def _percentiles(times: Sequence[Took]) -> list[str]:
    walls = [one.wall for one in times]
    cpu = percentile([one.cpu for one in times], 50)
    return [*(f"{percentile(walls, at):.0f}" for at in (50, 95)), f"{cpu:.0f}"]


def _computed_ms() -> float:
    """Return what processes that were started and have ended have computed so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def _answered(said: Mapping[str, Sequence[str]], name: str) -> str:
    if "," not in name:
        return ""
    return f"{sum(map(bool, said[name]))} of {len(said[name])}"


def _late(folder: Path) -> int:
    log = (folder / "recollect" / "hooks.log").read_text(encoding="utf-8")
    return log.count("timed out")


def _text(printed: str) -> str:
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])


def _notes(given: argparse.Namespace, load: str) -> list[str]:
    sizes = " ".join(map(str, given.sizes))
    command = f"python -m benchmarks.hooks --sizes {sizes} --times {given.times} --write"
    return [
        "# Hooks",
        "",
        f"- `{command}`, LocalRecollect {recollect.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; load of the machine when it began: {load}.",
        f"- {PROJECTS} projects; sentences are made up (benchmarks/sentences.py), and so are their "
        "vectors; prompts take words of a memory their project can see and, with a server, are "
        "embedded by the real model. Without one they are compared by words.",
        "- Each time is that of a whole process, from before it starts until it has ended, with "
        "the hook's own time limits; *answered* counts those that said something: a prompt gets an "
        "answer only where memory has something strong to say, and no hook where it is late.",
        "- CPU is what the hook's own process computed (p50), without the server: on a busy "
        "machine trust it, and compare the rest with the bare interpreter beside it.",
        "- Modules are compiled and files in the page cache, as on a machine in use.",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
