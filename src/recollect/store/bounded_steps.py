"""
Do long work in short transactions, so that other writers pass between them.

One SQLite file has one writer at a time, and waiting processes are not queued: they look whether
the lock is free. So a step ends after STEP_S, and before the next one there is a pause in which any
waiting writer, of this process or another, finds the lock free. Nobody waits much longer than one
step.
"""

import time
from collections.abc import Callable, Iterator

from recollect.store.protocol import Store, Tables

STEP_S = 0.1
STEP_ROWS = 1_000
STEP_CHARS = 4_000_000
PAUSE_S = 0.01  # several times connection.LOCK_POLL_S


class StepBudget:
    """How much one transaction may still do. A step does at least one thing, then it asks."""

    def __init__(self) -> None:
        self._ends_at = time.monotonic() + STEP_S
        self._rows = STEP_ROWS
        self._chars = STEP_CHARS

    def spend(self, *, rows: int = 1, chars: int = 0) -> None:
        """Count what was written."""
        self._rows -= rows
        self._chars -= chars

    @property
    def is_exhausted(self) -> bool:
        """Whether the step should end."""
        return self._rows <= 0 or self._chars <= 0 or time.monotonic() >= self._ends_at


Step = Callable[[Tables, StepBudget], bool]


def run_in_steps(store: Store, step: Step) -> None:
    """Run *step*, each time in a transaction of its own, until it returns False."""
    for _ in iterate_steps(store, step):
        pass


def iterate_steps(store: Store, step: Step) -> Iterator[None]:
    """Run *step* like `run_in_steps`, and yield after each transaction but the last."""
    while store.write(lambda tables: step(tables, StepBudget())):
        yield
        time.sleep(PAUSE_S)
