"""Tell whoever asked that a block changed, so that prompts compiled from it are made anew."""

import logging
import threading
from collections.abc import Callable

from recollect.domain.block import BlockChange

log = logging.getLogger(__name__)

Listener = Callable[[BlockChange], None]


class Listeners:
    """Who wants to know, in this process. Other processes see the change by the block's version."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Tell *listener* of every change from now on; return how to stop that."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(one for one in self._listeners if one is not listener)

        return unsubscribe

    def tell(self, change: BlockChange) -> None:
        """Tell everybody, after the change is on disk."""
        for listener in self._listeners:
            try:
                listener(change)
            except Exception:  # anybody's code: the change is kept, and others must hear of it
                log.exception("a listener failed to hear that block %r changed", change.label)
