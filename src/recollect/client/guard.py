"""
The guard around everything `learning()` does beside a caller's own call.

Whatever goes wrong in it, a vendor's odd answer or a fault of ours, ends here: the call goes on as
if there were no memory, and the log has the reason. Interrupts and exits pass.
"""

import logging
from collections.abc import Callable
from types import TracebackType

log = logging.getLogger("recollect.learning")


class Guarded:
    """Runs a block; if it fails, says what that means and goes on after it."""

    def __init__(self, warn: Callable[[str], None], what: str) -> None:
        self._warn = warn
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        log.debug("%s", self._what, exc_info=error)
        self._warn(f"{self._what} ({type(error).__name__}: {error})")
        return True
