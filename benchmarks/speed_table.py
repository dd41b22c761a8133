"""Render the results of `benchmarks.speed` as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# measurement: how it is called, and whether more is better
ROWS: Mapping[str, tuple[str, bool]] = {
    "stored/s": ("stored in batches of 100, items/s", True),
    "stored and settled/s": ("the same until indexed by meaning, items/s", True),
    "write p50": ("one acknowledged write, p50 ms", False),
    "write p95": ("… p95 ms", False),
    "write p99": ("… p99 ms", False),
    "first question p50": ("first question in a project, p50 ms", False),
    "first question p95": ("… p95 ms", False),
    "search p50": ("search, p50 ms", False),
    "search p95": ("… p95 ms", False),
    "search everywhere p50": ("search over all projects, p50 ms", False),
    "search everywhere p95": ("… p95 ms", False),
    "context p50": ("`context_for`, p50 ms", False),
    "context p95": ("… p95 ms", False),
    "size MB": ("size on disk, MB", False),
    "size after MB": ("… after the questions, MB", False),
    "open": ("fresh process: open, imports included, ms", False),
    "first answer": ("fresh process: first answer, model loaded, ms", False),
    "resident MB": ("fresh process: memory after 50 questions, MB", False),
}
# Like is compared with like: meaning with meaning, words with words.
PAIRS = (("recollect", "chromadb"), ("recollect-words", "fts5"))

Values = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class SpeedResult:
    """What each system came to at one size, and why a system is missing."""

    size: int
    systems: Mapping[str, Values]
    missing: Mapping[str, str]


def render(sizes: Sequence[SpeedResult], *, import_ms: float, notes: Sequence[str]) -> str:
    """Return the whole report: a table for each size."""
    parts = ["# Speed", "", *notes, f"- `import recollect`: {import_ms:.1f} ms.", ""]
    for size in sizes:
        parts += [f"## {size.size:,} memories", "", *_table(size), ""]
        parts += [f"- {name}: left out, {why}." for name, why in size.missing.items()]
        parts += [""] if size.missing else []
    return "\n".join(parts).rstrip() + "\n"


def _table(result: SpeedResult) -> list[str]:
    pairs = [pair for pair in PAIRS if set(pair) <= result.systems.keys()]
    header = ["", *result.systems, *(f"{ours} : {theirs}" for ours, theirs in pairs)]
    lines = [header, ["---", *["---:"] * (len(header) - 1)]]
    for name, (title, more_is_better) in ROWS.items():
        values = [system.get(name) for system in result.systems.values()]
        if all(value is None for value in values):
            continue
        ratios = [
            _ratio(result.systems[ours].get(name), result.systems[theirs].get(name), more_is_better)
            for ours, theirs in pairs
        ]
        lines.append([title, *(_number(value) for value in values), *ratios])
    return [f"| {' | '.join(line)} |" for line in lines]


def _ratio(ours: float | None, theirs: float | None, more_is_better: bool) -> str:
    """Return how many times better ours is; below 1 it is worse."""
    if ours is None or theirs is None or not ours or not theirs:
        return ""
    ratio = ours / theirs if more_is_better else theirs / ours
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
