"""
Many workers on one store: each job is done once, and who was taken for dead changes nothing.

Run as a program, this file is a worker: it opens the store, says that it is ready, waits for the
word, and works until nothing is left to do. Each job it has run is a line of its output.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.job import LEASE_S
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from support import LaterClock

pytestmark = pytest.mark.kill

stoppable = pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")

WORKERS = 4
CAPTURES = 250  # two jobs each
PATHS = os.pathsep.join(sys.path)  # a worker finds what its test finds

T = TypeVar("T")


def opened(path: Path, *, ahead_s: float = 0.0) -> LocalRecollect:
    return LocalRecollect(
        Settings(db=str(path), embedding_backend="none"), clock=LaterClock(ahead_s)
    )


# ── a worker, as a program ──────────────────────────────────────────────────────────────────────


def pause_at(number: int) -> None:
    """Let this process be stopped just before the *number*th write of its store."""
    real, writes = SqliteStore.write, 0

    def write(store: SqliteStore, work: Callable[[SqliteTables], T]) -> T:
        nonlocal writes
        writes += 1
        if writes == number:
            os.kill(os.getpid(), signal.SIGSTOP)
        return real(store, work)

    SqliteStore.write = write  # type: ignore[method-assign, assignment]


def work(path: Path) -> None:
    """Work until nothing is left to do."""
    with opened(path) as memory:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        while memory.jobs.list(states=["todo", "doing"], limit=1):
            for job in memory.engine.run_jobs_in_steps():
                sys.stdout.write(f"{job.id}\n")


if __name__ == "__main__":
    pause_at(int(sys.argv[2]))
    work(Path(sys.argv[1]))


Worker = subprocess.Popen[str]
Start = Callable[..., Worker]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a worker on a store and return it once it is ready; none outlives its test."""
    with ExitStack() as running:

        def started(path: Path, *, pausing_at: int = 0) -> Worker:
            worker = running.enter_context(
                subprocess.Popen(
                    [sys.executable, __file__, str(path), str(pausing_at)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"PYTHONPATH": PATHS, "PYTHONWARNINGS": "error"},
                )
            )
            running.callback(worker.kill)
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
            return worker

        yield started


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def exported(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return every row of a store, by table."""
    file = path.with_name("exported.jsonl")
    with opened(path) as memory:
        memory.export(file)
        rows: dict[str, list[dict[str, Any]]] = {
            name: [] for name in memory.maintenance.status().counts
        }
    for line in file.read_text().splitlines()[1:-1]:
        row = json.loads(line)
        rows[row["table"]].append(row)
    return rows


def begin(worker: Worker) -> None:
    assert worker.stdin is not None
    worker.stdin.write("begin\n")
    worker.stdin.flush()


# ── the tests ───────────────────────────────────────────────────────────────────────────────────


def spice(number: int) -> str:
    """Return a word of its own for each number."""
    return "".join("bdfgklmnpr"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:04}")


@pytest.mark.timeout(900)  # for a busy machine; alone it takes half a minute
def test_four_workers_do_five_hundred_jobs_once_each_and_lose_none(
    path: Path, start: Start
) -> None:
    with opened(path) as memory:
        for number in range(CAPTURES):
            memory.capture_session(
                said(
                    f"The service of hall {number} listens on port {number}.",
                    f"I like bread with {spice(number // 2)} for breakfast.",
                ),
                project=f"site {number // 2 % 7}",  # a pair of sessions is in one project
                session=f"day {number}",
            )
    workers = [start(path) for _ in range(WORKERS)]
    for worker in workers:
        begin(worker)
    told = [worker.communicate() for worker in workers]
    with opened(path) as memory:
        verified = memory.maintenance.verify()
    rows = exported(path)
    jobs = rows["jobs"]

    assert [worker.returncode for worker in workers] == [0] * WORKERS
    assert "".join(errors for _, errors in told) == ""
    completions = Counter(line for out, _ in told for line in out.splitlines())
    assert all(out for out, _ in told)  # each of them did some
    assert completions == Counter(job["id"] for job in jobs)
    assert len(jobs) == 2 * CAPTURES
    assert {(job["state"], job["attempts"], job["error"]) for job in jobs} == {("done", 1, "")}
    assert [event["state"] for event in rows["ingestion_events"]] == ["done"] * CAPTURES
    assert rows["unsettled"] == []
    assert verified.ok, verified.problems
    # What two sessions say is one memory, whoever came first; what one says is not lost.
    kinds = Counter((one["type"], one["status"]) for one in rows["memories"])
    assert kinds == {
        ("episode", "active"): CAPTURES,
        ("project", "inbox"): CAPTURES,
        ("profile", "active"): CAPTURES // 2,
    }


@stoppable
@pytest.mark.parametrize(
    ("number", "while_it"),
    [
        (2, "has read the source, before it writes the first candidates"),
        (3, "has written some candidates"),
        (5, "has read what waits, before it settles the first candidates"),
        (8, "has settled some candidates"),
        (10, "has settled most candidates"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_worker_that_wakes_up_after_its_lease_changes_nothing(
    path: Path, start: Start, number: int, while_it: str
) -> None:
    with opened(path) as memory:
        lines = [f"The service of hall {hall} listens on port {hall}." for hall in range(65)]
        memory.capture_session(said(*lines), project="site")
    sleeper = start(path, pausing_at=number)
    begin(sleeper)
    _, status = os.waitpid(sleeper.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)

    with opened(path) as early:
        assert list(early.engine.run_jobs_in_steps()) == []  # its lease still holds
    with opened(path, ahead_s=LEASE_S + 1) as successor:
        taken_over = next(successor.engine.run_jobs_in_steps())
        successor.drain()
    before = exported(path)
    os.kill(sleeper.pid, signal.SIGCONT)
    _, errors = sleeper.communicate()

    assert sleeper.returncode == 0
    assert taken_over.attempts == 2
    assert exported(path) == before
    assert f"job {taken_over.id} took longer than its lease; another worker has it" in errors
    assert {job["state"] for job in before["jobs"]} == {"done"}
    assert len(before["memories"]) == 66  # and the episode
    assert before["unsettled"] == []


@stoppable
def test_a_worker_that_wakes_up_after_its_lease_goes_on_if_nobody_took_over(
    path: Path, start: Start
) -> None:
    with opened(path) as memory:
        memory.capture_session(said("The service of the hall listens on port 80."), project="site")
    sleeper = start(path, pausing_at=2)
    begin(sleeper)
    os.waitpid(sleeper.pid, os.WUNTRACED)
    with opened(path, ahead_s=LEASE_S + 1) as later:
        due = later.jobs.list(states=["doing"])
    os.kill(sleeper.pid, signal.SIGCONT)
    _, errors = sleeper.communicate()
    after = exported(path)

    assert len(due) == 1
    assert (sleeper.returncode, errors) == (0, "")
    assert {(job["state"], job["attempts"]) for job in after["jobs"]} == {("done", 1)}
