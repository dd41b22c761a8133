"""
Two kept runs beside each other: `python -m benchmarks.compare A.json B.json`.

For each task and metric: the difference in points, its 95 % interval, how many questions won and
lost, and whether it is more than noise; then the same by category. With one file its
configurations are compared with its first. What noise is, paired.py says.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.markdown import table
from benchmarks.metrics import METRICS, PRECISION, STALE
from benchmarks.paired import Difference, difference

SCORES = (*METRICS, *PRECISION, STALE)
BY_CATEGORY = ("R@5", "R@10", "all@10", "nDCG@10", STALE)
COUNTS = ("returned", "tokens_5")  # of a question, beside its scores; not in per cent
LOWER_IS_BETTER = (STALE, *COUNTS)
APART = ("leg", "model", "told_as", "half", "settings")


class NotComparable(Exception):
    """The runs have no task in common, or not the same questions."""


@dataclass(frozen=True)
class Pair:
    """The questions of one task that both runs asked, in one order."""

    task: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    left_out: int


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if len(given.files) > 2:
        print("compare: name one run or two", file=sys.stderr)
        return 2
    try:
        found = pairs(*(_results(file) for file in given.files))
    except NotComparable as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    print("\n".join(render(found)))
    return 0


def pairs(before: Sequence[Any], after: Sequence[Any] | None = None) -> list[Pair]:
    """Return what can be compared: of two runs each task and leg, of one its configurations."""
    found = []
    for task in dict.fromkeys(one["task"] for one in before):
        first = [one for one in before if one["task"] == task]
        second = first[1:] if after is None else [one for one in after if one["task"] == task]
        found += [_pair(task, _counterpart(first, other), other) for other in second]
    if not found:
        raise NotComparable("there is no task that was measured twice; name two runs of one task")
    return found


def render(found: Sequence[Pair]) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "# Two runs compared"
    for pair in found:
        yield from ("", f"## {pair.task}", "", *_what(pair), "")
        yield from table(_HEADER, list(_rows(pair)))
        categories = list(_category_rows(pair))
        if categories:
            yield from ("", *table(["category", "n", *_HEADER], categories))


_HEADER = ["metric", "A", "B", "difference", "95 % interval", "better/same/worse", "verdict"]


def _pair(task: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Pair:
    rows_of = {row["id"]: row for row in before["each"]}
    rows = [(rows_of[row["id"]], row) for row in after["each"] if row["id"] in rows_of]
    if not rows:
        raise NotComparable(f"the runs of {task} have no question in common: another half?")
    if any(a["gold"] != b["gold"] for a, b in rows):
        raise NotComparable(f"{task} is not the same task in both: its gold differs")
    left_out = len(before["each"]) + len(after["each"]) - 2 * len(rows)
    return Pair(task, before, after, rows, left_out)


def _counterpart(first: Sequence[Mapping[str, Any]], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first result of the same leg, or the first of all."""
    found = next((one for one in first if one["leg"] == other["leg"]), first[0])
    return first[0] if found is other else found


def _what(pair: Pair) -> Iterator[str]:
    for name, one in (("A", pair.before), ("B", pair.after)):
        told = ", ".join(f"{key} {one[key]}" for key in APART if one.get(key))
        yield f"{name}: {told}, p50 {one['search_p50_ms']:.1f} ms.  "
    scopes = len({_scope(a, b) for a, b in pair.rows})
    left = f"; {pair.left_out} that only one run has are left out" if pair.left_out else ""
    yield f"{len(pair.rows)} questions in {scopes} scope(s){left}."


def _rows(pair: Pair) -> Iterator[list[str]]:
    for name in (*SCORES, *COUNTS):
        found = _difference(pair.rows, name)
        if found is not None:
            yield _line(name, found)


def _category_rows(pair: Pair) -> Iterator[list[str]]:
    categories = sorted({a["category"] for a, _ in pair.rows})
    if len(categories) < 2:
        return
    for category in categories:
        rows = [one for one in pair.rows if one[0]["category"] == category]
        for name in BY_CATEGORY:
            found = _difference(rows, name)
            if found is not None:
                yield [category, str(found.questions), *_line(name, found)]


def _difference(rows: Sequence[tuple[Any, Any]], name: str) -> Difference | None:
    """Compare one metric over the questions that have it in both; None if none has."""
    scored = [(_value(a, name), _value(b, name), _scope(a, b)) for a, b in rows]
    known = [(a, b, scope) for a, b, scope in scored if a is not None and b is not None]
    if not known:
        return None
    before, after, scopes = zip(*known, strict=True)
    return difference(before, after, scopes)


def _value(row: Mapping[str, Any], name: str) -> float | None:
    found = row.get(name) if name in COUNTS else row["scores"].get(name)
    return None if found is None else float(found)


def _scope(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    return a.get("scope") or b.get("scope") or ""  # older runs do not say


def _line(name: str, found: Difference) -> list[str]:
    unit = 1 if name in COUNTS else 100
    wins, losses = found.wins, found.losses
    if name in LOWER_IS_BETTER:
        wins, losses = losses, wins
    return [
        name,
        f"{unit * found.before:.1f}",
        f"{unit * found.after:.1f}",
        f"{unit * found.mean:+.1f}",
        f"{unit * found.low:+.1f} … {unit * found.high:+.1f}",
        f"{wins}/{found.ties}/{losses}",
        _verdict(name, found),
    ]


def _verdict(name: str, found: Difference) -> str:
    if not found.clear:
        return "same" if found.wins == found.losses == 0 else "noise"
    if name in COUNTS:
        return "fewer" if found.mean < 0 else "more"
    return "**better**" if (found.mean > 0) != (name in LOWER_IS_BETTER) else "**worse**"


def _results(file: Path) -> list[Any]:
    try:
        return list(json.loads(file.read_text(encoding="utf-8"))["results"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotComparable(f"{file} is no kept run of benchmarks.quality: {error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="RUN.json", help="A, then B")
    return parser


if __name__ == "__main__":
    sys.exit(main())
