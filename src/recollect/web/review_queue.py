"""
The order of review of one browser: frozen when the review begins, read page by page.

What is decided is left out, but keeps its position in case the decision is undone. What is put off
moves to the end, and candidates that came since follow after the others: nothing moves under the
reviewer's eyes.
"""

from collections.abc import Iterable, Sequence
from itertools import islice


class ReviewQueue:
    """The ids of the candidates in the order in which one browser reviews them."""

    def __init__(self) -> None:
        self._positions: dict[str, int] = {}  # in their order
        self._waiting: set[str] = set()

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self) -> None:
        """Forget the order; the next `update` sets a new one."""
        self._positions = {}

    def update(self, current: Iterable[str], put_off: Sequence[str]) -> None:
        """Set which candidates wait, new ones at the end and those put off after them."""
        self._waiting = set(current)
        order = dict.fromkeys([*self._positions, *current])
        for memory_id in put_off:
            order.pop(memory_id, None)
        self._positions = {id_: place for place, id_ in enumerate([*order, *put_off])}

    def page(self, after: str, size: int) -> list[str]:
        """Return the waiting ids that follow *after*; the first ones if it is unknown."""
        start = self._positions.get(after, -1) + 1
        rest = islice(self._positions, start, None)
        return list(islice((id_ for id_ in rest if id_ in self._waiting), size))

    def precedes(self, first: str, other: str) -> bool:
        """Return whether *first* comes before *other*."""
        end = len(self._positions)
        return self._positions.get(first, end) < self._positions.get(other, end)
