"""
Read retrieval tasks: what is stored, what is asked, and which items answer it.

A task is a folder with `items.jsonl.gz` and `queries.jsonl.gz`. This file knows their format and
nothing of how they are stored, asked or scored.
"""

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "RECOLLECT_BENCH_TASKS"
ITEMS = "items.jsonl.gz"
QUERIES = "queries.jsonl.gz"
FIRST_AT = datetime(2024, 1, 1, tzinfo=UTC)  # the moment of order number 0


class TasksMissing(Exception):
    """There is no folder of tasks, or not the task that was named."""


@dataclass(frozen=True, kw_only=True)
class TaskItem:
    """One thing to remember; session and speaker are '' where the task does not tell."""

    id: str
    scope: str
    text: str
    at: datetime | None
    session: str = ""
    speaker: str = ""


@dataclass(frozen=True, kw_only=True)
class TaskQuery:
    """One question; `candidates` are the only items that exist for it, None means all."""

    id: str
    scope: str
    text: str
    category: str
    gold: frozenset[str]
    stale: frozenset[str]
    asked_at: str | None
    candidates: frozenset[str] | None


@dataclass(frozen=True, kw_only=True)
class Task:
    """Items in the order they were said, and the questions about them."""

    name: str
    items: tuple[TaskItem, ...]
    queries: tuple[TaskQuery, ...]


def default_folder() -> Path:
    """Return where the tasks are looked for."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else ROOT.parent / "shared" / "bench" / "tasks"


def task_names(folder: Path) -> list[str]:
    """Return the names of the tasks in *folder*."""
    names = sorted(path.parent.name for path in folder.glob(f"*/{QUERIES}"))
    if not names:
        raise TasksMissing(
            f"there are no tasks in {folder}; name their folder with --tasks or {VARIABLE}"
        )
    return names


def read_task(folder: Path, name: str) -> Task:
    """Read one task. Gold that is not among the items is dropped, and questions without any."""
    if not (folder / name / QUERIES).is_file():
        raise TasksMissing(f"there is no task {name!r} in {folder}")
    items = tuple(_item(row) for row in _rows(folder / name / ITEMS))
    item_ids = frozenset(item.id for item in items)
    queries = (_query(row, item_ids) for row in _rows(folder / name / QUERIES))
    return Task(name=name, items=items, queries=tuple(query for query in queries if query.gold))


def write_task(folder: Path, task: Task) -> None:
    """Write *task* as a folder that `read_task` reads."""
    (folder / task.name).mkdir(parents=True, exist_ok=True)
    _write(folder / task.name / "items.jsonl.gz", (_item_row(item) for item in task.items))
    _write(folder / task.name / "queries.jsonl.gz", (_query_row(query) for query in task.queries))


def limit_queries(task: Task, most: int) -> Task:
    """Return *task* with at most *most* of its questions, taken evenly."""
    step = max(-(-len(task.queries) // most), 1)
    return replace(task, queries=task.queries[::step])


def parse_time(at: str | None) -> datetime | None:
    """Return when an item was said. All digits are only an order number: minutes from FIRST_AT."""
    if not at:
        return None
    if at.isdigit():
        return FIRST_AT + timedelta(minutes=int(at))
    try:
        return datetime.fromisoformat(at)
    except ValueError:
        return None


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _write(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    # No name and no time in the header: the same task gives the same bytes.
    with gzip.GzipFile(path, "wb", mtime=0) as lines:
        for row in rows:
            lines.write((json.dumps(row, ensure_ascii=False) + "\n").encode())


def _item_row(item: TaskItem) -> dict[str, Any]:
    at = item.at.isoformat() if item.at else ""
    return vars(item) | {"at": at}


def _query_row(query: TaskQuery) -> dict[str, Any]:
    row = vars(query) | {"gold": sorted(query.gold), "stale": sorted(query.stale)}
    if query.candidates is None:
        return row | {"candidates": None}
    return row | {"candidates": sorted(query.candidates)}


def _item(row: dict[str, Any]) -> TaskItem:
    return TaskItem(
        id=row["id"],
        scope=row["scope"],
        text=row["text"],
        at=parse_time(row.get("at")),
        session=row.get("session") or "",
        speaker=row.get("speaker") or "",
    )


def _query(row: dict[str, Any], item_ids: frozenset[str]) -> TaskQuery:
    candidates = row.get("candidates")
    return TaskQuery(
        id=row["id"],
        scope=row["scope"],
        text=row["text"],
        category=row.get("category") or "",
        gold=frozenset(row["gold"]) & item_ids,
        stale=frozenset(row.get("stale") or ()) & item_ids,
        asked_at=row.get("asked_at") or None,
        candidates=None if candidates is None else frozenset(candidates),
    )
