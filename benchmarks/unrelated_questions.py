"""
Generate questions that a store cannot answer: `python -m benchmarks.unrelated_questions FOLDER`.

Each scope of a task is asked its own questions, questions of another scope of the same task,
questions of other tasks, and small talk. The last three have no gold, so every result is wrong. A
question about other people may still match something similar, so the kinds are reported separately.
Scopes alternate between the halves to choose and to confirm a threshold; if a task has one scope,
its questions do.

`benchmarks.quality` reads these tasks too, but asks only the questions with gold.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from benchmarks.small_talk import SMALL_TALK
from benchmarks.tasks import Task, TaskQuery, TasksMissing, default_folder, read_task, write_task

SEED = 11
OWN, OTHER_SCOPE, OTHER_TASK, TALK = "own", "other scope", "other task", "small talk"
KINDS = (OWN, OTHER_SCOPE, OTHER_TASK, TALK)


@dataclass(frozen=True)
class QuestionPlan:
    """How many scopes of a task are asked, and how many questions of each kind in every scope."""

    task: str
    scopes: int
    own: int
    other_scope: int
    other_task: int
    talk: int


PLANS = (
    QuestionPlan("locomo-turn", 5, 60, 14, 10, 16),
    QuestionPlan("lme-pool-session", 1, 60, 0, 40, 60),
    QuestionPlan("beam-100K", 8, 18, 6, 6, 10),
    QuestionPlan("realmem-memory", 5, 50, 12, 10, 16),
    QuestionPlan("letta-update", 40, 1, 1, 1, 1),
    QuestionPlan("factcons-6k", 1, 100, 0, 40, 60),
)
FOREIGN = ("locomo-turn", "beam-100K", "factcons-6k", "scifact", "cosqa-dev", "lme-pool-session")


def unrelated_tasks(folder: Path) -> list[Task]:
    """Return two tasks for each plan, to choose and to confirm. Deterministic."""
    rng = Random(SEED)
    foreign = {name: read_task(folder, name).queries for name in FOREIGN}
    tasks = []
    for plan in PLANS:
        task = read_task(folder, plan.task)
        others = [
            q for name, many in foreign.items() if _family(name) != _family(plan.task) for q in many
        ]
        rows = list(_planned_questions(task, plan, others, rng))
        for half, number in (("choose", 0), ("confirm", 1)):
            queries = tuple(query for place, query in rows if place % 2 == number)
            scopes = {query.scope for query in queries}
            items = tuple(item for item in task.items if item.scope in scopes)
            tasks.append(Task(name=f"threshold-{plan.task}-{half}", items=items, queries=queries))
    return tasks


def kind_of(query: TaskQuery) -> str:
    """Return which of KINDS a question of these tasks is."""
    return query.category if query.category in KINDS[1:] else OWN


def _planned_questions(
    task: Task, plan: QuestionPlan, others: Sequence[TaskQuery], rng: Random
) -> Iterator[tuple[int, TaskQuery]]:
    """Yield each question with a number; even numbers are for choosing."""
    scopes = sorted({query.scope for query in task.queries})
    chosen = sorted(rng.sample(scopes, min(plan.scopes, len(scopes))))
    for place, scope in enumerate(chosen):
        own = [query for query in task.queries if query.scope == scope]
        elsewhere = [query for query in task.queries if query.scope != scope]
        # The items that exist when it is asked: all, or the candidates of the latest question.
        seen = max((query.candidates or frozenset() for query in own), key=len) or None
        questions = [replace(query, candidates=seen) for query in _sample(own, plan.own, rng)]
        for kind, many, source in (
            (OTHER_SCOPE, plan.other_scope, elsewhere),
            (OTHER_TASK, plan.other_task, others),
            (TALK, plan.talk, _small_talk()),
        ):
            for number, query in enumerate(_sample(source, many, rng)):
                questions.append(
                    _move_to_scope(query, f"{scope}/{kind}{number}", scope, kind, seen)
                )
        for number, query in enumerate(questions):
            yield (place if len(chosen) > 1 else number), query


def _sample(queries: Sequence[TaskQuery], most: int, rng: Random) -> list[TaskQuery]:
    return rng.sample(queries, min(most, len(queries)))


def _move_to_scope(
    query: TaskQuery, name: str, scope: str, kind: str, seen: frozenset[str] | None
) -> TaskQuery:
    """Return *query* for another scope, without gold."""
    return replace(
        query,
        id=name,
        scope=scope,
        category=kind,
        gold=frozenset(),
        stale=frozenset(),
        candidates=seen,
        asked_at=None,
    )


def _small_talk() -> list[TaskQuery]:
    nothing: frozenset[str] = frozenset()
    return [
        TaskQuery(
            id=str(number),
            scope="",
            text=text,
            category=TALK,
            gold=nothing,
            stale=nothing,
            asked_at=None,
            candidates=None,
        )
        for number, text in enumerate(SMALL_TALK)
    ]


def _family(name: str) -> str:
    return name.split("-")[0]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.unrelated_questions", description=__doc__
    )
    parser.add_argument("to", type=Path, help="folder to write the tasks into")
    parser.add_argument("--tasks", type=Path, default=default_folder(), help="folder of the tasks")
    options = parser.parse_args(arguments)
    try:
        tasks = unrelated_tasks(options.tasks)
    except TasksMissing as missing:
        print(f"unrelated: {missing}", file=sys.stderr)
        return 2
    for task in tasks:
        write_task(options.to, task)
        kinds = [kind_of(query) for query in task.queries]
        print(task.name, {kind: kinds.count(kind) for kind in KINDS})
    return 0


if __name__ == "__main__":
    sys.exit(main())
