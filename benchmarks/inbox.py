"""
Count what a reviewer sees after an import: `python -m benchmarks.inbox`.

Imports the sessions of RealMem and of the LongMemEval pool, one project for each person, and
processes them by rules; RealMem also with the default embedder. *Before* counts every candidate and
every session record of a flat list. *After* counts the lines with duplicates folded, in groups.
"""

import argparse
import platform
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import recollect
from benchmarks.quality import RESULTS
from benchmarks.tasks import TaskItem, TasksMissing, default_folder, read_task
from recollect.domain.limits import MAX_LIMIT
from recollect.domain.memory import MemoryType, Status

OUT = RESULTS / "inbox.md"
RUNS = (("realmem-session", "none"), ("realmem-session", "local"), ("lme-pool-session", "none"))
FACTS = [kind.value for kind in MemoryType if kind is not MemoryType.EPISODE]


@dataclass(frozen=True, kw_only=True)
class InboxCounts:
    """What one body of sessions leaves to its reviewer."""

    task: str
    embedder: str
    sessions: int
    extracted: int
    waiting: int
    lines: int
    groups: int
    records: int
    groups_of_records: int


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        counted = [count(task, read_task(options.tasks, task).items, how) for task, how in RUNS]
    except TasksMissing as missing:
        print(f"inbox: {missing}", file=sys.stderr)
        return 2
    report = render(counted, sys.argv[1:] if arguments is None else arguments)
    print(report)
    if options.write:
        OUT.write_text(report, encoding="utf-8")
    return 0


def count(task: str, items: Sequence[TaskItem], embedder: str) -> InboxCounts:
    """Capture every session as an import, work it off, and count what waits."""
    with (
        TemporaryDirectory(prefix="recollect-bench-") as folder,
        recollect.open(Path(folder) / "memory.db", embedding_backend=embedder) as rec,
    ):
        for item in items:
            place: dict[str, Any] = {"project": item.scope or task, "session": item.id}
            rec.capture_conversation(item.text, "import", observed_at=item.at, **place)
        rec.drain()
        by_status = rec.maintenance.status().memories_by_status
        assert not by_status.get(Status.ACTIVE), "an import made something active"
        extracted = sum(_extracted_count(event.outcome) for event in rec.captures.list())
        lines = rec.inbox.list(types=FACTS, limit=MAX_LIMIT)
        records = rec.inbox.list(types=[MemoryType.EPISODE.value], limit=MAX_LIMIT)
    return InboxCounts(
        task=task,
        embedder=embedder,
        sessions=len(items),
        extracted=extracted - records[0].of,
        waiting=by_status[Status.INBOX] - records[0].of,
        lines=lines[0].of,
        groups=len({line.group for line in lines}),
        records=records[0].of,
        groups_of_records=len({record.group for record in records}),
    )


def render(counted: Sequence[InboxCounts], arguments: Sequence[str]) -> str:
    """Return the page."""
    command = shlex.join(["python", "-m", "benchmarks.inbox", *arguments])
    page = [
        "# The inbox after an import",
        "",
        f"`{command}`, Recollect {recollect.__version__}, Python {platform.python_version()}, by "
        "rules, without a language model.",
        "",
        "| | embedder | sessions | facts extracted | wait after consolidation | folded away | "
        "records of sessions | lines before | lines after, in groups | groups of records |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    page += [
        f"| {row.task} | {row.embedder} | {row.sessions} | {row.extracted} | {row.waiting} | "
        f"{row.waiting - row.lines} | {row.records} | {row.waiting + row.records} | "
        f"{row.lines} in {row.groups} | {row.groups_of_records} |"
        for row in counted
    ]
    page += [
        "",
        "Consolidation already merges equal candidates, so little is left to fold; folding is for "
        "candidates that differ by a word or two. Records of sessions come last, grouped by place; "
        "a reviewer decides a whole group with one key.",
    ]
    return "\n".join(page) + "\n"


def _extracted_count(outcome: str) -> int:
    """Return the number before "extracted" in what an event says of itself."""
    parts = [part.split() for part in outcome.split(", ")]
    return sum(int(words[0]) for words in parts if words[1:] == ["extracted"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inbox", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help=f"write {OUT.name} as well")
    return parser


if __name__ == "__main__":
    sys.exit(main())
