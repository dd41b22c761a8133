"""
Suppress errors of `learning()` itself, so that the caller's model call is never affected.

An unexpected vendor response or a bug of ours is logged, and the call continues as if there were
no memory. KeyboardInterrupt and SystemExit pass through.
"""

import logging
from collections.abc import Callable

log = logging.getLogger("recollect.learning")


class SuppressErrors:
    """A context manager that logs an exception of its block, with its consequence, and goes on."""

    def __init__(self, warn: Callable[[str], None], consequence: str) -> None:
        self._warn = warn
        self._consequence = consequence

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        log.debug("%s", self._consequence, exc_info=error)
        self._warn(f"{self._consequence} ({type(error).__name__}: {error})")
        return True
