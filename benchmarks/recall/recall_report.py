"""Render the results of `benchmarks.recall` as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.markdown_table import table

Figures = Mapping[str, float]
OWN = "recollect"


@dataclass(frozen=True)
class FigureRow:
    """A line of a table: the figure's name, what it is called, and what it should at most be."""

    figure: str
    title: str
    target: float | None = None
    more_is_better: bool = False


def _both(name: str, title: str, target: float | None = None) -> tuple[FigureRow, FigureRow]:
    return FigureRow(f"{name} p50", f"{title}, p50 ms"), FigureRow(
        f"{name} p95", "… p95 ms", target
    )


WRITING = (
    *_both("append", "append one message, on disk when it returns", 5),
    FigureRow("appended/s", "append in batches of 100, messages/s", more_is_better=True),
    FigureRow("fill/s", "everything written, messages/s", more_is_better=True),
)
SEARCHING = (
    FigureRow("first large", "the first question after opening, large agent, ms"),
    *_both("search large", "`search_messages`, large agent", 40),
    *_both("tool large", "`conversation_search`, large agent", 40),
    *_both("time large", "a question that names a time, large agent", 40),
    *_both("only time large", "a question that names nothing else, large agent", 40),
    *_both("words large", "by words only, large agent", 40),
    *_both("inside", "within one conversation of the large agent", 40),
    *_both("search small", "`search_messages`, small agent", 40),
    *_both("tool small", "`conversation_search`, small agent", 40),
    *_both("time small", "a question that names a time, small agent", 40),
    *_both("only time small", "a question that names nothing else, small agent", 40),
    *_both("words small", "by words only, small agent", 40),
)
BUNDLES = (
    *_both("bundle large", "`context_for`, large agent", 60),
    *_both("file large", "… with `file=`", 60),
    *_both("bundle small", "`context_for`, small agent", 60),
    *_both("file small", "… with `file=`", 60),
    *_both("turn", "append a message, then the bundle, embedded by the real model"),
)
OPERATIONS = (
    *_both("edit", "edit a block", 50),
    *_both("create", "create an agent", 50),
    FigureRow("compact", "compact a conversation of 2,000 messages, ms"),
    *_both("delete", "delete an agent with 5,000 messages"),
)
MEMORY = (
    FigureRow("process MB", "a process that made one bundle, the model loaded, MB"),
    FigureRow("idle MB", "each agent at rest asked once, MB", 50),
    FigureRow("active MB", "each agent with 5,000 messages asked once, MB", 50),
    FigureRow("large MB", "the agent with 50,000 messages asked once, MB", 50),
)
SIZES = (
    FigureRow("bytes text", "the text alone, MB for 1,000 messages"),
    FigureRow("bytes words", "the file without vectors, MB for 1,000 messages"),
    FigureRow("bytes all", "the file with vectors, MB for 1,000 messages"),
    FigureRow("idle KB in file", "an agent at rest with its blocks, KB"),
)
PARTS: Mapping[str, Sequence[FigureRow]] = {
    "Writing": WRITING,
    "Searching": SEARCHING,
    "The bundle": BUNDLES,
    "Other operations": OPERATIONS,
    "Memory": MEMORY,
    "Size": SIZES,
}


def render(rounds: Sequence[Mapping[str, Figures]], notes: Sequence[str]) -> str:
    """Return the whole report: the median of the rounds, the least and the most in brackets."""
    systems = {name: [round[name] for round in rounds] for name in rounds[0]}
    parts = ["# Recall", "", *notes, ""]
    for title, rows in PARTS.items():
        parts += [f"## {title}", "", *_table(rows, systems), ""]
    return "\n".join(parts).rstrip() + "\n"


def _table(rows: Sequence[FigureRow], systems: Mapping[str, Sequence[Figures]]) -> list[str]:
    baselines = [
        name
        for name, figures in systems.items()
        if name != OWN and any(row.figure in figures[0] for row in rows)
    ]
    header = ["", "target", "recollect", *baselines, *(f"recollect : {name}" for name in baselines)]
    lines = []
    for row in rows:
        own = _values(systems[OWN], row.figure)
        if not own:
            continue
        others = {name: _values(systems[name], row.figure) for name in baselines}
        lines.append(
            [
                row.title,
                "" if row.target is None else f"≤ {row.target:g}",
                _cell(own),
                *(_cell(values) for values in others.values()),
                *(_ratio(own, values, row.more_is_better) for values in others.values()),
            ]
        )
    return table(header, lines)


def _values(rounds: Sequence[Figures], figure: str) -> list[float]:
    return [round[figure] for round in rounds if figure in round]


def _cell(values: Sequence[float]) -> str:
    if not values:
        return ""
    text = _number(median(values))
    if len(values) == 1:
        return text
    return f"{text} ({_number(min(values))}–{_number(max(values))})"


def _ratio(own: Sequence[float], other: Sequence[float], more_is_better: bool) -> str:
    """Return how many times better ours is; below 1 it is worse."""
    if not other:
        return ""
    ratio = median(own) / median(other) if more_is_better else median(other) / median(own)
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def _number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
