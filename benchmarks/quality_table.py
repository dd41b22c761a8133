"""
Show the results of the quality run as Markdown. Knows how numbers look, not where they come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.floor import FLOOR, worst_margin
from benchmarks.metrics import METRICS, STALE

COLUMNS = (*METRICS, STALE)
CATEGORY_COLUMNS = ("R@5", "R@10", "all@5", "all@10", "nDCG@10", STALE)
LEGS = {"both": "words and meaning", "words": "words only"}

INTRODUCTION = """\
Shares in per cent, the floor (plain SQLite FTS5) in brackets. *Worst* is the metric that stands
worst against the floor, in points. Everything went through the Python door, each scope as a
project, with no language model. A search returns 50 items; its time includes embedding the
question, which is never cached. *Items/s* is `ingest_many` in batches of 500, found by words when
it returns; item embeddings are made afterwards and come from a cache on a second run.
"""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one task came to, with or without embeddings."""

    task: str
    leg: str
    questions: int
    reached: Mapping[str, float]
    by_category: Mapping[str, tuple[int, Mapping[str, float]]]
    search_p50_ms: float
    search_p95_ms: float
    stored: int
    cut: int
    ingest_per_s: float
    embed_s: float
    known_texts: int


def render(results: Sequence[Result]) -> str:
    """Return the whole report: a table per leg, then the categories."""
    parts = ["# Retrieval quality", "", INTRODUCTION]
    for leg, title in LEGS.items():
        of_leg = [result for result in results if result.leg == leg]
        if of_leg:
            parts += [f"## {title.capitalize()}", "", *_main_table(of_leg), ""]
            parts += [*_notes(of_leg)]
    for leg, title in LEGS.items():
        of_leg = [result for result in results if result.leg == leg and len(result.by_category) > 1]
        if of_leg:
            parts += [f"## By category, {title}", "", *_category_table(of_leg), ""]
    return "\n".join(parts).rstrip() + "\n"


def _main_table(results: Sequence[Result]) -> list[str]:
    header = ["task", "n", *COLUMNS, "worst", "p50 ms", "p95 ms", "items/s"]
    return _table(header, [_main_row(result) for result in results])


def _main_row(result: Result) -> list[str]:
    floor = FLOOR.get(result.task, {})
    worst = worst_margin(result.task, result.reached)
    return [
        result.task,
        str(result.questions),
        *(_beside(result.reached.get(name), floor.get(name)) for name in COLUMNS),
        f"{worst[1]:+.1f} {worst[0]}" if worst else "",
        f"{result.search_p50_ms:.1f}",
        f"{result.search_p95_ms:.1f}",
        f"{result.ingest_per_s:,.0f}",
    ]


def _notes(results: Sequence[Result]) -> list[str]:
    cut = [f"{result.cut} of {result.task}" for result in results if result.cut]
    return [f"Too long for the door and cut to its limit: {', '.join(cut)}.", ""] if cut else []


def _category_table(results: Sequence[Result]) -> list[str]:
    rows = [
        [result.task, category, str(count), *(_one(reached.get(name)) for name in CATEGORY_COLUMNS)]
        for result in results
        for category, (count, reached) in result.by_category.items()
    ]
    return _table(["task", "category", "n", *CATEGORY_COLUMNS], rows)


def _beside(reached: float | None, floor: float | None) -> str:
    return f"{_one(reached)} ({floor:g})" if floor is not None else _one(reached)


def _one(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
