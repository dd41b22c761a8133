"""
Measure what each part of the ranking contributes: `python -m benchmarks.ablation`.

Every task is stored once and searched under every configuration: as shipped, with one part removed
at a time, and with each index alone. Prints the differences in points from what ships; `--write`
saves the table in `results/ablation.md`. Run it on an idle machine, since it also reports times.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.constant_overrides import Override
from benchmarks.markdown_table import table
from benchmarks.metrics import STALE, in_per_cent, percentile, scores, stale_above
from benchmarks.quality import CACHE, RESULTS
from benchmarks.task_answers import BOTH, WORDS, Configuration, TaskAnswers, answer_task
from benchmarks.task_halves import CHOOSE, CONFIRM, split_task
from benchmarks.tasks import Task, TasksMissing, default_folder, limit_queries, read_task
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder

CONSTANTS = "recollect.retrieval.ranking_constants"
SHIPPED = "as it ships"
# These constants are read at every query, so one stored task serves all configurations.
PARTS: dict[str, Configuration] = {
    SHIPPED: Configuration(indexes=BOTH),
    "word index only": Configuration(indexes=WORDS),
    "vector index only": Configuration(
        indexes=BOTH,
        overrides=(
            Override(f"{CONSTANTS}.WORD_WEIGHT", 0.0),
            Override(f"{CONSTANTS}.PRECEDING_WEIGHT", 0.0),
            Override(f"{CONSTANTS}.ADJACENT_BONUS", 0.0),
            Override(f"{CONSTANTS}.SPEAKER_BONUS", 0.0),
            Override(f"{CONSTANTS}.CONFLICT_TOP", 0),
            Override(f"{CONSTANTS}.MIN_SCORE", -9.0),
        ),
    ),
    "− word trust by score gap": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.MIN_WORD_TRUST", 1.0),)
    ),
    "− length normalisation of the word score": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.LENGTH_POWER", 0.0),)
    ),
    "− exponent of the word score": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.WORD_SHARE_POWER", 1.0),)
    ),
    "− preceding message": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.PRECEDING_WEIGHT", 0.0),)
    ),
    "− bonus for neighbours of the best": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.ADJACENT_BONUS", 0.0),)
    ),
    "− bonus for the speaker in the query": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.SPEAKER_BONUS", 0.0),)
    ),
    "− lower weight of the assistant's words": Configuration(
        indexes=BOTH,
        overrides=(Override("recollect.store.indexes.word_index.ASSISTANT_WEIGHT", 1.0),),
    ),
    "− penalty for many chunks": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.CHUNK_PENALTY", 0.0),)
    ),
    "− newer of conflicting facts first": Configuration(
        indexes=BOTH, overrides=(Override(f"{CONSTANTS}.CONFLICT_TOP", 0),)
    ),
    "− times in the query": Configuration(
        indexes=BOTH,
        overrides=(
            Override(f"{CONSTANTS}.TIME_BOOST", 0.0),
            Override(f"{CONSTANTS}.SESSION_BOOST", 0.0),
        ),
    ),
    "− relevance threshold": Configuration(
        indexes=BOTH,
        overrides=(Override(f"{CONSTANTS}.MIN_SCORE", -9.0),),
    ),
}


@dataclass(frozen=True)
class MetricColumn:
    """A task, how it is stored, and its metric."""

    task: str
    metric: str
    messages: bool = False


COLUMNS = (
    MetricColumn("locomo-turn", "R@5", messages=True),
    MetricColumn("locomo-turn", "nDCG@10", messages=True),
    MetricColumn("locomo-session", "all@5"),
    MetricColumn("lme-h50-turn", "R@5", messages=True),
    MetricColumn("lme-pool-session", "R@5"),
    MetricColumn("beam-100K", "R@5", messages=True),
    MetricColumn("realmem-memory", "R@10"),
    MetricColumn("cosqa-dev", "R@5"),
    MetricColumn("letta-update", STALE),
    MetricColumn("factcons-6k", STALE),
)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        tasks = (
            set(options.only.split(",")) if options.only else {column.task for column in COLUMNS}
        )
        columns = [column for column in COLUMNS if column.task in tasks]
        reached: dict[tuple[str, bool], list[dict[str, dict[str, float]]]] = {}
        for name, messages in dict.fromkeys((column.task, column.messages) for column in columns):
            task = read_task(options.tasks, name)
            task_part = (
                limit_queries(task, options.limit_queries) if options.limit_queries else task
            )
            reached[name, messages] = _scores_by_configuration(task_part, messages=messages)
    except TasksMissing as missing:
        print(f"ablation: {missing}", file=sys.stderr)
        return 2
    text = _render(columns, reached)
    print(text)
    if options.write:
        (RESULTS / "ablation.md").write_text(text, encoding="utf-8")
    return 0


def _scores_by_configuration(task: Task, *, messages: bool) -> list[dict[str, dict[str, float]]]:
    """Return the metrics of each configuration (both halves, and all) and the search times."""
    print(f"{task.name}: {len(task.queries)} questions …", file=sys.stderr, flush=True)
    embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    try:
        results = answer_task(task, list(PARTS.values()), embedder=embedder, messages=messages)
    finally:
        embedder.close()
    return [_metrics(task, answers) for answers in results]


def _metrics(task: Task, answers: TaskAnswers) -> dict[str, dict[str, float]]:
    half_of = split_task(task).half_of
    each: dict[str, list[dict[str, float]]] = {"all": [], CHOOSE: [], CONFIRM: []}
    for answer in answers.answers:
        row = scores(answer.ranked, answer.query.gold)
        stale = stale_above(answer.ranked, answer.query.gold, answer.query.stale)
        row |= {} if stale is None else {STALE: stale}
        each["all"].append(row)
        each[half_of[answer.query.id]].append(row)
    metrics = {name: in_per_cent(rows) for name, rows in each.items() if rows}
    metrics["all"]["p50 ms"] = percentile([answer.search_ms for answer in answers.answers], 50)
    return metrics


def _render(
    columns: list[MetricColumn], reached: dict[tuple[str, bool], list[dict[str, dict[str, float]]]]
) -> str:
    head = ["", *(f"{column.task} {column.metric}" for column in columns), "p50 ms"]
    rows = []
    for place, name in enumerate(PARTS):
        cells = [_cell(reached[column.task, column.messages], place, column) for column in columns]
        times = [each[place]["all"]["p50 ms"] for each in reached.values()]
        rows.append([name, *cells, f"{sum(times) / len(times):.1f}"])
    return (
        "# What each part contributes\n\n"
        "First the shipped configuration, its two halves (choose / confirm) in brackets; then the\n"
        "difference of each other one, in points over all questions. Stale above: less is better.\n"
        "Turns are stored as messages, everything else as memories. Times are the mean of the "
        "tasks' medians.\n\n" + "\n".join(table(head, rows)) + "\n"
    )


def _cell(reached: list[dict[str, dict[str, float]]], place: int, column: MetricColumn) -> str:
    here, shipped = reached[place], reached[0]
    value = here["all"].get(column.metric)
    if value is None:
        return ""
    if place == 0:
        halves = " / ".join(
            f"{here[half][column.metric]:.1f}" for half in (CHOOSE, CONFIRM) if half in here
        )
        return f"{value:.1f} ({halves})"
    return f"{value - shipped['all'][column.metric]:+.1f}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--only", default="", help="names of tasks, with commas between")
    parser.add_argument("--limit-queries", type=int, default=0, help="so many a task at most")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    return parser


if __name__ == "__main__":
    sys.exit(main())
