"""Notify listeners in this process when a block changes, so that they compile prompts again."""

import logging
import threading
from collections.abc import Callable

from recollect.domain.block import BlockChange

log = logging.getLogger(__name__)

Listener = Callable[[BlockChange], None]


class BlockListeners:
    """The listeners of this process. Other processes see a change by the version of the block."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call *listener* for every change from now on; return a function that stops it."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                others = [other for other in self._listeners if other is not listener]
                self._listeners = tuple(others)

        return unsubscribe

    def notify(self, change: BlockChange) -> None:
        """Call every listener. The change must be on disk already."""
        for listener in self._listeners:
            try:
                listener(change)
            except Exception:  # code of the caller: the change is stored, and others must see it
                log.exception("a listener failed to handle the change of block %r", change.label)
