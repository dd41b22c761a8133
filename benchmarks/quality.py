"""
How well Recollect finds: `python -m benchmarks.quality`.

Reads the tasks, puts them to Recollect with embeddings, by words only, or both, scores the answers
and prints a table beside the floor. Answers come from answers.py, scores from metrics.py, the
table from quality_table.py; this file is the run and what it saves.
"""

import argparse
import json
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import recollect
from benchmarks.answers import Answer, Answers, answer
from benchmarks.cached import CachedEmbedder
from benchmarks.metrics import STALE, in_per_cent, percentile, scores, stale_above
from benchmarks.quality_table import Result, render
from benchmarks.tasks import (
    Task,
    TasksMissing,
    default_folder,
    read_task,
    task_names,
    thinned,
)
from recollect.config import load_settings
from recollect.models.choose import choose_embedder

RESULTS = Path(__file__).resolve().parent / "results"
CACHE = RESULTS / "embeddings.cache"
WHOLE = RESULTS / "quality.json"
PART = RESULTS / "quality-part.json"  # so that trying one task leaves the kept summary alone


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The result of a task, and each of its questions with its scores."""

    result: Result
    questions: tuple[dict[str, Any], ...]


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    legs = ["words"] if given.words_only else ["both", "words"] if given.legs else ["both"]
    out = given.out or (PART if given.only or given.limit_queries else WHOLE)
    try:
        names = given.only.split(",") if given.only else task_names(given.tasks)
        tasks = (read_task(given.tasks, name) for name in names)
        measured: list[Measured] = []
        for task in tasks:
            asked = thinned(task, given.limit_queries) if given.limit_queries else task
            for leg in legs:
                measured.append(_measure(asked, leg))
                _save(measured, out)  # as it goes: an interrupted run keeps what it has
    except TasksMissing as missing:
        print(f"quality: {missing}", file=sys.stderr)
        return 2
    print(render([one.result for one in measured]))
    print(f"Saved as {out.name} and {out.with_suffix('.md').name}.", file=sys.stderr)
    return 0


def _measure(task: Task, leg: str) -> Measured:
    _say(f"{task.name} ({leg}): {len(task.items)} items, {len(task.queries)} questions …")
    if leg == "words":
        return _scored(task, leg, answer(task, embedder=None), known=0)
    embedder = CachedEmbedder(choose_embedder(load_settings()), CACHE)
    try:
        answers = answer(task, embedder=embedder)
    finally:
        embedder.close()
    return _scored(task, leg, answers, known=embedder.known)


def _scored(task: Task, leg: str, answers: Answers, *, known: int) -> Measured:
    each = [_scores(one) for one in answers.answers]
    categories = sorted({one.query.category for one in answers.answers})
    by_category = {
        category: [
            found
            for one, found in zip(answers.answers, each, strict=True)
            if one.query.category == category
        ]
        for category in categories
    }
    times = [one.search_ms for one in answers.answers]
    result = Result(
        task=task.name,
        leg=leg,
        questions=len(each),
        reached=in_per_cent(each),
        by_category={name: (len(found), in_per_cent(found)) for name, found in by_category.items()},
        search_p50_ms=percentile(times, 50),
        search_p95_ms=percentile(times, 95),
        stored=answers.stored,
        cut=answers.cut,
        ingest_per_s=answers.stored / answers.ingest_s,
        embed_s=answers.embed_s,
        known_texts=known,
    )
    _say(
        f"  R@5 {result.reached['R@5']:.1f}, search p50 {result.search_p50_ms:.1f} ms, "
        f"{result.ingest_per_s:.0f} items/s stored, {result.embed_s:.0f} s embedding"
    )
    rows = zip(answers.answers, each, strict=True)
    return Measured(result=result, questions=tuple(_row(one, found) for one, found in rows))


def _scores(one: Answer) -> dict[str, float]:
    found = scores(one.ranked, one.query.gold)
    stale = stale_above(one.ranked, one.query.gold, one.query.stale)
    return found if stale is None else found | {STALE: stale}


def _row(one: Answer, found: dict[str, float]) -> dict[str, Any]:
    return {
        "id": one.query.id,
        "category": one.query.category,
        "text": one.query.text,
        "gold": sorted(one.query.gold),
        "stale": sorted(one.query.stale),
        "ranked": one.ranked,
        "search_ms": round(one.search_ms, 3),
        "scores": {name: round(value, 6) for name, value in found.items()},
    }


def _save(measured: list[Measured], out: Path) -> None:
    whole = {
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "recollect": recollect.__version__,
        "python": platform.python_version(),
        "results": [vars(one.result) | {"each": one.questions} for one in measured],
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    table = render([one.result for one in measured])
    out.with_suffix(".md").write_text(table, encoding="utf-8")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--only", default="", help="names of tasks, with commas between")
    parser.add_argument("--words-only", action="store_true", help="without embeddings")
    parser.add_argument("--legs", action="store_true", help="with embeddings, then without")
    parser.add_argument("--limit-queries", type=int, default=0, help="so many a task at most")
    parser.add_argument("--out", type=Path, help="the JSON file; the table goes beside it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
