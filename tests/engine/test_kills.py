"""
Workers killed with SIGKILL at any moment: whoever takes over ends where an undisturbed one does.

Captured sessions are worked off twice: once in peace, and once by workers that die at a chosen
write, inside an SQL statement, or at a random moment from outside, each followed by a successor
whose clock says that the lease has ended. What is exported then must be the same, but for times.

Run as a program, this file is the driver that forks the workers and lets them die: a process with
one thread only, so that forking is cheap and safe.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.job import LEASE_S
from recollect.models.chat_model import Completion, make_completion
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.store.sqlite.store import SqliteStore, SqliteTables
from support import LaterClock, file_store

pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to be quick about it"),
]

KILLS_FROM_OUTSIDE = 36
KILLS_INSIDE_STATEMENTS = 24
IN_A_ROW = 4  # on one store
VM_STEPS = 50  # of SQLite's machine, between two moments at which a worker may die

REQUEST = "From now on, write commit messages in English."

T = TypeVar("T")
Messages = list[dict[str, str]]


class ReadsRemember:
    """A chat model that lists what a transcript says to remember, and something nobody said."""

    name = "test:reads-remember"

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        quotes = [*re.findall(r"Remember: (.+?\.)", prompt), "Nobody ever said this."]
        claims = [{"type": "project", "content": quote, "quote": quote} for quote in quotes]
        return make_completion(json.dumps({"memories": claims}), system=system, prompt=prompt)


# ── what is captured ────────────────────────────────────────────────────────────────────────────


def said(*texts: str) -> Messages:
    """Return what the user said, each answered by the assistant."""
    return [
        {"role": role, "content": content}
        for text in texts
        for role, content in (("user", text), ("assistant", "Understood, I keep that in mind."))
    ]


def capture_talk(rec: LocalRecollect) -> None:
    """Preferences, decisions, requests, corrections, repetitions, contradictions, a note."""
    monday = (
        "I prefer tabs over spaces in Go code.",
        "We decided to use SQLite for the queue because it needs no server.",
        "The staging server runs on port 8080.",
    )
    rec.capture_session(said(*monday), project="shop", session="monday")
    rec.capture_session(
        said("I prefer tabs over spaces in Go code.", "I live in Lisbon.", REQUEST),
        project="shop",
        session="tuesday",
    )
    rec.capture_session(
        said(
            "No, the staging server runs on port 9090.",
            "Actually, I live in Porto now.",
            "We decided to use SQLite for the queue, since it needs no server at all.",
        ),
        project="shop",
        session="wednesday",
    )
    # The first session again, longer: its episode takes the place of the first one.
    longer = (*monday, "My favourite editor is Helix.", "My favourite editor is Emacs.")
    rec.capture_session(said(*longer), project="shop", session="monday")
    note = "Releases are tagged with a v prefix. Public releases are tagged with a v prefix."
    rec.capture_conversation(note, "note", project="shop")


def capture_long(rec: LocalRecollect) -> None:
    """A few hundred messages: several batches of candidates, repeated and corrected among them."""
    lines = []
    for number in range(95):
        lines.append(f"The {_word(number)} service listens on port {8000 + number}.")
        if number % 9 == 8:
            lines.append(f"No, the {_word(number - 4)} service listens on port {7000 + number}.")
        if number % 13 == 12:
            lines.append(f"The {_word(number - 7)} service listens on port {8000 + number - 7}.")
    rec.capture_session(said(*lines), project="fleet", session="long")


def capture_for_a_model(rec: LocalRecollect) -> None:
    """Two sessions for a chat model to read too, one of them longer than it reads at once."""
    filler = "and so on, at great length, without saying anything that is worth keeping " * 120
    lines = [f"Remember: the cable in rack {n} is {c}. {filler}" for n, c in enumerate(_COLOURS)]
    rec.capture_session(said("I prefer tabs over spaces in Go code.", *lines), session="one")
    rec.capture_session(
        said("I prefer tabs over spaces in Go code. Remember: the cable in rack 1 is green."),
        session="two",
    )


_COLOURS = ("red", "green", "blue", "white")


def _word(number: int) -> str:
    return "".join("bdfgklmnprstvz"[digit] + "aeiou"[digit % 5] for digit in divmod(number, 14))


# ── a case: what is captured, and with what it is worked off ────────────────────────────────────


@dataclass(frozen=True)
class Case:
    """What is captured, and whether an embedder and a chat model are there."""

    name: str
    capture: Callable[[LocalRecollect], None]
    models: bool

    def open(self, path: Path, *, ahead_s: float = 0.0) -> LocalRecollect:
        settings = Settings(db=str(path), embedding_backend="local" if self.models else "none")
        return LocalRecollect(
            settings,
            clock=LaterClock(ahead_s),
            embedder=ScriptedEmbedder() if self.models else None,
            chat=ReadsRemember() if self.models else None,
        )


CASES = {
    case.name: case
    for case in (
        Case("talk", capture_talk, models=False),
        Case("long", capture_long, models=False),
        Case("models", capture_for_a_model, models=True),
    )
}


# ── the driver, and the workers that die ────────────────────────────────────────────────────────


def die(*_: object) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


def die_at(number: int, *, committed: bool) -> None:
    """Let this process die at the *number*th write of its store: before its commit, or after."""
    real, writes = SqliteStore.write, 0

    def write(store: SqliteStore, work: Callable[[SqliteTables], T]) -> T:
        nonlocal writes
        writes += 1
        if writes != number:
            return real(store, work)
        real(store, work if committed else lambda tables: (work(tables), die()))
        die()

    SqliteStore.write = write  # type: ignore[method-assign, assignment]


def work(asked: Mapping[str, Any]) -> int:
    """Work off a store until done or dead; return how many moments there were to die."""
    if "write" in asked:
        die_at(asked["write"], committed=asked["committed"])
    case, moments = CASES[asked["case"]], 0
    with case.open(Path(asked["path"]), ahead_s=asked.get("ahead_s", 0.0)) as memory:

        def moment() -> bool:
            nonlocal moments
            moments += 1
            if moments == asked.get("moment"):
                die()
            return False

        file_store(memory)._tables.connection.db.set_progress_handler(moment, VM_STEPS)
        memory.drain()
    return moments


def run_worker(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Fork a worker; return how it ended, how long it took and how many moments it had."""
    hear, tell = os.pipe()
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(hear)
        try:
            os.write(tell, str(work(asked)).encode())
            os._exit(0)
        except BaseException as error:  # a child must never return into the driver's loop
            sys.stderr.write(f"worker failed: {error!r}\n")
        os._exit(3)
    os.close(tell)
    if "after_s" in asked:
        time.sleep(asked["after_s"])  # the moment of the kill, not a wait for anything
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(hear) as told:
        moments = int(told.read() or 0)
    ended = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return {"ended": ended, "took_s": time.perf_counter() - began, "moments": moments}


if __name__ == "__main__":
    # Once in this process: what it loads and compiles, the workers that it forks have already.
    for warm_case, store in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        work({"case": warm_case, "path": store})
    assert threading.active_count() == 1  # or forking would not be safe
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run_worker(json.loads(line))) + "\n")
        sys.stdout.flush()


@dataclass
class Driver:
    """The process that forks workers."""

    process: "subprocess.Popen[str]"
    kills: int = 0

    def work(self, case: Case, path: Path, **how: Any) -> dict[str, Any]:
        """Let a worker work *path* off; with a *how* it dies, unless it is done before."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"case": case.name, "path": str(path), **how}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert told["ended"] in (0, -signal.SIGKILL), "the worker failed"
        self.kills += self.was_killed(told)
        return told

    @staticmethod
    def was_killed(told: Mapping[str, Any]) -> bool:
        return bool(told["ended"] == -signal.SIGKILL)


@pytest.fixture(scope="module")
def driver(
    captured: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driver]:
    """A process that forks workers; it lives as long as this file's tests."""
    folder = tmp_path_factory.mktemp("driver")
    stores = {name: str(shutil.copy(path, folder)) for name, path in captured.items()}
    with subprocess.Popen(
        [sys.executable, __file__, *(text for store in stores.items() for text in store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # It finds what the tests find, and NumPy starts no threads in it.
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    ) as process:
        yield Driver(process)
        assert process.stdin is not None
        process.stdin.close()


# ── what must be the same ───────────────────────────────────────────────────────────────────────

# Times of writing: the rest of every row must be the same.
_DIFFERS = {"created_at", "updated_at", "confirmed_at", "run_at", "at", "asked_at"}
_MADE_BY_THE_CLOCK = {"memory_changes", "memory_links", "model_calls"}  # their ids
_QUESTIONS = ("staging server port", "tabs or spaces", "which service listens on 8042", "rack")


@dataclass(frozen=True)
class End:
    """What a store holds in the end, and what it answers."""

    rows: list[dict[str, Any]]
    answers: list[tuple[str, str, float]]


def ended(case: Case, path: Path, *, ahead_s: float = 0.0) -> End:
    """Work off what is left in *path*, check it, and return what is in it."""
    with case.open(path, ahead_s=ahead_s) as memory:
        # Nobody pulls the plug on this one; waiting for the disk would take most of the time.
        file_store(memory)._tables.connection.db.execute("PRAGMA synchronous = OFF")
        memory.drain()
        verified = memory.maintenance.verify()
        exported = path.with_suffix(".jsonl")
        memory.export(exported)
        answers = [
            (query, hit.memory.id, round(hit.score, 9))
            for query in _QUESTIONS
            for hit in memory.search(query, everywhere=True, asked_at="2027-01-01")
        ]
    assert verified.ok, verified.problems
    rows = [json.loads(line) for line in exported.read_text().splitlines()[1:-1]]
    return End([_comparable(number, row) for number, row in enumerate(rows)], answers)


def _comparable(number: int, row: dict[str, Any]) -> dict[str, Any]:
    if row["table"] in _MADE_BY_THE_CLOCK:
        row["id"] = number
    if row["table"] == "memory_changes":
        effects = json.loads(row["effects"])
        # Ids of links and times are made by the clock.
        effects["links"] = len(effects.get("links", ()))
        effects["confirmations"] = [item[:3] for item in effects.get("confirmations", ())]
        row["effects"] = effects
    if row["table"] == "jobs":
        # A kill counts as a crash, and as nothing else: neither a failure nor a second completion.
        row["attempts"] -= row.pop("crashes")
    return {name: value for name, value in row.items() if name not in _DIFFERS}


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """One store for each case, in which everything waits to be worked off."""
    folder = tmp_path_factory.mktemp("captured")
    for case in CASES.values():
        with case.open(folder / f"{case.name}.db") as memory:
            case.capture(memory)
    return {name: folder / f"{name}.db" for name in CASES}


@pytest.fixture(scope="module")
def undisturbed(
    captured: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, End]:
    """What each case ends with when nobody is killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return {
        name: ended(CASES[name], Path(shutil.copy(path, folder))) for name, path in captured.items()
    }


def test_the_cases_hold_what_they_are_meant_to(undisturbed: Mapping[str, End]) -> None:
    """Otherwise the tests below would prove little."""

    def rows(name: str, table: str, **having: object) -> list[dict[str, Any]]:
        wanted = {"table": table, **having}
        return [row for row in undisturbed[name].rows if wanted.items() <= row.items()]

    for name in CASES:
        assert rows(name, "jobs", state="done", attempts=1) == rows(name, "jobs")
        assert rows(name, "ingestion_events", state="done") == rows(name, "ingestion_events")
        assert not rows(name, "unsettled")
    outcomes = " ".join(row["outcome"] for row in rows("talk", "ingestion_events"))
    for outcome in ("repeated", "merged", "corrections", "contradicting", "active", "held"):
        assert outcome in outcomes
    assert rows("talk", "memories", content=REQUEST, status="active")
    assert rows("talk", "memory_links", relation="contradicts")
    assert rows("talk", "memory_links", relation="supersedes")
    assert rows("talk", "memories", type="episode", status="superseded")
    [long] = rows("long", "ingestion_events")
    assert re.search(r"\b1[0-9]{2} extracted", long["outcome"])  # three batches, and six to settle
    assert "repeated" in long["outcome"]
    calls = rows("models", "model_calls")
    assert len(calls) == 3
    assert "rejected without a quote" in rows("models", "ingestion_events")[0]["outcome"]
    assert any(hit for hit in undisturbed["models"].answers if hit[0] == "rack")


@pytest.mark.parametrize("committed", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("name", CASES)
def test_a_worker_killed_at_any_write_leaves_nothing_undone_and_nothing_done_twice(
    driver: Driver,
    captured: Mapping[str, Path],
    undisturbed: Mapping[str, End],
    tmp_path: Path,
    name: str,
    committed: bool,
) -> None:
    case, number = CASES[name], 0
    while True:
        number += 1
        path = Path(shutil.copy(captured[name], tmp_path / f"{number}.db"))
        told = driver.work(case, path, write=number, committed=committed)
        if not driver.was_killed(told):
            break  # there are no more writes

        assert ended(case, path, ahead_s=LEASE_S + 1) == undisturbed[name], number

    assert number > 10


def test_a_worker_killed_inside_a_statement_leaves_nothing_undone_and_nothing_done_twice(
    driver: Driver, captured: Mapping[str, Path], undisturbed: Mapping[str, End], tmp_path: Path
) -> None:
    chance = random.Random(8)
    for name in CASES:
        whole = driver.work(CASES[name], Path(shutil.copy(captured[name], tmp_path / "whole.db")))
        for moment in chance.sample(range(1, whole["moments"]), KILLS_INSIDE_STATEMENTS // 3):
            path = Path(shutil.copy(captured[name], tmp_path / f"{name}-{moment}.db"))
            told = driver.work(CASES[name], path, moment=moment)

            assert driver.was_killed(told)
            assert ended(CASES[name], path, ahead_s=LEASE_S + 1) == undisturbed[name], moment


@pytest.mark.parametrize("name", CASES)
def test_workers_killed_one_after_the_other_at_random_moments_get_there_in_the_end(
    driver: Driver,
    captured: Mapping[str, Path],
    undisturbed: Mapping[str, End],
    tmp_path: Path,
    name: str,
) -> None:
    case, chance, wanted = CASES[name], random.Random(name), driver.kills + KILLS_FROM_OUTSIDE // 3
    whole = driver.work(case, Path(shutil.copy(captured[name], tmp_path / "whole.db")))
    stores = 0
    while driver.kills < wanted:
        stores += 1
        assert stores <= KILLS_FROM_OUTSIDE, "the kills come too late to kill anybody"
        path = Path(shutil.copy(captured[name], tmp_path / f"{stores}.db"))
        for number in range(IN_A_ROW):
            after_s = chance.uniform(0, whole["took_s"] * 0.7)
            driver.work(case, path, after_s=after_s, ahead_s=number * (LEASE_S + 1))

        assert ended(case, path, ahead_s=IN_A_ROW * (LEASE_S + 1)) == undisturbed[name]
