"""
Measure what a hook costs: `python -m benchmarks.hooks --write`.

Hooks run as a coding agent runs them: one process each, JSON in, text out, with a running server
and without. The bare interpreter and a hook that does nothing are measured in turn with them. The
time is that of the whole process.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import recollect
from benchmarks.generated_sentences import (
    PROJECTS,
    GeneratedSentence,
    ProjectQuestion,
    questions,
    sentences,
)
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from benchmarks.random_vectors import RandomVectors
from benchmarks.server.processes import environment, keep_bytecode, memory_server
from benchmarks.tasks import ROOT
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder
from recollect.text.token_counter import counter_for

OUT = RESULTS / "hooks.md"
SAMPLE = 64  # real vectors, for the mean of the made-up ones
BATCH = 1_000
WARM_UP = 5
REALTIME_PRIORITY = 10
EVENTS = ("session-start", "prompt", "pre-tool")  # the last needs a server
RULE = "We use pnpm in this project, never npm."
TYPES = ("decision", "project", "task_hint", "episode", "artifact")
REALTIME_NOTE = (
    "- With `--realtime` the hooks and the server run before all other programs of the machine."
)
# As an installer writes it: a file that imports one function and calls it.
SCRIPT = "import sys\nfrom recollect.entry import main\nsys.exit(main())\n"


class ProcessTime(NamedTuple):
    """What one process took, in ms: on the clock, and of the processor."""

    wall: float
    cpu: float


Times = dict[str, list[ProcessTime]]


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    parts: list[str] = []
    with TemporaryDirectory(prefix="recollect-hooks-") as temporary:
        folder = Path(temporary)
        keep_bytecode(folder / "compiled")
        script = folder / "recollect"
        script.write_text(SCRIPT)
        for size in options.sizes:
            parts += _measure_size(
                size, folder / str(size), script, options.times, realtime=options.realtime
            )
            text = "\n".join([*_notes(options, load), *parts, ""])
            if options.write:
                OUT.write_text(text, encoding="utf-8")
    print(text)
    return 0


def _measure_size(
    size: int, folder: Path, script: Path, times: int, *, realtime: bool
) -> list[str]:
    folder.mkdir()
    db = folder / "memory.db"
    stored = _fill(db, size)
    # As many questions as hooks, so that none is answered from a cache.
    prompts = questions(stored, 2 * (times + WARM_UP), seed=5)
    process_times: Times = {}
    outputs: dict[str, list[str]] = {}
    hooks = HookRunner(script, db, process_times, outputs)
    with _priority(realtime=realtime):
        with memory_server(db) as running:
            with recollect.connect(running.url) as remote:
                remote.search("warm up")  # what loading the model takes is measured elsewhere
            hooks.run("server", prompts[: times + WARM_UP], bare=True)
        without = prompts[times + WARM_UP :][: max(times // 3, 1) + WARM_UP]
        hooks.run("no server", without, bare=False)
    rows = [
        [name, f"{len(hook_times)}", *_percentiles(hook_times), _answer_count(outputs, name)]
        for name, hook_times in process_times.items()
    ]
    count = counter_for().count
    bundles = [count(_text(output)) for output in outputs["session-start, server"] if output]
    longest = max(len(_text(output)) for output in outputs["session-start, server"] if output)
    return [
        "",
        f"## {size:,} memories",
        "",
        *table(["", "times", "p50 ms", "p95 ms", "CPU ms", "answered"], rows),
        "",
        f"The context at the start of a session has {percentile(bundles, 50):.0f} tokens "
        f"(p50), {max(bundles)} at "
        f"most, and {longest:,} characters at most. Timed out: {_timeout_count(folder)} hooks.",
    ]


class HookRunner:
    """Runs hooks in turn and keeps what each took and said."""

    def __init__(
        self, script: Path, db: Path, process_times: Times, outputs: dict[str, list[str]]
    ) -> None:
        self._script = script
        self._db = db
        self._env = {**environment(db.parent), "PYTHONPATH": str(ROOT / "src")}
        self._times = process_times
        self._outputs = outputs

    def run(self, how: str, prompts: Sequence[ProjectQuestion], *, bare: bool) -> None:
        """Run the hooks for each question, after some that do not count."""
        for number, question in enumerate(prompts):
            transcript = str(self._db.with_name(f"{number}.jsonl"))
            event_input = {
                "cwd": "/",
                "prompt": question.text,
                "transcript_path": transcript,
                "tool_name": "Bash",
                "tool_input": {"command": f"npm install package-{number}"},
            }
            counts = number >= WARM_UP
            for event in EVENTS if how == "server" else EVENTS[:2]:
                words = [str(self._script), "hook", event, "--project", question.project]
                name = f"{event}, {how}"
                # Of a session of its own: a beginning tells what a prompt would.
                self._time_hook(
                    name, words, {**event_input, "session_id": f"{event} {how} {number}"}, counts
                )
            if bare:
                self._time_hook("python -c pass", ["-c", "pass"], {}, counts)
                self._time_hook(
                    "a hook that does nothing", [str(self._script), "hook", "x"], {}, counts
                )

    def _time_hook(
        self, name: str, words: Sequence[str], event_input: Mapping[str, object], counts: bool
    ) -> None:
        command = [sys.executable, *words]
        env = {**self._env, "RECOLLECT_DB": str(self._db)}
        computed, begun = _child_cpu_ms(), perf_counter()
        done = subprocess.run(
            command,
            input=json.dumps(event_input).encode(),
            env=env,
            stdout=subprocess.PIPE,
            check=True,
        )
        took = ProcessTime(1000 * (perf_counter() - begun), _child_cpu_ms() - computed)
        if counts:
            self._times.setdefault(name, []).append(took)
            self._outputs.setdefault(name, []).append(done.stdout.decode())


@contextmanager
def _priority(*, realtime: bool) -> Iterator[None]:
    """
    Let this process, the server and the hooks run before all other programs.

    Then the times are nearly those of a machine that does nothing else (Linux, as root).
    """
    if realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REALTIME_PRIORITY))
    try:
        yield
    finally:
        if realtime:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _fill(db: Path, size: int) -> list[GeneratedSentence]:
    """Make a store of *size* memories, embedded, and return them."""
    stored = sentences(size, seed=3)
    embedder = RandomVectors(
        create_embedder(load_settings()), [sentence.text for sentence in stored[:SAMPLE]]
    )
    with recollect.open(db, embedder=embedder) as rec:
        for start in range(0, size, BATCH):
            some = stored[start : start + BATCH]
            rec.memories.ingest_many(
                [
                    {
                        "content": sentence.text,
                        "type": TYPES[place % len(TYPES)],
                        "project": sentence.project,
                    }
                    if sentence.project
                    else {"content": sentence.text, "type": "profile", "scope": "global"}
                    for place, sentence in enumerate(some)
                ]
            )
        projects = sorted({sentence.project for sentence in stored if sentence.project})
        rules = [{"content": RULE, "type": "decision", "project": name} for name in projects]
        rec.memories.ingest_many(rules)
        rec.drain()
    return stored


def _percentiles(times: Sequence[ProcessTime]) -> list[str]:
    walls = [time.wall for time in times]
    cpu = percentile([time.cpu for time in times], 50)
    return [*(f"{percentile(walls, at):.0f}" for at in (50, 95)), f"{cpu:.0f}"]


def _child_cpu_ms() -> float:
    """Return what processes that were started and have ended have computed so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def _answer_count(outputs: Mapping[str, Sequence[str]], name: str) -> str:
    if "," not in name:
        return ""
    return f"{sum(map(bool, outputs[name]))} of {len(outputs[name])}"


def _timeout_count(folder: Path) -> int:
    log = (folder / "recollect" / "hooks.log").read_text(encoding="utf-8")
    return log.count("timed out")


def _text(printed: str) -> str:
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])


def _notes(options: argparse.Namespace, load: str) -> list[str]:
    sizes = " ".join(map(str, options.sizes))
    realtime = " --realtime" if options.realtime else ""
    command = (
        f"python -m benchmarks.hooks --sizes {sizes} --times {options.times}{realtime} --write"
    )
    return [
        "# Hooks",
        "",
        f"- `{command}`, Recollect {recollect.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; load of the machine when it began: {load}.",
        f"- {PROJECTS} projects; sentences and their vectors are generated. Prompts contain "
        "words of "
        "a memory that is visible in their project. With a server they are embedded by the real "
        "model, without one only words are compared.",
        "- Each time is that of a whole process, with the hook's own timeouts. *Answered* "
        "counts the "
        "processes with output: a prompt has one only if a memory is clearly relevant, and no hook "
        "has one after its timeout. The command of `pre-tool` is one that a decision forbids.",
        "- CPU is the time of the hook's own process (p50), without the server. On a busy machine "
        "use it, and compare the rest with the bare interpreter.",
        *([REALTIME_NOTE] if options.realtime else []),
        "- Modules are compiled and files in the page cache, as on a machine in use.",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument(
        "--realtime",
        action="store_true",
        help="before all other programs (Linux, root), for a machine that is in use",
    )
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
