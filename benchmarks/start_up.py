"""
Measure how long commands take to start and answer: `python -m benchmarks.start_up --write`.

Each is a whole process, as a person or a coding agent starts it: commands that only read, a hook
without a server, and `recollect mcp` until its first answer. They run in turn beside the bare
interpreter; with `--before FOLDER` also those of an older checkout. On a busy machine compare the
processor time.
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

import recollect
from benchmarks.markdown_table import table
from benchmarks.metrics import percentile
from benchmarks.quality import RESULTS
from benchmarks.server.processes import environment, keep_bytecode
from benchmarks.tasks import ROOT

OUT = RESULTS / "start_up.md"
MEMORIES = 200
WARM_UP = 2
QUESTION = "how long should answers be?"
COMMANDS: Mapping[str, Sequence[str]] = {
    "status": ("status",),
    "inbox list": ("inbox", "list"),
    "show": ("show", "ID"),
    "search": ("search", QUESTION),
    "context": ("context", QUESTION),
    "hook prompt, no server": ("hook", "prompt"),
    "hook session-start, no server": ("hook", "session-start"),
    "mcp, first answer": ("mcp",),
    "mcp, list of tools": ("mcp",),
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST_TOOLS = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
# What is sent to `recollect mcp`, and how many answers are waited for.
MCP_SESSIONS: Mapping[str, tuple[Sequence[Mapping[str, object]], int]] = {
    "mcp, first answer": ([INITIALIZE], 1),
    "mcp, list of tools": ([INITIALIZE, INITIALIZED, LIST_TOOLS], 2),
}
Times = dict[str, list[tuple[float, float]]]  # name: wall and processor time, in ms


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    sources = {"now": ROOT / "src"}
    if options.before:
        sources = {"before": options.before / "src", **sources}
    times: Times = {}
    with TemporaryDirectory(prefix="recollect-start-") as temporary:
        folder = Path(temporary)
        keep_bytecode(folder / "compiled")
        for name, source in sources.items():
            (folder / name).mkdir()
            _fill(folder / name, source)
        for number in range(options.times + WARM_UP):
            measured = times if number >= WARM_UP else {}
            _time(measured, "python -c pass", ["-c", "pass"], environment(folder))
            for command, words in COMMANDS.items():
                for name, source in sources.items():
                    env = _environment(folder / name, source)
                    _time_command(measured, f"{command}, {name}", command, words, env)
    text = "\n".join([*_notes(options, load), "", *_rows(times), ""])
    print(text)
    if options.write:
        OUT.write_text(text, encoding="utf-8")
    return 0


def _fill(folder: Path, source: Path) -> None:
    """Make a store of embedded memories with the code of *source*."""
    script = (
        "import recollect\n"
        f"with recollect.open({str(folder / 'memory.db')!r}) as rec:\n"
        "    rec.ingest('Answers should be short.')\n"
        f"    for number in range({MEMORIES}):\n"
        "        rec.ingest(f'Service {number} listens on port {8000 + number}.')\n"
        "    rec.drain()\n"
        "    print(rec.search('how long should answers be?')[0].memory.id)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=_environment(folder, source),
        stdout=subprocess.PIPE,
        check=True,
    )
    (folder / "id").write_bytes(done.stdout.strip())


def _time_command(
    times: Times, name: str, command: str, words: Sequence[str], env: Mapping[str, str]
) -> None:
    id_file = Path(env["RECOLLECT_DB"]).with_name("id")
    words = [id_file.read_text() if word == "ID" else word for word in words]
    script = "import sys; from recollect.entry import main; sys.exit(main())"
    messages, answers = MCP_SESSIONS.get(command, ([], 0))
    _time(times, name, ["-c", script, *words], env, messages=messages, answers=answers)


def _time(
    times: Times,
    name: str,
    words: Sequence[str],
    env: Mapping[str, str],
    *,
    messages: Sequence[Mapping[str, object]] = (),
    answers: int = 0,
) -> None:
    """Time a process until it ended, or until so many *answers* to *messages*."""
    payload = {"cwd": "/", "prompt": QUESTION, "session_id": str(perf_counter())}
    sent = b"".join(json.dumps(message).encode() + b"\n" for message in messages or [payload])
    computed, begun = _child_cpu_ms(), perf_counter()
    with subprocess.Popen(
        [sys.executable, *words], env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        if answers:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(sent)
            process.stdin.flush()
            for _ in range(answers):
                assert b"result" in process.stdout.readline()
            took = perf_counter() - begun
        process.communicate(None if answers else sent)
    if not answers:
        took = perf_counter() - begun
    if process.returncode:
        raise RuntimeError(f"{name} ended with exit code {process.returncode}")
    times.setdefault(name, []).append((1000 * took, _child_cpu_ms() - computed))


def _environment(folder: Path, source: Path) -> dict[str, str]:
    own = {
        "PYTHONPATH": str(source),
        "RECOLLECT_DB": str(folder / "memory.db"),
        "RECOLLECT_HOOK_TIMEOUT_MS": "60000",  # a busy machine must not cut the answer off
    }
    return {**environment(folder), **own}


def _child_cpu_ms() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)


def _rows(times: Times) -> list[str]:
    rows = []
    for name, measured in times.items():
        walls, cpus = [wall for wall, _ in measured], [cpu for _, cpu in measured]
        figures = (percentile(walls, 50), percentile(walls, 95), percentile(cpus, 50), min(cpus))
        rows.append([name, *(f"{figure:.0f}" for figure in figures)])
    return table(["", "p50 ms", "p95 ms", "CPU p50 ms", "CPU least ms"], rows)


def _notes(options: argparse.Namespace, load: str) -> list[str]:
    return [
        "# Start-up",
        "",
        f"- `python -m benchmarks.start_up --times {options.times}"
        f"{' --before FOLDER' if options.before else ''} --write`, Recollect "
        f"{recollect.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores; "
        f"load of the machine when it began: {load}.",
        f"- Whole processes over a store of {MEMORIES} embedded memories; `mcp` until the answer "
        "to `initialize` or to `tools/list`, its processor time until it ended, which includes the "
        "protocol package if that was loaded.",
        "- Modules are compiled and files in the page cache. *Before*, if it is there, is an older "
        "checkout, measured in turn in the same environment.",
        "- Wall time depends on other load: if it is higher than the number of cores, compare the "
        "CPU time, beside that of the bare interpreter. Search and context use two cores.",
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--before", type=Path, help="the folder of an older checkout")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
