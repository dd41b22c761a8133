"""Run blocking work from an event loop, with asyncio or trio."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar, TypeVarTuple

from anyio import CancelScope, CapacityLimiter, get_cancelled_exc_class, to_thread

T = TypeVar("T")
Args = TypeVarTuple("Args")


async def run_blocking(work: Callable[[*Args], T], *args: *Args) -> T:
    """Run *work* in a thread; a cancelled caller does not wait for it."""
    # With its own limiter: it must not use up the threads that a web server has for its routes.
    return await to_thread.run_sync(work, *args, abandon_on_cancel=True, limiter=CapacityLimiter(1))


async def run_to_completion(work: Callable[[], None]) -> None:
    """Run *work* in a thread until it ends; raise a cancellation only after that."""
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
                await run_blocking(wait, [outcome])
        except get_cancelled_exc_class() as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    outcome.result()
