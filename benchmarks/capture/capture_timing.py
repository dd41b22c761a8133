"""Time each step of a capture. Every measurement has a store of its own in a temporary folder."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import recollect
from benchmarks.capture.generated_messages import GeneratedMessage
from benchmarks.capture.transcript_formats import as_claude_code
from benchmarks.tasks import ROOT
from recollect.text.transcripts.message_list import transcript_from_messages
from recollect.text.transcripts.transcript_reader import read_transcripts

ALONE_S = 5.0

Material = str | Sequence[Mapping[str, str]] | Path


@dataclass(frozen=True)
class CaptureTime:
    """How long a capture took to return, and how many messages were recognised in the material."""

    took_s: float
    recognised: int


@dataclass(frozen=True)
class ProcessingTime:
    """How long working off took, how far memory grew meanwhile, and what came of it."""

    drain_s: float
    grown_mb: float | None
    memories: Mapping[str, int]


@dataclass(frozen=True)
class WriteWaits:
    """How long another process waited for each of its writes, in ms, by what went on meanwhile."""

    alone: Sequence[float]
    capturing: Sequence[float]
    working: Sequence[float]


def capture_s(material: Material) -> float:
    """Return how long a capture takes to return."""
    with _folder() as folder, _open(folder / "memory.db") as memory:
        started = perf_counter()
        memory.capture_session(material)
        return perf_counter() - started


def message_count(material: Material) -> int:
    """Return how many messages Recollect sees in *material*."""
    if not isinstance(material, str | Path):
        return len(transcript_from_messages(material).messages)
    text = material if isinstance(material, str) else material.read_text(encoding="utf-8")
    return sum(len(transcript.messages) for transcript in read_transcripts(text))


def bare_insert_s(messages: Sequence[GeneratedMessage]) -> float:
    """Return how long plain SQLite takes for one row a message, in one durable transaction."""
    with _folder() as folder:
        db = sqlite3.connect(folder / "log.db", isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE log (id INTEGER PRIMARY KEY, kind TEXT, text TEXT)")
        started = perf_counter()
        db.execute("BEGIN IMMEDIATE")
        rows = ((message.kind, message.text) for message in messages)
        db.executemany("INSERT INTO log (kind, text) VALUES (?, ?)", rows)
        db.execute("COMMIT")
        took = perf_counter() - started
        db.close()
        return took


def process_time(messages: Sequence[GeneratedMessage], embedding: str) -> ProcessingTime:
    """Capture *messages* as a file, and work them off in a new process."""
    with _folder() as folder:
        with _open(folder / "memory.db") as memory:
            memory.capture_session(write_transcript(folder, messages))
        return _process_captures(folder / "memory.db", embedding)


def write_waits(messages: Sequence[GeneratedMessage]) -> WriteWaits:
    """Capture *messages* and work them off while another process writes to the same store."""
    with _folder() as folder:
        path = write_transcript(folder, messages)
        with _open(folder / "memory.db") as memory, _writer(folder / "memory.db") as writes:
            time.sleep(ALONE_S)
            marks = [time.time()]
            memory.capture_session(path)
            marks.append(time.time())
            _process_captures(folder / "memory.db", "none")
            marks.append(time.time())
        parts: tuple[list[float], ...] = ([], [], [])
        for began_at, took_ms in writes:
            since = sum(began_at + took_ms / 1000 >= mark for mark in marks)
            if since < len(parts):
                parts[since].append(took_ms)
    return WriteWaits(*parts)


def write_transcript(folder: Path, messages: Sequence[GeneratedMessage]) -> Path:
    """Write *messages* as Claude Code does, and return where."""
    path = folder / "transcript.jsonl"
    path.write_text(as_claude_code(messages), encoding="utf-8")
    return path


@contextmanager
def _folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="recollect-bench-") as folder:
        yield Path(folder)


def _open(path: Path) -> recollect.LocalRecollect:
    return recollect.open(path, embedding_backend="none")


def _process_captures(path: Path, embedding: str) -> ProcessingTime:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.capture.process_captures", str(path), embedding],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return ProcessingTime(**figures)


@contextmanager
def _writer(path: Path) -> Iterator[list[tuple[float, float]]]:
    """Let another process write while the block runs; what it noted is there afterwards."""
    written: list[tuple[float, float]] = []
    command = [sys.executable, "-m", "benchmarks.capture.concurrent_writer", str(path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()  # it is ready
        yield written
        process.stdin.close()
        written += [(began, took) for began, took in json.loads(process.stdout.read())]
