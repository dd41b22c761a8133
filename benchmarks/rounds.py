"""
Plan which items lie in the store when a question is asked.

A question may see its scope's items, or only its candidates. Where every set of a scope is a
beginning of the scope's items (a conversation asked about as it grows), one project grows from
round to round and each question is asked when exactly its items are there. Otherwise every
distinct set is a project of its own; the store embeds equal texts once, so this costs little.

This file knows nothing of stores: it orders values.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from benchmarks.tasks import Item, Query, Task


@dataclass(frozen=True)
class Placed:
    """An item, and the project it is stored in."""

    project: str
    item: Item


@dataclass(frozen=True)
class Asked:
    """A question, and the project it is asked in."""

    project: str
    query: Query


@dataclass(frozen=True)
class Round:
    """First all of `stored`, then each of `asked`."""

    stored: tuple[Placed, ...]
    asked: tuple[Asked, ...]


def rounds(task: Task) -> list[Round]:
    """Return the rounds of *task*; a scope nobody asks about is left out."""
    items: dict[str, list[Item]] = {}
    for item in task.items:
        items.setdefault(item.scope, []).append(item)
    queries: dict[str, list[Query]] = {}
    for query in task.queries:
        queries.setdefault(query.scope, []).append(query)
    lanes = [lane for scope in queries for lane in _lanes(scope, items[scope], queries[scope])]
    return [_merged(one for one in step if one) for step in zip_longest(*lanes)]


def _lanes(scope: str, items: Sequence[Item], queries: Sequence[Query]) -> Iterator[list[Round]]:
    """Yield the rounds of each project that a scope needs."""
    visible = {query.id: _visible(items, query) for query in queries}
    if all(tuple(items[: len(seen)]) == seen for seen in visible.values()):
        yield _growing(scope, items, queries, {name: len(seen) for name, seen in visible.items()})
        return
    projects: dict[tuple[Item, ...], str] = {}
    for query in queries:
        projects.setdefault(visible[query.id], f"{scope}/{len(projects) + 1}")
    for seen, project in projects.items():
        stored = tuple(Placed(project, item) for item in seen)
        asked = tuple(Asked(project, query) for query in queries if visible[query.id] == seen)
        yield [Round(stored, asked)]


def _growing(
    project: str, items: Sequence[Item], queries: Sequence[Query], lengths: dict[str, int]
) -> list[Round]:
    lane, start = [], 0
    in_order = sorted(queries, key=lambda query: lengths[query.id])
    for end, group in groupby(in_order, key=lambda query: lengths[query.id]):
        stored = tuple(Placed(project, item) for item in items[start:end])
        lane.append(Round(stored, tuple(Asked(project, query) for query in group)))
        start = end
    return lane


def _visible(items: Sequence[Item], query: Query) -> tuple[Item, ...]:
    if query.candidates is None:
        return tuple(items)
    return tuple(item for item in items if item.id in query.candidates)


def _merged(parts: Iterable[Round]) -> Round:
    found = list(parts)
    return Round(
        tuple(placed for part in found for placed in part.stored),
        tuple(asked for part in found for asked in part.asked),
    )
