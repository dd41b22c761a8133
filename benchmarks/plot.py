"""
Draw quality against latency: `python -m benchmarks.plot POINTS.json --out picture.svg`.

    {"title": "Quality and latency", "quality": "nDCG@10", "points": [{"system": "Recollect",
      "task": "locomo-turn", "quality": 51.8, "p50_ms": 12.8, "ours": true}]}

A panel for each task, milliseconds on a logarithmic axis: what is better stands higher and further
to the left. The SVG has no background, its colours follow the light or dark setting of the reader,
and where that is not known they are readable on both. Knows points, not how they were measured.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any

WIDTH, HEIGHT = 400, 300  # of a panel, with its axes
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 34, 44
COLUMNS = 2
HEAD = 44
LINE = 14  # from one label to the next
LETTER = 7.2  # the width of a letter, about: for where a label ends

STYLE = """\
svg { font-family: system-ui, sans-serif; font-size: 12px }
text { fill: #6e7681 } .title { font-size: 15px } .panel { font-size: 13px; font-weight: 600 }
.grid { stroke: #8c959f; stroke-opacity: .3 } .lead { stroke: #8c959f; stroke-opacity: .7 }
.other { fill: #9068dd } .ours { fill: #cf5b1c } text.ours { font-weight: 600 }
@media (prefers-color-scheme: dark) {
  text { fill: #9da7b3 } .other { fill: #a687e8 } .ours { fill: #f0883e } }
@media (prefers-color-scheme: light) {
  text { fill: #57606a } .other { fill: #6639ba } .ours { fill: #bc4c00 } }
"""


class NotPoints(Exception):
    """The file does not hold points as this module's head shows them."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one system reached on one task."""

    system: str
    task: str
    quality: float
    p50_ms: float
    ours: bool = False


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers and the stretch of the picture it is drawn on."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return where *value* stands."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def draw(points: Sequence[Point], *, title: str = "", quality: str = "quality") -> str:
    """Return the picture of *points* as SVG."""
    if not points:
        raise NotPoints("there are no points to draw")
    tasks = list(dict.fromkeys(point.task for point in points))
    columns = min(COLUMNS, len(tasks))
    width, height = columns * WIDTH, HEAD + ceil(len(tasks) / columns) * HEIGHT
    panels = []
    for place, task in enumerate(tasks):
        x, y = place % columns * WIDTH, HEAD + place // columns * HEIGHT
        own = [point for point in points if point.task == task]
        panels += [f'<g transform="translate({x} {y})">', *_panel(task, own, quality), "</g>"]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'width="{width}" height="{height}" aria-label="{escape(title or quality)}">',
        f"<style>{STYLE}</style>",
        f'<text class="title" x="{LEFT}" y="26">{escape(title)}</text>',
        *panels,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _panel(task: str, points: Sequence[Point], quality: str) -> Iterator[str]:
    across = _log_axis([point.p50_ms for point in points])
    up = _axis([point.quality for point in points])
    yield f'<text class="panel" x="{LEFT}" y="20">{escape(task)}</text>'
    for value in _log_steps(across):
        x = across.place(log10(value))
        yield f'<path class="grid" d="M{x:.1f} {up.start}V{up.end}"/>'
        yield _text(x, up.start + 16, f"{value:g}", anchor="middle")
    for value in _steps(up):
        y = up.place(value)
        yield f'<path class="grid" d="M{across.start} {y:.1f}H{across.end}"/>'
        yield _text(LEFT - 6, y + 4, f"{value:g}", anchor="end")
    yield _text(across.end, up.start + 34, "ms a search, p50 (log)", anchor="end")
    yield _text(across.start, up.start + 34, f"{quality} ↑, faster ←")
    yield from _marks(points, across, up)


def _marks(points: Sequence[Point], across: Axis, up: Axis) -> Iterator[str]:
    boxes: list[tuple[float, float, float]] = []
    for point in sorted(points, key=lambda point: -point.quality):
        x, y = across.place(log10(point.p50_ms)), up.place(point.quality)
        kind = "ours" if point.ours else "other"
        title = escape(f"{point.system}: {point.quality:g}, {point.p50_ms:g} ms")
        long = len(point.system) * LETTER
        right = x + 9 + long <= WIDTH - RIGHT / 2  # else the label stands to the left of its mark
        start = x + 9 if right else x - 9 - long
        at = _free(y + 4, start, start + long, boxes, lowest=up.start)
        boxes.append((at, start, start + long))
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{6 if point.ours else 5}">'
        yield f"<title>{title}</title></circle>"
        if abs(at - 4 - y) > 1:
            end = start - 2 if right else start + long + 2
            yield f'<path class="lead" d="M{x:.1f} {y:.1f}L{end:.1f} {at - 4:.1f}"/>'
        anchor, where = ("start", start) if right else ("end", start + long)
        yield _text(where, at, point.system, anchor=anchor, kind="ours" if point.ours else "")


def _free(
    y: float,
    start: float,
    end: float,
    boxes: Sequence[tuple[float, float, float]],
    *,
    lowest: float,
) -> float:
    """Return the height nearest to *y* at which a label covers no other."""

    def is_free(at: float) -> bool:
        return all(abs(at - y2) >= LINE or end < s2 or start > e2 for y2, s2, e2 in boxes)

    tries = (y + side * step * 2 for step in range(len(boxes) * LINE + 1) for side in (1, -1))
    return next((at for at in tries if TOP <= at <= lowest and is_free(at)), y)


def _log_axis(values: Sequence[float]) -> Axis:
    # A little room on both sides, so that no mark stands on the edge.
    low, high = log10(min(values)) - 0.15, log10(max(values)) + 0.25
    return Axis(low, max(high, low + 1), LEFT, WIDTH - RIGHT)


def _axis(values: Sequence[float]) -> Axis:
    room = max((max(values) - min(values)) * 0.15, 3.0)
    return Axis(min(values) - room, max(values) + room, HEIGHT - BOTTOM, TOP)


def _steps(axis: Axis) -> list[float]:
    """Return four to ten round numbers along an axis."""
    rough = (axis.high - axis.low) / 5
    size = 10 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = ceil(axis.low / step)
    return [step * n for n in range(first, floor(axis.high / step) + 1)]


def _log_steps(axis: Axis) -> list[float]:
    """Return 1, 2 and 5 of each power of ten along an axis; the powers alone on a long one."""
    factors = (1, 2, 5) if axis.high - axis.low < 2.5 else (1,)
    powers = range(floor(axis.low), ceil(axis.high) + 1)
    values = (factor * 10.0**power for power in powers for factor in factors)
    return [value for value in values if axis.low <= log10(value) <= axis.high]


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def read_points(file: Path) -> tuple[list[Point], dict[str, str]]:
    """Return the points in *file*, and its title and name of quality where it has them."""
    try:
        whole = json.loads(file.read_text(encoding="utf-8"))
        points = [_point(row) for row in whole["points"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotPoints(f"{file} holds no points as benchmarks.plot reads them: {error}") from error
    return points, {name: str(whole[name]) for name in ("title", "quality") if name in whole}


def _point(row: Mapping[str, Any]) -> Point:
    point = Point(**row)
    if not point.p50_ms > 0 or not isfinite(point.p50_ms) or not isfinite(point.quality):
        raise ValueError(f"{point.system} on {point.task} has no time above 0, or no quality")
    return point


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plot", description=__doc__)
    parser.add_argument("points", type=Path, help="the JSON file of points")
    parser.add_argument("--out", type=Path, required=True, help="the SVG file")
    options = parser.parse_args(arguments)
    try:
        points, names = read_points(options.points)
        picture = draw(points, **names)
    except NotPoints as error:
        print(f"plot: {error}", file=sys.stderr)
        return 2
    options.out.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
