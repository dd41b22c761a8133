"""Start and stop the processes of a run: memory servers, stubs and clients, on loopback only."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any

from benchmarks.tasks import ROOT

HOST = "127.0.0.1"
Plan = Mapping[str, Any]


@dataclass(frozen=True)
class RunningServer:
    """A process that listens."""

    url: str
    process: subprocess.Popen[str]

    def resident_mb(self) -> float:
        """Return the memory it holds."""
        import psutil  # of the extra `bench`: the tests use this file without it

        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def cpu_s(self) -> float:
        """Return the time it has computed so far."""
        import psutil

        used = psutil.Process(self.process.pid).cpu_times()
        return float(used.user + used.system)


def serve_command(db: Path, *, port: int = 0) -> list[str]:
    """Return the command of a memory server: `recollect serve` from this checkout."""
    options = ["--db", str(db), "--port", str(port), "--json"]
    return [sys.executable, str(ROOT / "server.py"), *options]


def environment(state: Path, **more: str) -> dict[str, str]:
    """Return the environment of a memory server: its defaults, and no limit of requests."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("RECOLLECT_", "MEMORY_", "OPENAI_", "ANTHROPIC_"))
    }
    own["RECOLLECT_CONFIG"] = str(state / "none.toml")
    own["XDG_STATE_HOME"] = str(state)
    own["RECOLLECT_REQUESTS_PER_SECOND"] = "0"
    return own | more


def keep_bytecode(folder: Path) -> None:
    """Let every process started from now on find compiled modules, as pip leaves them behind."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(folder)


def start_server(db: Path, *, port: int = 0, **more: str) -> RunningServer:
    """Start a memory server; it may not answer yet. Whoever starts it ends it."""
    process = subprocess.Popen(
        serve_command(db, port=port),
        env=environment(db.parent, **more),
        stdout=subprocess.PIPE,
        text=True,
    )
    return RunningServer(json.loads(_first_json_object(process))["url"], process)


@contextmanager
def memory_server(db: Path) -> Iterator[RunningServer]:
    """Run a memory server inside the block."""
    running = start_server(db)
    try:
        yield running
    finally:
        stop_server(running)


@contextmanager
def module_server(module: str, *arguments: str) -> Iterator[RunningServer]:
    """Run a module that listens and prints `{"url": …}` inside the block."""
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        running = RunningServer(json.loads(_first_json_object(process))["url"], process)
        try:
            yield running
        finally:
            stop_server(running)


def stop_server(running: RunningServer) -> None:
    """End a server politely, and wait for it."""
    if running.process.poll() is None:
        running.process.terminate()
    running.process.communicate(timeout=60)


def free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket() as bound:
        bound.bind((HOST, 0))
        return int(bound.getsockname()[1])


class ClientProcesses:
    """Processes of one module that wait until all are ready, work, and tell what they saw."""

    def __init__(self, module: str, plans: Sequence[Plan]) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", module],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in plans
        ]
        for process, plan in zip(self._processes, plans, strict=True):
            _send_line(process, json.dumps(plan))
        for process in self._processes:
            assert process.stdout is not None
            if process.stdout.readline() != "ready\n":
                raise RuntimeError(f"{module} did not get ready; its error output says why")

    def start(self) -> None:
        """Let all begin."""
        for process in self._processes:
            _send_line(process, "go")

    def results(self) -> list[Any]:
        """Tell all that it is enough, wait for them, and return what they tell."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
        results = []
        for process in self._processes:
            assert process.stdout is not None
            results.append(json.loads(process.stdout.read()))
            process.wait()
            process.stdout.close()
        return results


def run_client(module: str, plan: Plan) -> Any:
    """Run one process of *module* with *plan* to its end, and return what it tells."""
    clients = ClientProcesses(module, [plan])
    clients.start()
    return clients.results()[0]


def _send_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _first_json_object(process: subprocess.Popen[str]) -> str:
    """Return the JSON object a process begins its output with, on one line or several."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.rstrip().endswith("}"):
            return "".join(lines)
    raise RuntimeError(f"the process ended with {process.wait()} before it listened")
