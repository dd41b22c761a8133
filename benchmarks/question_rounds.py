"""
Plan which items are in the store when a question is asked.

A question may see the items of its scope, or only its candidates. If the candidates of every
question are a prefix of the scope's items (a conversation that grows), one project grows from round
to round, and each question is asked when exactly its items are stored. Otherwise every distinct set
is a separate project; the store embeds equal texts once, so this costs little.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from benchmarks.tasks import Task, TaskItem, TaskQuery


@dataclass(frozen=True)
class PlacedItem:
    """An item, and the project it is stored in."""

    project: str
    item: TaskItem


@dataclass(frozen=True)
class PlacedQuery:
    """A question, and the project it is asked in."""

    project: str
    query: TaskQuery


@dataclass(frozen=True)
class QuestionRound:
    """First all of `stored`, then each of `asked`."""

    items: tuple[PlacedItem, ...]
    queries: tuple[PlacedQuery, ...]


def question_rounds(task: Task) -> list[QuestionRound]:
    """Return the rounds of *task*; a scope nobody asks about is left out."""
    items: dict[str, list[TaskItem]] = {}
    for item in task.items:
        items.setdefault(item.scope, []).append(item)
    queries: dict[str, list[TaskQuery]] = {}
    for query in task.queries:
        queries.setdefault(query.scope, []).append(query)
    lanes = [
        lane
        for scope in queries
        for lane in _rounds_by_project(scope, items[scope], queries[scope])
    ]
    return [_merge_rounds(round_ for round_ in step if round_) for step in zip_longest(*lanes)]


def _rounds_by_project(
    scope: str, items: Sequence[TaskItem], queries: Sequence[TaskQuery]
) -> Iterator[list[QuestionRound]]:
    """Yield the rounds of each project that a scope needs."""
    visible = {query.id: _visible_items(items, query) for query in queries}
    if all(tuple(items[: len(seen)]) == seen for seen in visible.values()):
        yield _growing_project_rounds(
            scope, items, queries, {name: len(seen) for name, seen in visible.items()}
        )
        return
    projects: dict[tuple[TaskItem, ...], str] = {}
    for query in queries:
        projects.setdefault(visible[query.id], f"{scope}/{len(projects) + 1}")
    for seen, project in projects.items():
        stored = tuple(PlacedItem(project, item) for item in seen)
        placed_queries = tuple(
            PlacedQuery(project, query) for query in queries if visible[query.id] == seen
        )
        yield [QuestionRound(stored, placed_queries)]


def _growing_project_rounds(
    project: str, items: Sequence[TaskItem], queries: Sequence[TaskQuery], lengths: dict[str, int]
) -> list[QuestionRound]:
    lane, start = [], 0
    in_order = sorted(queries, key=lambda query: lengths[query.id])
    for end, group in groupby(in_order, key=lambda query: lengths[query.id]):
        stored = tuple(PlacedItem(project, item) for item in items[start:end])
        lane.append(QuestionRound(stored, tuple(PlacedQuery(project, query) for query in group)))
        start = end
    return lane


def _visible_items(items: Sequence[TaskItem], query: TaskQuery) -> tuple[TaskItem, ...]:
    if query.candidates is None:
        return tuple(items)
    return tuple(item for item in items if item.id in query.candidates)


def _merge_rounds(parts: Iterable[QuestionRound]) -> QuestionRound:
    rounds = list(parts)
    return QuestionRound(
        tuple(placed for part in rounds for placed in part.items),
        tuple(query for part in rounds for query in part.queries),
    )
