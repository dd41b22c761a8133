"""
Measure the memory server and `learning()`: `python -m benchmarks.server`.

Everything runs on loopback with real processes: `recollect serve` with the real local model, its
clients, and a stub of a vendor's API.
"""

import argparse
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import fastapi
import uvicorn

import recollect
from benchmarks.capture.generated_messages import TextPool, make_pool
from benchmarks.quality import RESULTS
from benchmarks.server.context_profile import profile_context
from benchmarks.server.fill_store import LENGTH, FilledStore, fill_store
from benchmarks.server.kill_recovery import measure_kills
from benchmarks.server.learning_overhead import MAIN_MODES, MODES, PAUSE_S, measure_overheads
from benchmarks.server.processes import keep_bytecode
from benchmarks.server.server_load import measure_load
from benchmarks.server.server_report import ServerFigures, render
from benchmarks.server.server_start import import_times, measure_starts, startup_steps
from benchmarks.tasks import default_folder

OUT = RESULTS / "server.md"
PARTS = ("load", "kill", "learning", "start", "profile")


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.quick:
        options.messages, options.large, options.seconds = min(options.messages, 1_000), 0, 4.0
        options.kills, options.calls, options.starts = 1, 20, 2
    load = _load()
    pool = make_pool(options.tasks)
    parts = [part for part in options.only.split(",") if part]
    figures = ServerFigures()
    with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        keep_bytecode(Path(folder) / "compiled")
        _measure(figures, parts, options, pool, Path(folder))
    command_arguments = sys.argv[1:] if arguments is None else arguments
    report = render(figures, _notes(options, pool, load, command_arguments))
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0 if _has_no_failures(figures) else 1


def _measure(
    figures: ServerFigures,
    parts: Sequence[str],
    options: argparse.Namespace,
    pool: TextPool,
    folder: Path,
) -> None:
    _print_progress(f"writing {options.messages:,} messages")
    filled = fill_store(folder / "filled.db", pool, options.messages)
    if "start" in parts:
        for name, embedding in (("without embeddings", "none"), ("with the local model", "local")):
            _print_progress(f"starting {name}")
            figures.starts[name] = measure_starts(
                filled, folder, times=options.starts, embedding=embedding
            )
        figures.steps = startup_steps(filled, folder, times=options.starts)
        figures.imports = import_times()
    if "profile" in parts:
        _add_profile(figures, filled, options, folder)
    if "learning" in parts:
        _print_progress("calling a vendor")
        figures.overhead[options.messages] = measure_overheads(
            filled, folder, calls=options.calls, ways=MODES
        )
    if "load" in parts:
        for clients, seconds in ((1, options.seconds / 3), (options.clients, options.seconds)):
            _print_progress(f"{clients} clients")
            figures.load.append(
                measure_load(filled, pool, folder, clients=clients, seconds=seconds)
            )
    if "kill" in parts:
        _print_progress("killing")
        figures.killed = measure_kills(
            folder, clients=options.clients, times=options.kills, embedding="local"
        )
    if options.large and {"learning", "profile"} & set(parts):
        _print_progress(f"writing {options.large:,} messages")
        large = fill_store(folder / "large.db", pool, options.large)
        if "learning" in parts:
            figures.overhead[options.large] = measure_overheads(
                large, folder, calls=options.calls, ways=MAIN_MODES
            )
        if "profile" in parts:
            _add_profile(figures, large, options, folder)


def _add_profile(
    figures: ServerFigures, filled: FilledStore, options: argparse.Namespace, folder: Path
) -> None:
    _print_progress("taking one question apart")
    messages = sum(len(conversation.messages) for conversation in filled.past)
    figures.profiles[messages] = profile_context(filled, folder, calls=options.calls)


def _has_no_failures(figures: ServerFigures) -> bool:
    """Say whether nothing failed, was lost or was done twice."""
    errors = sum(system.errors for systems in figures.load for system in systems.values())
    return not errors and not any(
        kill.lost or kill.doubled or kill.unacknowledged or kill.problems for kill in figures.killed
    )


def _notes(
    options: argparse.Namespace, pool: TextPool, load: str, arguments: Sequence[str]
) -> list[str]:
    return [
        f"- `{shlex.join(['python', '-m', 'benchmarks.server', *arguments])}`, Recollect "
        f"{recollect.__version__}, FastAPI {fastapi.__version__}, uvicorn {uvicorn.__version__}; "
        f"SQLite {apsw.sqlite_lib_version()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; load of the machine when it began: {load}, when it ended: "
        f"{_load()}.",
        f"- The store holds {options.messages:,} messages of one agent in conversations of "
        f"{LENGTH}, and about 600 memories. Texts: {pool.origin}. Their vectors are random; "
        "queries and "
        "writes during the run are embedded by the real model.",
        "- Load: every client is a process (`recollect.connect`) that sends the next request "
        "at once, "
        f"for {options.seconds:g} s (one client and the baselines: a third of that); 30 % "
        "append_message, 30 % add_message, 20 % context_for, 10 % search, 10 % ingest. "
        "Server and clients share the cores. *plain "
        "FastAPI* is one route that takes a message and returns a small JSON, under uvicorn with "
        "the same settings; *plain SQLite* one row per transaction in WAL with synchronous=FULL, "
        "from the same number of processes, without a server. Ratios are of means (a "
        "writer that waits long is rare, but counts) and say how many times better Recollect is; "
        "below 1× it is worse. A percentile with too few requests behind it is left out.",
        "- `learning()`: the vendor is a process that answers at once; bare calls and calls "
        "inside take turns with the same questions, and *added* is the difference of each pair. "
        f"Between pairs there is a pause of {PAUSE_S:g} s (a vendor's answer takes longer) unless "
        "it says *back to back*.",
        f"- Starts: medians of {options.starts}; modules are compiled, files in the page cache.",
    ]


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _print_progress(what: str) -> None:
    print(f"{what} … (load {_load()})", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help="parts of the run")
    parser.add_argument("--quick", action="store_true", help="a minute instead of a quarter hour")
    parser.add_argument("--messages", type=int, default=10_000, help="in the store")
    parser.add_argument("--large", type=int, default=100_000, help="… for information; 0: not")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=60.0, help="of load")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--calls", type=int, default=300, help="inside of learning()")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
