"""
Measure search quality: `python -m benchmarks.quality`.

Reads the tasks, searches them under each configuration and prints a table beside the baseline.
task_answers.py asks, quality_scores.py scores, quality_table.py renders; this file runs and saves.
"""

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import recollect
from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.constant_overrides import NotAConstant, Override, apply_overrides, parse_override
from benchmarks.message_adapter import has_sessions
from benchmarks.quality_scores import RunConditions, ScoredTask, score_task
from benchmarks.quality_table import render, title_of
from benchmarks.task_answers import BOTH, WORDS, Configuration, answer_task
from benchmarks.task_halves import ALL, HALVES, questions_of_half, split_task
from benchmarks.tasks import (
    Task,
    TasksMissing,
    default_folder,
    limit_queries,
    read_task,
    task_names,
)
from recollect.config import load_settings
from recollect.errors import InvalidInput
from recollect.models.model_factory import create_embedder

RESULTS = Path(__file__).resolve().parent / "results"
CACHE = RESULTS / "embeddings.cache"
WHOLE = RESULTS / "quality.json"
PART = RESULTS / "quality-part.json"  # so that trying one thing leaves the kept summary alone


@dataclass(frozen=True, kw_only=True)
class QualityRun:
    """What is measured, whatever the task."""

    configurations: tuple[Configuration, ...]
    half: str
    messages: bool
    model: Path | None
    limit: int


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    done: list[ScoredTask] = []
    try:
        run = _run(options)
        out = options.out or (WHOLE if _is_whole(options) else PART)
        names = options.only.split(",") if options.only else task_names(options.tasks)
        for name in names:
            done += _measure(read_task(options.tasks, name), run)
            if done:
                _save(done, out)  # as it goes: an interrupted run keeps what it has
    except (TasksMissing, NotAConstant, InvalidInput) as error:
        print(f"quality: {error}", file=sys.stderr)
        return 2
    if not done:
        print("quality: there is nothing to measure", file=sys.stderr)
        return 2
    print(render([scored.result for scored in done]))
    _print_progress(f"Saved as {out} and {out.with_suffix('.md').name}.")
    return 0


def _run(options: argparse.Namespace) -> QualityRun:
    indexes = [WORDS] if options.words_only else [BOTH, WORDS] if options.also_words else [BOTH]
    overrides = tuple(parse_override(written) for written in options.set)
    ways: list[tuple[Override, ...]] = [(), overrides] if options.beside else [overrides]
    return QualityRun(
        configurations=tuple(
            Configuration(indexes=name, overrides=way) for way in ways for name in indexes
        ),
        half=options.half,
        messages=options.messages,
        model=options.model,
        limit=options.limit_queries,
    )


def _is_whole(options: argparse.Namespace) -> bool:
    narrowed = options.only or options.limit_queries or options.half != ALL or options.messages
    return not (narrowed or options.set or options.model or options.tasks != default_folder())


def _measure(task: Task, run: QualityRun) -> list[ScoredTask]:
    if run.messages and not has_sessions(task):
        _print_progress(f"{task.name}: left out, its items are no turns of sessions")
        return []
    halves = split_task(task)
    part = questions_of_half(task, run.half, halves=halves)
    part = limit_queries(part, run.limit) if run.limit else part
    _print_progress(f"{task.name}: {len(part.queries)} questions, halves split by {halves.by} …")
    done = []
    for same_store in _by_store(run.configurations):
        embedder = (
            _embedder(run)
            if any(configuration.indexes == BOTH for configuration in same_store)
            else None
        )
        try:
            with apply_overrides([o for o in same_store[0].overrides if o.changes_the_store]):
                got = answer_task(part, same_store, embedder=embedder, messages=run.messages)
        finally:
            if embedder is not None:
                embedder.close()
        asking = RunConditions(
            model=embedder.name if embedder else "none",
            messages=run.messages,
            half=run.half,
            halves=halves,
            cached_texts=embedder.cached_count if embedder else 0,
        )
        for configuration, answers in zip(same_store, got, strict=True):
            done.append(score_task(task, configuration, answers, asking))
            _print_result(done[-1])
    return done


def _by_store(configurations: Sequence[Configuration]) -> Iterator[tuple[Configuration, ...]]:
    """Yield the configurations that one stored memory serves, together."""
    groups: dict[tuple[str, ...], list[Configuration]] = {}
    for configuration in configurations:
        changes = tuple(repr(o) for o in configuration.overrides if o.changes_the_store)
        groups.setdefault(changes, []).append(configuration)
    yield from map(tuple, groups.values())


def _embedder(run: QualityRun) -> CachedEmbedder:
    if run.model is None:
        return CachedEmbedder(create_embedder(load_settings()), CACHE)
    settings = load_settings(embedding_backend="folder", embedding_model=str(run.model))
    return CachedEmbedder(create_embedder(settings), CACHE)


def _save(done: Sequence[ScoredTask], out: Path) -> None:
    whole = {
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "recollect": recollect.__version__,
        "python": platform.python_version(),
        "results": [vars(scored.result) | {"each": scored.questions} for scored in done],
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
    table = render([scored.result for scored in done])
    out.with_suffix(".md").write_text(table, encoding="utf-8")


def _print_result(scored: ScoredTask) -> None:
    result = scored.result
    _print_progress(
        f"  {title_of(result)}: R@5 {result.scores['R@5']:.1f}, "
        f"search p50 {result.search_p50_ms:.1f} ms, {result.ingest_per_s:.0f} items/s stored, "
        f"{result.embed_s:.0f} s embedding"
    )


def _print_progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--only", default="", help="names of tasks, with commas between")
    parser.add_argument("--half", choices=(*HALVES, ALL), default=ALL, help="which questions")
    parser.add_argument("--words-only", action="store_true", help="without embeddings")
    parser.add_argument(
        "--also-words", "--legs", action="store_true", help="run again with the word index only"
    )
    parser.add_argument("--model", type=Path, help="folder of another embedder, with its manifest")
    parser.add_argument("--messages", action="store_true", help="tell items as conversations")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a constant, repeatable"
    )
    parser.add_argument("--beside", action="store_true", help="first once more without --set")
    parser.add_argument("--limit-queries", type=int, default=0, help="so many a task at most")
    parser.add_argument("--out", type=Path, help="the JSON file; the table goes beside it")
    return parser


if __name__ == "__main__":
    sys.exit(main())
