"""
What capture costs, and what comes after it: `python -m benchmarks.capture`.

A transcript of 10,000 messages is captured as a file, as a list and as text, and worked off without
a language model, with embeddings and without; then how far memory grows with the length, and how
long another process waits for its writes meanwhile. Beside it: one plain SQLite transaction with
the same messages. What is measured stands in stopwatch.py; this file is the run.
"""

import argparse
import cProfile
import os
import platform
import pstats
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from typing import TypeVar

import recollect
from benchmarks.capture import stopwatch
from benchmarks.capture.forms import as_list, as_text
from benchmarks.capture.messages import Message, Pool, make_pool, messages
from benchmarks.capture.report import Measured, render
from benchmarks.quality import RESULTS
from benchmarks.tasks import default_folder

OUT = RESULTS / "capture.md"
EMBEDDINGS = ("none", "local")
SHOWN = 40  # lines of a profile

T = TypeVar("T")


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    pool = make_pool(given.tasks)
    if given.profile:
        _profile(messages(pool, given.messages, shape="agent"))
        return 0
    lengths = [int(length) for length in given.lengths.split(",")]
    notes = _notes(pool, sys.argv[1:] if arguments is None else arguments)
    measured = _measure(pool, given.messages, lengths, given.rounds)
    report = render(measured, notes)
    print(report)
    if given.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def _measure(pool: Pool, count: int, lengths: Sequence[int], rounds: int) -> Measured:
    agent = messages(pool, count, shape="agent")
    chat = messages(pool, count, shape="chat")
    return Measured(
        messages=count,
        chars={"agent": fmean(map(_length, agent)), "chat": fmean(map(_length, chat))},
        rounds=rounds,
        captured=_captured(agent, rounds),
        bare_s=median(_times(rounds, "plain SQLite", partial(stopwatch.bare_insert_s, agent))),
        worked={
            ("agent", "none"): _worked(agent, "none", rounds),
            ("agent", "local"): _worked(agent, "local", rounds),
            ("chat", "none"): _worked(chat, "none", rounds),
        },
        at_length={
            (length, embedding): _worked(messages(pool, length, shape="agent"), embedding, 1)[0]
            for length in lengths
            for embedding in EMBEDDINGS
        },
        waits=_times(rounds, "another process writes", partial(stopwatch.waits, agent)),
    )


def _captured(agent: Sequence[Message], rounds: int) -> dict[str, stopwatch.Captured]:
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        forms: dict[str, stopwatch.Material] = {
            "a file of Claude Code": stopwatch.written(Path(folder), agent),
            "a list of messages": as_list(agent),
            "a text": as_text(agent),
        }
        return {
            name: stopwatch.Captured(
                median(_times(rounds, name, partial(stopwatch.capture_s, form))),
                stopwatch.recognised(form),
            )
            for name, form in forms.items()
        }


def _worked(made: Sequence[Message], embedding: str, rounds: int) -> list[stopwatch.Worked]:
    what = f"{len(made):,} messages, embedding: {embedding}"
    return _times(rounds, what, partial(stopwatch.work, made, embedding))


def _times(rounds: int, what: str, measure: Callable[[], T]) -> list[T]:
    print(f"{what} …", file=sys.stderr, flush=True)
    return [measure() for _ in range(rounds)]


def _length(message: Message) -> int:
    return len(message.text)


def _profile(made: Sequence[Message]) -> None:
    """Print where the time of working off goes, embeddings off."""
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = stopwatch.written(Path(folder), made)
        with recollect.open(Path(folder) / "memory.db", embedding_backend="none") as memory:
            memory.capture_session(path)
            profile = cProfile.Profile()
            profile.runcall(memory.drain)
    for order in ("cumulative", "tottime"):
        pstats.Stats(profile).sort_stats(order).print_stats(SHOWN)


def _notes(pool: Pool, arguments: Sequence[str]) -> list[str]:
    return [
        f"- `{shlex.join(['python', '-m', 'benchmarks.capture', *arguments])}`, LocalRecollect "
        f"{recollect.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores; "
        f"load of the machine when it began: {_load()}.",
        f"- Texts: {pool.origin}; the output of tools is made up.",
    ]


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture", description=__doc__)
    parser.add_argument("--messages", type=int, default=10_000, help="of the transcript")
    parser.add_argument("--lengths", default="1000,10000,40000", help="at which memory is measured")
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--profile", action="store_true", help="only say where the time goes")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
