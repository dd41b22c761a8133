"""
Measure capture and processing: `python -m benchmarks.capture`.

A transcript of 10,000 messages is captured as a file, as a list and as text, and processed without
a language model, with and without embeddings; then memory by length, and how long another process
waits for its writes. The baseline is one plain SQLite transaction with the same messages.
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
from benchmarks.capture import capture_timing
from benchmarks.capture.capture_report import CaptureFigures, render
from benchmarks.capture.generated_messages import (
    GeneratedMessage,
    TextPool,
    generated_messages,
    make_pool,
)
from benchmarks.capture.transcript_formats import as_list, as_text
from benchmarks.quality import RESULTS
from benchmarks.tasks import default_folder

OUT = RESULTS / "capture.md"
EMBEDDINGS = ("none", "local")
SHOWN = 40  # lines of a profile

T = TypeVar("T")


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    pool = make_pool(options.tasks)
    if options.profile:
        _profile(generated_messages(pool, options.messages, shape="agent"))
        return 0
    lengths = [int(length) for length in options.lengths.split(",")]
    notes = _notes(pool, sys.argv[1:] if arguments is None else arguments)
    measured = _measure(pool, options.messages, lengths, options.rounds)
    report = render(measured, notes)
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def _measure(pool: TextPool, count: int, lengths: Sequence[int], rounds: int) -> CaptureFigures:
    agent = generated_messages(pool, count, shape="agent")
    chat = generated_messages(pool, count, shape="chat")
    return CaptureFigures(
        messages=count,
        chars={"agent": fmean(map(_length, agent)), "chat": fmean(map(_length, chat))},
        rounds=rounds,
        captured=_measure_captures(agent, rounds),
        bare_s=median(_times(rounds, "plain SQLite", partial(capture_timing.bare_insert_s, agent))),
        worked={
            ("agent", "none"): _measure_processing(agent, "none", rounds),
            ("agent", "local"): _measure_processing(agent, "local", rounds),
            ("chat", "none"): _measure_processing(chat, "none", rounds),
        },
        at_length={
            (length, embedding): _measure_processing(
                generated_messages(pool, length, shape="agent"), embedding, 1
            )[0]
            for length in lengths
            for embedding in EMBEDDINGS
        },
        waits=_times(rounds, "another process writes", partial(capture_timing.write_waits, agent)),
    )


def _measure_captures(
    agent: Sequence[GeneratedMessage], rounds: int
) -> dict[str, capture_timing.CaptureTime]:
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        forms: dict[str, capture_timing.Material] = {
            "a file of Claude Code": capture_timing.write_transcript(Path(folder), agent),
            "a list of messages": as_list(agent),
            "a text": as_text(agent),
        }
        return {
            name: capture_timing.CaptureTime(
                median(_times(rounds, name, partial(capture_timing.capture_s, form))),
                capture_timing.message_count(form),
            )
            for name, form in forms.items()
        }


def _measure_processing(
    transcript: Sequence[GeneratedMessage], embedding: str, rounds: int
) -> list[capture_timing.ProcessingTime]:
    what = f"{len(transcript):,} messages, embedding: {embedding}"
    return _times(rounds, what, partial(capture_timing.process_time, transcript, embedding))


def _times(rounds: int, what: str, measure: Callable[[], T]) -> list[T]:
    print(f"{what} …", file=sys.stderr, flush=True)
    return [measure() for _ in range(rounds)]


def _length(message: GeneratedMessage) -> int:
    return len(message.text)


def _profile(transcript: Sequence[GeneratedMessage]) -> None:
    """Print where the time of working off goes, embeddings off."""
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        path = capture_timing.write_transcript(Path(folder), transcript)
        with recollect.open(Path(folder) / "memory.db", embedding_backend="none") as rec:
            rec.capture_session(path)
            profile = cProfile.Profile()
            profile.runcall(rec.drain)
    for order in ("cumulative", "tottime"):
        pstats.Stats(profile).sort_stats(order).print_stats(SHOWN)


def _notes(pool: TextPool, arguments: Sequence[str]) -> list[str]:
    return [
        f"- `{shlex.join(['python', '-m', 'benchmarks.capture', *arguments])}`, Recollect "
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
