"""
Measure the retrieval log: `python -m benchmarks.retrieval_log`.

Bytes: how much the file grows for each question, by kind, in whole pages. Completeness: how many
questions are in the log after questions were asked while other processes wrote without a pause, and
how long the questions took. A question counts as logged if a new process can explain it.
"""

import argparse
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw

import recollect
from benchmarks.generated_sentences import PROJECTS, ProjectQuestion, questions, sentences
from benchmarks.markdown_table import table
from benchmarks.quality import RESULTS
from recollect import LocalRecollect, NotFound
from recollect.config import Settings

OUT = RESULTS / "retrieval_log.md"
MEMORIES = 2_000
QUESTIONS = 300
ASKING_S = 5.0
WRITERS = (0, 1, 3)

_WRITE = """
import sys, time
from recollect import LocalRecollect
from recollect.config import Settings
with LocalRecollect(Settings(db=sys.argv[1], embedding_backend="none")) as rec:
    number, ends_at = 0, time.monotonic() + float(sys.argv[2])
    print("ready", flush=True)
    while time.monotonic() < ends_at:
        rec.ingest(f"note {number} of {sys.argv[3]}", project="writer")
        number += 1
"""


@dataclass(frozen=True, kw_only=True)
class BytesPerQuestion:
    """How much the log grew."""

    verb: str
    questions: int
    bytes: float


@dataclass(frozen=True, kw_only=True)
class LoggedShare:
    """How many questions were logged beside writing processes."""

    writers: int
    asked: int
    logged: int
    slowest_ms: float


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    with TemporaryDirectory(prefix="recollect-log-") as folder:
        db = Path(folder) / "memory.db"
        question_list = fill(db)
        sizes = measure_bytes(db, question_list)
        shares = [measure_share(db, question_list, writers) for writers in WRITERS]
    report = render(sizes, shares, sys.argv[1:] if arguments is None else arguments)
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def fill(db: Path) -> list[ProjectQuestion]:
    """Store memories; return questions about them."""
    memories = sentences(MEMORIES)
    with LocalRecollect(Settings(db=str(db))) as rec:
        rec.memories.ingest_many(
            [{"content": memory.text, "project": memory.project} for memory in memories]
        )
        rec.drain()
    return questions(memories, QUESTIONS, seed=2)


def measure_bytes(db: Path, question_list: Sequence[ProjectQuestion]) -> list[BytesPerQuestion]:
    """Ask with each verb; return by how many bytes the log grew."""
    sizes = []
    with LocalRecollect(Settings(db=str(db))) as rec:
        verbs: dict[str, Callable[[ProjectQuestion], object]] = {
            "search": lambda question: rec.search(question.text, project=question.project),
            "context_for": lambda question: rec.context_for(
                question.text, project=question.project
            ),
            "briefing": lambda question: rec.briefing(project=question.project),
        }
        for verb, ask in verbs.items():
            before = log_size(rec)
            for question in question_list:
                ask(question)
            grown = log_size(rec) - before
            sizes.append(
                BytesPerQuestion(
                    verb=verb, questions=len(question_list), bytes=grown / len(question_list)
                )
            )
    return sizes


def log_size(rec: LocalRecollect) -> int:
    """Return the size of the pages of the log and its index."""
    rec.maintenance.status()  # the log has everything then
    db = apsw.Connection(str(rec.path), flags=apsw.SQLITE_OPEN_READONLY)
    size = db.execute("SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%retrievals%'").get
    db.close()
    return int(size or 0)


def measure_share(db: Path, question_list: Sequence[ProjectQuestion], writers: int) -> LoggedShare:
    """Ask for some seconds beside writing processes; return how many questions were logged."""
    command = [sys.executable, "-c", _WRITE, str(db), str(ASKING_S + 1.0)]
    processes = [
        subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, env=dict(os.environ))
        for number in range(writers)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    ids: list[str | None] = []
    slowest_s = 0.0
    with LocalRecollect(Settings(db=str(db))) as rec:
        rec.search("warm up")
        ends_at = time.monotonic() + ASKING_S
        while time.monotonic() < ends_at:
            question = question_list[len(ids) % len(question_list)]
            started_at = time.monotonic()
            bundle = rec.context_for(question.text, project=question.project)
            slowest_s = max(slowest_s, time.monotonic() - started_at)
            ids.append(bundle.retrieval_id)
    for process in processes:
        process.communicate()
    with LocalRecollect(Settings(db=str(db))) as rec:
        logged = sum(_is_logged(rec, retrieval_id) for retrieval_id in ids)
    return LoggedShare(writers=writers, asked=len(ids), logged=logged, slowest_ms=slowest_s * 1000)


def _is_logged(rec: LocalRecollect, retrieval_id: str | None) -> bool:
    try:
        return retrieval_id is not None and bool(rec.explain(retrieval_id))
    except NotFound:
        return False


def render(
    sizes: Sequence[BytesPerQuestion], shares: Sequence[LoggedShare], arguments: Sequence[str]
) -> str:
    """Return the report."""
    command = shlex.join(["python", "-m", "benchmarks.retrieval_log", *arguments])
    page = [
        "# The retrieval log",
        "",
        f"`{command}`, Recollect {recollect.__version__}, Python {platform.python_version()}, "
        f"{MEMORIES:,} memories in {PROJECTS} projects, default embedder.",
        "",
        *table(
            ["", "questions", "bytes per question"],
            [[row.verb, f"{row.questions}", f"{row.bytes:,.0f}"] for row in sizes],
        ),
        "",
        f"`context_for` for {ASKING_S:g} s while other processes write without a pause:",
        "",
        *table(
            ["writing processes", "asked", "logged", "slowest question"],
            [
                [f"{row.writers}", f"{row.asked}", f"{row.logged}", f"{row.slowest_ms:,.0f} ms"]
                for row in shares
            ],
        ),
    ]
    return "\n".join(page) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval_log", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
