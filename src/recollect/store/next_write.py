"""Work that joins the next write of a thread, for `Store.in_next_write`."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Work = Callable[[Any], None]  # gets the tables of the store


class NextWrite(threading.local):
    """The functions that run first in the next write of the current thread."""

    _pending: tuple[Work, ...] = ()

    def take(self) -> tuple[Work, ...]:
        """Return the functions, which are then no longer pending."""
        pending, self._pending = self._pending, ()
        return pending

    @contextmanager
    def joined_by(self, work: Work) -> Iterator[None]:
        """Add *work* for the block; at its end *work* is dropped if no write has run it."""
        self._pending = (*self._pending, work)
        try:
            yield
        finally:
            self._pending = tuple(other for other in self._pending if other is not work)
