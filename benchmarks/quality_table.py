"""Render the results of `benchmarks.quality` as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.fts5_baseline import baseline_of, worst_margin
from benchmarks.metrics import METRICS, PRECISION, STALE

COLUMNS = (*METRICS, STALE)
PART_COLUMNS = ("R@5", "R@10", "all@5", "all@10", "nDCG@10", STALE)
INDEXES = {"both": "words and embeddings", "words": "words only"}

INTRODUCTION = """\
Scores in per cent, the baseline (plain SQLite FTS5) in brackets. *Worst* is the metric with the
worst difference from the baseline, in points. Everything used the Python API, each scope as a
project (if stored as messages: as an agent), without a language model. A search returns 50 items;
its time includes embedding the query, which is never cached. *Items/s* is the rate of
`memories.ingest_many` in batches of 500 (messages: `conversations.append_many` by session); items
are embedded afterwards, from a cache on a second run.
"""
SIZE = """\
P@k is the share of gold among the results, k at most. *Returned* is the mean number of results,
*tokens* the mean size of the first five (o200k).
"""
HALVES = """\
One half is used to choose settings, the other to confirm them. *By* is the unit of the split.
"""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """The result of one task under one configuration."""

    task: str
    indexes: str
    model: str
    stored_as: str  # memories or messages
    settings: Mapping[str, Any]  # overridden constants
    half: str
    split_by: str
    questions: int
    scores: Mapping[str, float]
    by_category: Mapping[str, tuple[int, Mapping[str, float]]]
    by_half: Mapping[str, tuple[int, Mapping[str, float]]]
    returned: float
    tokens_5: float
    search_p50_ms: float
    search_p95_ms: float
    stored: int
    cut: int
    ingest_per_s: float
    embed_s: float
    cached_texts: int


def title_of(result: TaskResult) -> str:
    """Return a configuration as one line."""
    parts = [INDEXES[result.indexes].capitalize()]
    if result.stored_as == "messages":
        parts.append("stored as messages")
    if result.half != "all":
        parts.append(f"half to {result.half}")
    # The module and the constant are enough to identify it.
    set_to = (f"{'.'.join(name.split('.')[-2:])} = {v}" for name, v in result.settings.items())
    return ", ".join([*parts, *set_to])


def render(results: Sequence[TaskResult]) -> str:
    """Return the whole report: for each configuration its tables, then the categories."""
    titles = list(dict.fromkeys(title_of(result) for result in results))
    groups = {
        title: [result for result in results if title_of(result) == title] for title in titles
    }
    parts = ["# Retrieval quality", "", INTRODUCTION]
    for title, group in groups.items():
        models = ", ".join(dict.fromkeys(result.model for result in group))
        parts += [f"## {title}", "", f"Embeddings: {models}.", "", *_main_table(group), ""]
        parts += _notes(group)
    parts += ["## How much is returned", "", SIZE]
    parts += [*_size_table(results), ""]
    split = [result for result in results if len(result.by_half) > 1]
    if split:
        parts += ["## Halves", "", HALVES, *_half_table(split), ""]
    for title, group in groups.items():
        several = [result for result in group if len(result.by_category) > 1]
        if several:
            by = f"By category, {title[0].lower()}{title[1:]}"
            parts += [f"## {by}", "", *_category_table(several), ""]
    return "\n".join(parts).rstrip() + "\n"


def _main_table(results: Sequence[TaskResult]) -> list[str]:
    header = ["task", "n", *COLUMNS, "worst", "p50 ms", "p95 ms", "items/s"]
    return _table(header, [_main_row(result) for result in results])


def _main_row(result: TaskResult) -> list[str]:
    floor = baseline_of(result.task, result.questions)
    worst = worst_margin(floor, result.scores)
    return [
        result.task,
        str(result.questions),
        *(_with_baseline(result.scores.get(name), floor.get(name)) for name in COLUMNS),
        f"{worst[1]:+.1f} {worst[0]}" if worst else "",
        f"{result.search_p50_ms:.1f}",
        f"{result.search_p95_ms:.1f}",
        f"{result.ingest_per_s:,.0f}",
    ]


def _notes(results: Sequence[TaskResult]) -> list[str]:
    cut = [f"{result.cut} of {result.task}" for result in results if result.cut]
    return (
        [f"Longer than the limit of a memory, and truncated: {', '.join(cut)}.", ""] if cut else []
    )


def _size_table(results: Sequence[TaskResult]) -> list[str]:
    rows = [
        [
            result.task,
            title_of(result),
            f"{result.returned:.1f}",
            *(_format_score(result.scores.get(name)) for name in PRECISION),
            f"{result.tokens_5:,.0f}",
        ]
        for result in results
    ]
    return _table(["task", "configuration", "returned", *PRECISION, "tokens"], rows)


def _half_table(results: Sequence[TaskResult]) -> list[str]:
    rows = [
        [result.task, title_of(result), result.split_by, half, str(count), *_part_cells(reached)]
        for result in results
        for half, (count, reached) in result.by_half.items()
    ]
    return _table(["task", "configuration", "by", "half", "n", *PART_COLUMNS], rows)


def _category_table(results: Sequence[TaskResult]) -> list[str]:
    rows = [
        [result.task, category, str(count), *_part_cells(reached)]
        for result in results
        for category, (count, reached) in result.by_category.items()
    ]
    return _table(["task", "category", "n", *PART_COLUMNS], rows)


def _part_cells(reached: Mapping[str, float]) -> list[str]:
    return [_format_score(reached.get(name)) for name in PART_COLUMNS]


def _with_baseline(reached: float | None, floor: float | None) -> str:
    return f"{_format_score(reached)} ({floor:g})" if floor is not None else _format_score(reached)


def _format_score(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
