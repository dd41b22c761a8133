"""
What the memory server and `learning()` cost: `python -m benchmarks.server`.

Everything runs on loopback with real processes: `recollect serve` with the real local model, its
clients, a stand-in for a vendor. This file is the run; each part has a file of its own.
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
from benchmarks.capture.messages import Pool, make_pool
from benchmarks.quality import RESULTS
from benchmarks.server.filled import LENGTH, Filled, fill
from benchmarks.server.killed import killed
from benchmarks.server.load import under_load
from benchmarks.server.overhead import MAIN, PAUSE_S, WAYS, overheads
from benchmarks.server.processes import keep_bytecode
from benchmarks.server.profile import profile
from benchmarks.server.report import Found, render
from benchmarks.server.start import imports, starts, steps
from benchmarks.tasks import default_folder

OUT = RESULTS / "server.md"
PARTS = ("load", "kill", "learning", "start", "profile")


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.quick:
        given.messages, given.large, given.seconds = min(given.messages, 1_000), 0, 4.0
        given.kills, given.calls, given.starts = 1, 20, 2
    load = _load()
    pool = make_pool(given.tasks)
    parts = [part for part in given.only.split(",") if part]
    found = Found()
    with TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        keep_bytecode(Path(folder) / "compiled")
        _measure(found, parts, given, pool, Path(folder))
    asked = sys.argv[1:] if arguments is None else arguments
    report = render(found, _notes(given, pool, load, asked))
    print(report)
    if given.write:
        OUT.write_text(report, encoding="utf-8")
    return 0 if _is_sound(found) else 1


def _measure(
    found: Found, parts: Sequence[str], given: argparse.Namespace, pool: Pool, folder: Path
) -> None:
    _say(f"writing {given.messages:,} messages")
    filled = fill(folder / "filled.db", pool, given.messages)
    if "start" in parts:
        for name, embedding in (("without embeddings", "none"), ("with the local model", "local")):
            _say(f"starting {name}")
            found.starts[name] = starts(filled, folder, times=given.starts, embedding=embedding)
        found.steps = steps(filled, folder, times=given.starts)
        found.imports = imports()
    if "profile" in parts:
        _profiled(found, filled, given, folder)
    if "learning" in parts:
        _say("calling a vendor")
        found.overhead[given.messages] = overheads(filled, folder, calls=given.calls, ways=WAYS)
    if "load" in parts:
        for clients, seconds in ((1, given.seconds / 3), (given.clients, given.seconds)):
            _say(f"{clients} clients")
            found.load.append(under_load(filled, pool, folder, clients=clients, seconds=seconds))
    if "kill" in parts:
        _say("killing")
        found.killed = killed(folder, clients=given.clients, times=given.kills, embedding="local")
    if given.large and {"learning", "profile"} & set(parts):
        _say(f"writing {given.large:,} messages")
        large = fill(folder / "large.db", pool, given.large)
        if "learning" in parts:
            found.overhead[given.large] = overheads(large, folder, calls=given.calls, ways=MAIN)
        if "profile" in parts:
            _profiled(found, large, given, folder)


def _profiled(found: Found, filled: Filled, given: argparse.Namespace, folder: Path) -> None:
    _say("taking one question apart")
    messages = sum(len(talk.messages) for talk in filled.past)
    found.profiles[messages] = profile(filled, folder, calls=given.calls)


def _is_sound(found: Found) -> bool:
    """Say whether nothing failed, was lost or was done twice."""
    errors = sum(one.errors for systems in found.load for one in systems.values())
    return not errors and not any(
        one.lost or one.doubled or one.unacknowledged or one.problems for one in found.killed
    )


def _notes(given: argparse.Namespace, pool: Pool, load: str, arguments: Sequence[str]) -> list[str]:
    return [
        f"- `{shlex.join(['python', '-m', 'benchmarks.server', *arguments])}`, LocalRecollect "
        f"{recollect.__version__}, FastAPI {fastapi.__version__}, uvicorn {uvicorn.__version__}; "
        f"SQLite {apsw.sqlite_lib_version()}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores; load of the machine when it began: {load}, when it ended: "
        f"{_load()}.",
        f"- The store holds {given.messages:,} messages of one agent in conversations of "
        f"{LENGTH}, and some 600 memories. Texts: {pool.origin}. Vectors of what lies there are "
        "made up; what is asked and written during the run is embedded by the real model.",
        "- Load: every client is a process of its own and asks again at once "
        f"(`recollect.connect`; {given.seconds:g} s, one client and the rivals a third of that; "
        "30 % append_message, 30 % add_message, 20 % "
        "context_for, 10 % search, 10 % ingest). Server and clients share the cores. *plain "
        "FastAPI* is one route that takes a message and returns a small JSON, under uvicorn with "
        "the same settings; *plain SQLite* one row per transaction in WAL with synchronous=FULL, "
        "from the same number of processes, without a server. Ratios are of means (a "
        "writer that waits long is rare, but counts) and say how many times better Recollect is; "
        "below 1× it is worse. A percentile with too few requests behind it is left out.",
        "- `learning()`: the vendor is a process that answers at once; bare calls and calls "
        "inside take turns with the same questions, and *added* is the difference of each pair. "
        f"Between pairs there is a pause of {PAUSE_S:g} s (a vendor's answer takes longer) unless "
        "it says *back to back*.",
        f"- Starts: medians of {given.starts}; modules are compiled, files in the page cache.",
    ]


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _say(what: str) -> None:
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
