"""
Measure the start of a server: its time, its memory and its steps.

The clock starts before the process. A request is sent as soon as the port accepts it, and its
response ends the time.
"""

import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median

import recollect
from benchmarks.server.fill_store import AGENT, FilledStore
from benchmarks.server.processes import (
    HOST,
    RunningServer,
    environment,
    free_port,
    serve_command,
    stop_server,
)
from benchmarks.tasks import ROOT

LOOK_S = 0.002
WITHIN_S = 60.0
QUESTION = "what did we decide about the deployment?"
_IMPORT = re.compile(r"import time:\s*(\d+) \|\s*(\d+) \|\s*(\S+)")
# What `recollect serve` does before it listens, each step in ms as JSON on its last line.
_STEPS = """
import json, sys, time
t = time.perf_counter
at = [t()]
import recollect.cli.main; at.append(t())
import fastapi, uvicorn; at.append(t())
import recollect.server.serve; at.append(t())
from recollect.server.web_app import web_app
from recollect import LocalRecollect
from recollect.config import load_settings
settings = load_settings(db=sys.argv[1]); memory = LocalRecollect(settings); at.append(t())
app = web_app(memory, settings); at.append(t())
memory.close()
print(json.dumps([1000 * (b - a) for a, b in zip(at, at[1:])]))
"""
STEPS = (
    "the command line (`recollect.cli.main`)",
    "FastAPI and uvicorn",
    "the rest of the server (`recollect.server.serve`)",
    "opening the store",
    "making the routes (`web_app`)",
)


@dataclass(frozen=True, kw_only=True)
class StartTimes:
    """One start: seconds from nothing, and MB held."""

    health_s: float
    first_answer_s: float
    second_answer_s: float  # took alone, the model being loaded
    at_health_mb: float
    answered_mb: float


def measure_starts(filled: FilledStore, folder: Path, *, times: int, embedding: str) -> StartTimes:
    """Return the medians of so many starts of a server on a filled store."""
    db = folder / f"start-{embedding}.db"
    shutil.copy(filled.path, db)
    _start_once(db, embedding)  # compiles what was never imported before
    start_times = [_start_once(db, embedding) for _ in range(times)]
    return StartTimes(
        **{
            name: median(getattr(start, name) for start in start_times)
            for name in vars(start_times[0])
        }
    )


def startup_steps(filled: FilledStore, folder: Path, *, times: int) -> dict[str, float]:
    """Return where the time before listening goes, in ms, the median of so many starts."""
    db = folder / "steps.db"
    shutil.copy(filled.path, db)
    empty = [_run_time_ms("pass") for _ in range(times)]
    step_times: list[list[float]] = []
    for _ in range(times):
        done = _run_code(_STEPS, str(db))
        step_times.append([float(number) for number in done.strip().strip("[]").split(",")])
    medians = [median(column) for column in zip(*step_times, strict=True)]
    return {"Python itself": median(empty)} | dict(zip(STEPS, medians, strict=True))


def import_times() -> Mapping[str, float]:
    """Return the ms spent in modules of each package, as `python -X importtime` counts them."""
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "importtime",
            "-c",
            "import recollect.cli.main, recollect.server.serve",
        ],
        cwd=ROOT,
        check=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    spent: Counter[str] = Counter()
    for own_us, _, module in _IMPORT.findall(done.stderr):
        package = module.split(".")[0]
        spent["the standard library" if package in sys.stdlib_module_names else package] += int(
            own_us
        )
    return {package: us / 1000 for package, us in spent.most_common()}


def _start_once(db: Path, embedding: str) -> StartTimes:
    port = free_port()
    began = time.perf_counter()
    process = subprocess.Popen(
        serve_command(db, port=port),
        env=environment(db.parent, RECOLLECT_EMBEDDING_BACKEND=embedding),
        stdout=subprocess.DEVNULL,
        text=True,
    )
    server = RunningServer(f"http://{HOST}:{port}", process)
    try:
        _wait_until_healthy(port)
        health_s = time.perf_counter() - began
        at_health_mb = server.resident_mb()
        with recollect.connect(server.url) as rec:
            rec.context_for(QUESTION, agent=AGENT)
            first_s = time.perf_counter() - began
            answered_mb = server.resident_mb()
            again = time.perf_counter()
            rec.context_for(f"{QUESTION} and who?", agent=AGENT)
            second_s = time.perf_counter() - again
    finally:
        stop_server(server)
    return StartTimes(
        health_s=health_s,
        first_answer_s=first_s,
        second_answer_s=second_s,
        at_health_mb=at_health_mb,
        answered_mb=answered_mb,
    )


def _wait_until_healthy(port: int) -> None:
    until = time.monotonic() + WITHIN_S
    while time.monotonic() < until:
        asking = HTTPConnection(HOST, port, timeout=WITHIN_S)
        try:
            asking.request("GET", "/health")
            if asking.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            time.sleep(LOOK_S)
        finally:
            asking.close()
    raise TimeoutError(f"no server answered on port {port} in {WITHIN_S:.0f} s")


def _run_time_ms(code: str) -> float:
    began = time.perf_counter()
    _run_code(code)
    return 1000 * (time.perf_counter() - began)


def _run_code(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
