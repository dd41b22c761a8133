"""Wait in an event loop for work that blocks, whichever library runs the loop."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar, TypeVarTuple

from anyio import CancelScope, CapacityLimiter, get_cancelled_exc_class, to_thread

T = TypeVar("T")
Args = TypeVarTuple("Args")


async def waiting(work: Callable[[*Args], T], *args: *Args) -> T:
    """Run *work* in a thread; a cancelled caller does not wait for it."""
    # A limit of its own: the threads a web server has for its routes are not ours to take.
    return await to_thread.run_sync(work, *args, abandon_on_cancel=True, limiter=CapacityLimiter(1))


async def seen_through(work: Callable[[], None]) -> None:
    """Run *work* in a thread to its end; a caller who is cancelled meanwhile is told so then."""
    outcome: Future[None] = Future()

    def run() -> None:
        try:
            work()
            outcome.set_result(None)
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="recollect-waiting", daemon=True).start()
    cancelled: BaseException | None = None
    while not outcome.done():
        try:
            with CancelScope(shield=True):
                await waiting(wait, [outcome])
        except get_cancelled_exc_class() as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    outcome.result()
