"""
Split a task in two halves: one to choose settings, the other to confirm them.

If a task has four or more scopes, whole scopes are assigned, since questions about one conversation
are correlated; otherwise single questions. A hash of the name decides, so that the split does not
depend on the order, the machine or the run.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from benchmarks.tasks import Task

LEAST_SCOPES = 4
CHOOSE, CONFIRM, ALL = "choose", "confirm", "all"
HALVES = (CHOOSE, CONFIRM)


@dataclass(frozen=True)
class Split:
    """Which half each question is in, and whether scopes or questions were split."""

    by: str
    half_of: Mapping[str, str]


def split_task(task: Task) -> Split:
    """Return the halves of *task*, equal but for one scope or question."""
    scopes = {query.scope for query in task.queries}
    if len(scopes) < LEAST_SCOPES:
        return Split("question", _assign_halves(query.id for query in task.queries))
    of_scope = _assign_halves(scopes)
    return Split("scope", {query.id: of_scope[query.scope] for query in task.queries})


def questions_of_half(task: Task, half: str, *, halves: Split) -> Task:
    """Return *task* with the questions of one half, or as it is."""
    if half == ALL:
        return task
    chosen = (query for query in task.queries if halves.half_of[query.id] == half)
    return replace(task, queries=tuple(chosen))


def _assign_halves(names: Iterable[str]) -> dict[str, str]:
    """Return the half of each name, dealt out in the order of their hashes."""
    # In turn and not by a bit of the hash: of five scopes all five might fall on one side.
    in_order = sorted(set(names), key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: HALVES[place % 2] for place, name in enumerate(in_order)}
