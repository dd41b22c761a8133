"""
Compare two saved runs: `python -m benchmarks.compare A.json B.json`.

For each task and metric: the difference in points, its 95 % interval, the number of questions that
got better and worse, and whether the difference is more than noise; then the same by category. With
one file, its configurations are compared with its first. paired_bootstrap.py defines noise.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.markdown_table import table
from benchmarks.metrics import METRICS, PRECISION, STALE
from benchmarks.paired_bootstrap import Difference, difference

SCORES = (*METRICS, *PRECISION, STALE)
BY_CATEGORY = ("R@5", "R@10", "all@10", "nDCG@10", STALE)
COUNTS = ("returned", "tokens_5")  # of a question; not in per cent
LOWER_IS_BETTER = (STALE, *COUNTS)
CONDITIONS = ("indexes", "model", "stored_as", "half", "settings")
FORMER_KEYS = {"leg": "indexes", "told_as": "stored_as"}  # of runs saved before the renames


class NotComparable(Exception):
    """The runs have no task in common, or different questions."""


@dataclass(frozen=True)
class RunPair:
    """The questions of one task that both runs asked, in the same order."""

    task: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    left_out: int


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if len(options.files) > 2:
        print("compare: name one run or two", file=sys.stderr)
        return 2
    try:
        run_pairs = pairs(*(_results(file) for file in options.files))
    except NotComparable as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    print("\n".join(render(run_pairs)))
    return 0


def pairs(before: Sequence[Any], after: Sequence[Any] | None = None) -> list[RunPair]:
    """Return the pairs to compare: equal tasks of two runs, or the configurations of one run."""
    run_pairs = []
    for task in dict.fromkeys(result["task"] for result in before):
        first = [result for result in before if result["task"] == task]
        second = (
            first[1:] if after is None else [result for result in after if result["task"] == task]
        )
        run_pairs += [_pair(task, _counterpart(first, other), other) for other in second]
    if not run_pairs:
        raise NotComparable("no task was measured twice; name two runs of the same task")
    return run_pairs


def render(run_pairs: Sequence[RunPair]) -> Iterator[str]:
    """Yield the lines of the report."""
    yield "# Two runs compared"
    for pair in run_pairs:
        yield from ("", f"## {pair.task}", "", *_describe_runs(pair), "")
        yield from table(_HEADER, list(_rows(pair)))
        categories = list(_category_rows(pair))
        if categories:
            yield from ("", *table(["category", "n", *_HEADER], categories))


_HEADER = ["metric", "A", "B", "difference", "95 % interval", "better/same/worse", "verdict"]


def _pair(task: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> RunPair:
    rows_of = {row["id"]: row for row in before["each"]}
    rows = [(rows_of[row["id"]], row) for row in after["each"] if row["id"] in rows_of]
    if not rows:
        raise NotComparable(
            f"the runs of {task} have no question in common; do they use the same half?"
        )
    if any(a["gold"] != b["gold"] for a, b in rows):
        raise NotComparable(f"{task} is not the same task in both runs: its gold items differ")
    left_out = len(before["each"]) + len(after["each"]) - 2 * len(rows)
    return RunPair(task, before, after, rows, left_out)


def _counterpart(first: Sequence[Mapping[str, Any]], other: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first result with the same indexes as *other*, or else the first one."""
    same = next((result for result in first if result["indexes"] == other["indexes"]), first[0])
    return first[0] if same is other else same


def _describe_runs(pair: RunPair) -> Iterator[str]:
    for name, result in (("A", pair.before), ("B", pair.after)):
        conditions = ", ".join(f"{key} {result[key]}" for key in CONDITIONS if result.get(key))
        yield f"{name}: {conditions}, p50 {result['search_p50_ms']:.1f} ms.  "
    scopes = len({_scope(a, b) for a, b in pair.rows})
    left = f"; {pair.left_out} that only one run has are left out" if pair.left_out else ""
    yield f"{len(pair.rows)} questions in {scopes} scope(s){left}."


def _rows(pair: RunPair) -> Iterator[list[str]]:
    for name in (*SCORES, *COUNTS):
        change = _difference(pair.rows, name)
        if change is not None:
            yield _line(name, change)


def _category_rows(pair: RunPair) -> Iterator[list[str]]:
    categories = sorted({a["category"] for a, _ in pair.rows})
    if len(categories) < 2:
        return
    for category in categories:
        rows = [row for row in pair.rows if row[0]["category"] == category]
        for name in BY_CATEGORY:
            change = _difference(rows, name)
            if change is not None:
                yield [category, str(change.questions), *_line(name, change)]


def _difference(rows: Sequence[tuple[Any, Any]], name: str) -> Difference | None:
    """Compare one metric over the questions that have it in both; None if none has."""
    scored = [(_value(a, name), _value(b, name), _scope(a, b)) for a, b in rows]
    complete = [(a, b, scope) for a, b, scope in scored if a is not None and b is not None]
    if not complete:
        return None
    before, after, scopes = zip(*complete, strict=True)
    return difference(before, after, scopes)


def _value(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name) if name in COUNTS else row["scores"].get(name)
    return None if value is None else float(value)


def _scope(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    return a.get("scope") or b.get("scope") or ""  # older runs do not have it


def _line(name: str, change: Difference) -> list[str]:
    unit = 1 if name in COUNTS else 100
    wins, losses = change.wins, change.losses
    if name in LOWER_IS_BETTER:
        wins, losses = losses, wins
    return [
        name,
        f"{unit * change.before:.1f}",
        f"{unit * change.after:.1f}",
        f"{unit * change.mean:+.1f}",
        f"{unit * change.low:+.1f} … {unit * change.high:+.1f}",
        f"{wins}/{change.ties}/{losses}",
        _verdict(name, change),
    ]


def _verdict(name: str, change: Difference) -> str:
    if not change.clear:
        return "same" if change.wins == change.losses == 0 else "noise"
    if name in COUNTS:
        return "fewer" if change.mean < 0 else "more"
    return "**better**" if (change.mean > 0) != (name in LOWER_IS_BETTER) else "**worse**"


def _results(file: Path) -> list[Any]:
    try:
        results = json.loads(file.read_text(encoding="utf-8"))["results"]
        return [{FORMER_KEYS.get(key, key): row[key] for key in row} for row in results]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotComparable(f"{file} is not a saved run of benchmarks.quality: {error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="RUN.json", help="A, then B")
    return parser


if __name__ == "__main__":
    sys.exit(main())
