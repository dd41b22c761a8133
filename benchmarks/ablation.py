"""
What each part of the pipeline is worth: `python -m benchmarks.ablation`.

Every task is stored once and asked under every configuration: as it ships, with one part taken out
at a time, and with each leg alone. Prints a table of differences in points against what ships, and
writes it to `results/ablation.md` with `--write`; times are taken as they come, so run it on a
quiet machine.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.answers import BOTH, WORDS, Answers, Configuration, answer
from benchmarks.cached import CachedEmbedder
from benchmarks.halves import CHOOSE, CONFIRM, split
from benchmarks.markdown import table
from benchmarks.metrics import STALE, in_per_cent, percentile, scores, stale_above
from benchmarks.overrides import Override
from benchmarks.quality import CACHE, RESULTS
from benchmarks.tasks import Task, TasksMissing, default_folder, read_task, thinned
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder

FUSE, MESSAGES = "recollect.retrieval.score_fusion", "recollect.retrieval.message_search"
SHIPPED = "as it ships"
# Only words and bar are stored or decided elsewhere; what is set here is read at every question.
PARTS: dict[str, Configuration] = {
    SHIPPED: Configuration(leg=BOTH),
    "words alone": Configuration(leg=WORDS),
    "meaning alone": Configuration(
        leg=BOTH,
        overrides=(
            Override(f"{FUSE}.WORD_WEIGHT", 0.0),
            Override(f"{FUSE}.PRECEDING_WEIGHT", 0.0),
            Override(f"{FUSE}.NEIGHBOUR_BONUS", 0.0),
            Override(f"{MESSAGES}.SPEAKER_BONUS", 0.0),
            Override("recollect.retrieval.prefer_newer.TOP", 0),
            Override("recollect.retrieval.threshold.MIN_SCORE", -9.0),
        ),
    ),
    "− trust in words by how far the best stands out": Configuration(
        leg=BOTH, overrides=(Override(f"{FUSE}.MIN_WORD_TRUST", 1.0),)
    ),
    "− words of long items count for less": Configuration(
        leg=BOTH, overrides=(Override(f"{FUSE}.LENGTH_POWER", 0.0),)
    ),
    "− a steeper share of the best match": Configuration(
        leg=BOTH, overrides=(Override(f"{FUSE}.WORD_SHARE_POWER", 1.0),)
    ),
    "− what was said before": Configuration(leg=BOTH, overrides=(Override(f"{FUSE}.PRECEDING_WEIGHT", 0.0),)),
    "− what stands beside the best": Configuration(
        leg=BOTH, overrides=(Override(f"{FUSE}.NEIGHBOUR_BONUS", 0.0),)
    ),
    "− whose words are asked for": Configuration(
        leg=BOTH, overrides=(Override(f"{MESSAGES}.SPEAKER_BONUS", 0.0),)
    ),
    "− sides of a transcript weigh the same": Configuration(
        leg=BOTH, overrides=(Override("recollect.store.sqlite.word_index.ASSISTANT_WEIGHT", 1.0),)
    ),
    "− penalty for pieces": Configuration(
        leg=BOTH, overrides=(Override(f"{FUSE}.CHUNK_PENALTY", 0.0),)
    ),
    "− rivals newest first": Configuration(
        leg=BOTH, overrides=(Override("recollect.retrieval.prefer_newer.TOP", 0),)
    ),
    "− times in the question": Configuration(
        leg=BOTH,
        overrides=(
            Override("recollect.retrieval.time_query.TIME_BOOST", 0.0),
            Override("recollect.retrieval.time_query.SESSION_BOOST", 0.0),
        ),
    ),
    "− the bar": Configuration(
        leg=BOTH, overrides=(Override("recollect.retrieval.threshold.MIN_SCORE", -9.0),)
    ),
}


@dataclass(frozen=True)
class Column:
    """A task, how it is told, and the metric that counts on it."""

    task: str
    metric: str
    messages: bool = False


COLUMNS = (
    Column("locomo-turn", "R@5", messages=True),
    Column("locomo-turn", "nDCG@10", messages=True),
    Column("locomo-session", "all@5"),
    Column("lme-h50-turn", "R@5", messages=True),
    Column("lme-pool-session", "R@5"),
    Column("beam-100K", "R@5", messages=True),
    Column("realmem-memory", "R@10"),
    Column("cosqa-dev", "R@5"),
    Column("letta-update", STALE),
    Column("factcons-6k", STALE),
)


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        wanted = set(given.only.split(",")) if given.only else {one.task for one in COLUMNS}
        columns = [one for one in COLUMNS if one.task in wanted]
        reached: dict[tuple[str, bool], list[dict[str, dict[str, float]]]] = {}
        for name, messages in dict.fromkeys((one.task, one.messages) for one in columns):
            task = read_task(given.tasks, name)
            asked = thinned(task, given.limit_queries) if given.limit_queries else task
            reached[name, messages] = _reached(asked, messages=messages)
    except TasksMissing as missing:
        print(f"ablation: {missing}", file=sys.stderr)
        return 2
    text = _rendered(columns, reached)
    print(text)
    if given.write:
        (RESULTS / "ablation.md").write_text(text, encoding="utf-8")
    return 0


def _reached(task: Task, *, messages: bool) -> list[dict[str, dict[str, float]]]:
    """Return, for each configuration, the metrics of both halves and of all, and the times."""
    print(f"{task.name}: {len(task.queries)} questions …", file=sys.stderr, flush=True)
    embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    try:
        found = answer(task, list(PARTS.values()), embedder=embedder, messages=messages)
    finally:
        embedder.close()
    return [_metrics(task, answers) for answers in found]


def _metrics(task: Task, answers: Answers) -> dict[str, dict[str, float]]:
    half_of = split(task).half_of
    each: dict[str, list[dict[str, float]]] = {"all": [], CHOOSE: [], CONFIRM: []}
    for one in answers.answers:
        row = scores(one.ranked, one.query.gold)
        stale = stale_above(one.ranked, one.query.gold, one.query.stale)
        row |= {} if stale is None else {STALE: stale}
        each["all"].append(row)
        each[half_of[one.query.id]].append(row)
    told = {name: in_per_cent(rows) for name, rows in each.items() if rows}
    told["all"]["p50 ms"] = percentile([one.search_ms for one in answers.answers], 50)
    return told


def _rendered(
    columns: list[Column], reached: dict[tuple[str, bool], list[dict[str, dict[str, float]]]]
) -> str:
    head = ["", *(f"{one.task} {one.metric}" for one in columns), "p50 ms"]
    rows = []
    for place, name in enumerate(PARTS):
        cells = [_cell(reached[one.task, one.messages], place, one) for one in columns]
        times = [each[place]["all"]["p50 ms"] for each in reached.values()]
        rows.append([name, *cells, f"{sum(times) / len(times):.1f}"])
    return (
        "# What each part is worth\n\n"
        "First what ships, with its two halves (choose / confirm) in brackets; then each\n"
        "configuration's difference to it, in points over all questions. Stale above: less is "
        "better.\nTurns are told as messages, everything else as memories. Times are the mean of "
        "the tasks' medians.\n\n" + "\n".join(table(head, rows)) + "\n"
    )


def _cell(reached: list[dict[str, dict[str, float]]], place: int, column: Column) -> str:
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
