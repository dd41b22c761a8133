"""
Measure what `learning()` adds to a call of a vendor's client, in each mode of use.

Each mode gets a copy of the same store and its own calling process (vendor_caller.py). The vendor
answers at once, so back to back calls are the worst case: the last exchange is embedded while the
next call recalls. A pause between calls, as long as a short real answer, avoids that.
"""

import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import recollect
from benchmarks.recall.generated_conversations import questions
from benchmarks.server.fill_store import AGENT, FilledStore
from benchmarks.server.latency import Latency
from benchmarks.server.processes import memory_server, module_server, run_client
from benchmarks.server.vendor_caller import WARM_UP

PAUSE_S = 0.3
TRIES_S = 0.02  # between calls while the server is gone: it is asked again after a second, two, …


@dataclass(frozen=True)
class LearningMode:
    """One way to use `learning()`."""

    title: str
    pause_s: float = 0.0
    embedded: bool = False
    capture_only: bool = False
    is_async: bool = False
    signal: str = ""  # what the server gets after the warm-up
    share: float = 1.0  # of the calls


@dataclass(frozen=True, kw_only=True)
class Overhead:
    """What one way costs, in ms."""

    title: str
    bare: Latency
    added: Latency  # paired: inside less bare, question by question
    recall: Latency  # before the call
    recording: Latency  # after the call
    first_recall: float  # of the first call after the warm-up, or after the server was gone


MODES = (
    LearningMode("server", PAUSE_S),
    LearningMode("server, back to back"),
    LearningMode("server, async client", PAUSE_S, is_async=True, share=0.5),
    LearningMode("server, `capture_only`, back to back", capture_only=True),
    LearningMode("embedded", PAUSE_S, embedded=True, share=0.5),
    LearningMode("embedded, back to back", embedded=True),
    LearningMode("server killed", TRIES_S, signal="SIGKILL"),
    LearningMode("server stopped in its tracks", TRIES_S, signal="SIGSTOP", share=0.5),
)
MAIN_MODES = MODES[:2]


def measure_overheads(
    filled: FilledStore, folder: Path, *, calls: int, ways: Sequence[LearningMode]
) -> list[Overhead]:
    """Return what each of *ways* costs with *calls* calls."""
    with module_server("benchmarks.server.stub_servers", "vendor") as vendor:
        return [
            _measure_mode(way, filled, folder, max(int(calls * way.share), 1), f"{vendor.url}/v1")
            for way in ways
        ]


def _measure_mode(
    way: LearningMode, filled: FilledStore, folder: Path, calls: int, vendor: str
) -> Overhead:
    db = folder / "overhead.db"
    for old in folder.glob("overhead.db*"):
        old.unlink()
    shutil.copy(filled.path, db)
    prompts = questions(filled.past, AGENT, calls + WARM_UP, seed=95)
    plan: dict[str, Any] = {
        "vendor": vendor,
        "agent": AGENT,
        "questions": [prompt.text for prompt in prompts],
        "pause_s": way.pause_s,
        "async": way.is_async,
        "capture_only": way.capture_only,
        "signal": way.signal,
        "flush_s": 0.1 if way.signal else 60.0,
        "db": str(db) if way.embedded else "",
    }
    with _warm_server(way, db) as more:
        return _overhead(way.title, run_client("benchmarks.server.vendor_caller", {**plan, **more}))


@contextmanager
def _warm_server(way: LearningMode, db: Path) -> Iterator[Mapping[str, Any]]:
    """Lend the address of a server that has loaded its model, where one is wanted."""
    if way.embedded:
        yield {}
        return
    with memory_server(db) as server:
        with recollect.connect(server.url) as rec:
            rec.context_for("warm up", agent=AGENT)
        try:
            yield {"url": server.url, "pid": server.process.pid}
        finally:
            if way.signal and server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)


def _overhead(title: str, times: Mapping[str, Sequence[float]]) -> Overhead:
    added = [inside - bare for inside, bare in zip(times["inside"], times["bare"], strict=True)]
    return Overhead(
        title=title,
        bare=Latency.of(times["bare"]),
        added=Latency.of(added),
        recall=Latency.of(times["recall"]),
        recording=Latency.of(times["recording"]),
        first_recall=times["recall"][0],
    )
