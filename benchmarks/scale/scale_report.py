"""Render the results of `benchmarks.scale` as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.markdown_table import table
from benchmarks.scale.search_timing import SearchTimes

TARGETS = {10_000: 10.0, 100_000: 15.0, 1_000_000: 40.0}  # p95, ms
WHERE = ("ordinary", "large")
TITLES = {
    "messages": "`search_messages`",
    "memories": "`search`",
    "fts5": "fts5, words alone",
    "chromadb": "chromadb, meaning alone",
}


@dataclass(frozen=True, kw_only=True)
class ScaleResult:
    """What was measured at one size: by system and by where it was asked, and what is missing."""

    size: int
    times: Mapping[tuple[str, str], SearchTimes]
    per_second: Mapping[str, float]
    resident_mb: Mapping[str, float]
    missing: Mapping[str, str]


def render(sizes: Sequence[ScaleResult], notes: Sequence[str]) -> str:
    """Return the whole report: times of every size, then where they go."""
    lines = ["# Scale", "", *notes, ""]
    for size in sizes:
        lines += [f"## {size.size:,} messages", "", *_times(size), ""]
        lines += [f"- {name}: left out, {why}." for name, why in size.missing.items()]
        lines += [f"- {_fill_line(size)}", ""]
        lines += [*_parts(size), ""]
    return "\n".join(lines).rstrip() + "\n"


def _times(result: ScaleResult) -> list[str]:
    target = TARGETS.get(result.size)
    rows = []
    for (kind, where), times in result.times.items():
        own = kind in ("messages", "memories")
        rows.append(
            [
                f"{TITLES[kind]}, {where} project",
                *(f"{value:.1f}" for value in (times.p50, times.p95)),
                f"≤ {target:.0f}" if target and own else "",
                *(f"{value:.1f}" for value in (times.cpu_p50, times.cpu_p95)),
            ]
        )
    header = ["", "p50 ms", "p95 ms", "target", "CPU p50 ms", "CPU p95 ms"]
    return table(header, rows)


def _fill_line(result: ScaleResult) -> str:
    rates = ", ".join(f"{kind} {rate:,.0f}/s" for kind, rate in result.per_second.items())
    resident = ", ".join(f"{kind} {value:.0f} MB" for kind, value in result.resident_mb.items())
    return f"Fill rate: {rates}. Resident memory, with the model: {resident or 'unknown'}."


def _parts(result: ScaleResult) -> list[str]:
    taken_apart = {key: times.parts for key, times in result.times.items() if times.parts}
    if not taken_apart:
        return []
    names = list(next(iter(taken_apart.values())))
    header = ["where the time goes, median ms", *(f"{k}, {where}" for k, where in taken_apart)]
    rows = [
        [name, *(f"{parts.get(name, 0.0):.2f}" for parts in taken_apart.values())] for name in names
    ]
    rows.append(["together", *(f"{sum(parts.values()):.2f}" for parts in taken_apart.values())])
    return table(header, rows)
