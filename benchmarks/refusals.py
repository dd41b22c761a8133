"""
Check that unrelated questions return nothing: `python -m benchmarks.refusals`.

Asks the questions of unrelated_questions.py with and without the relevance threshold: how many
unrelated ones return nothing, by kind, and how many points of R@5 the threshold costs the
answerable ones. Chats are stored as messages, facts and documents as memories. `--write` saves the
table.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cached_embedder import CachedEmbedder
from benchmarks.constant_overrides import Override
from benchmarks.markdown_table import table
from benchmarks.metrics import recall
from benchmarks.quality import CACHE, RESULTS
from benchmarks.task_answers import BOTH, Answer, Configuration, answer_task
from benchmarks.tasks import TasksMissing, default_folder
from benchmarks.unrelated_questions import kind_of, unrelated_tasks
from recollect.config import load_settings
from recollect.models.model_factory import create_embedder

SHOWN = 5
KINDS = ("small talk", "other task", "other scope")
CHATS = ("locomo-turn", "beam-100K")
BESIDE = ("lme-pool-session",)  # listed separately: the pool may answer anything
UTTERANCES = "realmem-memory"  # long texts that may ask something in passing
WITHOUT = Configuration(
    indexes=BOTH, overrides=(Override("recollect.retrieval.ranking_constants.MIN_SCORE", -9.0),)
)

NOTES = (
    "Unrelated questions that return nothing, in per cent, and the points of R@5 that the",
    "threshold costs the answerable ones. Small talk was written by hand; *other task* asks a chat",
    "about a scientific claim or a line of code; *other scope* asks one person's questions in",
    "another person's memory. The questions of RealMem are utterances of forty words, for "
    "which the",
    "threshold is low: *questions* leaves them out of *other scope*. The pool of 940 sessions is",
    "listed separately, since it contains answers to some of the questions.",
)

BOTH_HALVES = "both"
Row = tuple[str, Answer, Answer]  # the half, the answer with the threshold, and without


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    rows: dict[str, list[Row]] = defaultdict(list)
    embedder = CachedEmbedder(create_embedder(load_settings()), CACHE)
    try:
        for task in unrelated_tasks(options.tasks):
            name, _, half = task.name.removeprefix("threshold-").rpartition("-")
            print(f"{name}, {half}: {len(task.queries)} questions …", file=sys.stderr, flush=True)
            configurations = [Configuration(indexes=BOTH), WITHOUT]
            with_threshold, all_of_it = answer_task(
                task, configurations, embedder=embedder, messages=name in CHATS
            )
            pairs = zip(with_threshold.answers, all_of_it.answers, strict=True)
            rows[name] += [(half, barred, free) for barred, free in pairs]
    except TasksMissing as missing:
        print(f"refusals: {missing}", file=sys.stderr)
        return 2
    finally:
        embedder.close()
    text = _render(rows)
    print(text)
    if options.write:
        (RESULTS / "refusals.md").write_text(text, encoding="utf-8")
    return 0


def _render(rows: dict[str, list[Row]]) -> str:
    head = ["task", "half", "unrelated", "return nothing", *KINDS, "answerable", "R@5 lost"]
    together = [row for name, some in rows.items() if name not in BESIDE for row in some]
    foreign_utterances = {
        id(row) for row in rows.get(UTTERANCES, ()) if kind_of(row[1].query) == KINDS[-1]
    }
    questions = [row for row in together if id(row) not in foreign_utterances]
    lines = [
        _line(name, half, [row for row in some if half in (row[0], BOTH_HALVES)])
        for name, some in [
            ("questions", questions),
            ("all but the pool", together),
            *rows.items(),
        ]
        for half in ("choose", "confirm", BOTH_HALVES)
    ]
    return "\n".join(["# Unrelated questions", "", *NOTES, "", *table(head, lines), ""])


def _line(name: str, half: str, rows: Sequence[Row]) -> list[str]:
    unrelated = [
        (kind_of(answer.query), not answer.ranked) for _, answer, _ in rows if not answer.query.gold
    ]
    lost = [
        recall(free.ranked, free.query.gold, SHOWN) - recall(barred.ranked, free.query.gold, SHOWN)
        for _, barred, free in rows
        if free.query.gold
    ]
    by_kind = [
        _share([nothing for kind, nothing in unrelated if kind == wanted_kind])
        for wanted_kind in KINDS
    ]
    return [
        name,
        half,
        str(len(unrelated)),
        _share([nothing for _, nothing in unrelated]),
        *by_kind,
        str(len(lost)),
        f"{100 * sum(lost) / max(len(lost), 1):.2f}",
    ]


def _share(values: Sequence[bool]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.refusals", description=__doc__)
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    return parser


if __name__ == "__main__":
    sys.exit(main())
