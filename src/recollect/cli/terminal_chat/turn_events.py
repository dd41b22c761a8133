"""
Read the events of a run so that ctrl-c stops the run and not the program.

The run goes on in a thread of its own, and ctrl-c only sets a flag: no exception interrupts a
transaction or a tool. Then the run is cancelled, as any other client would do it.
"""

import queue
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from recollect.domain.agent_run import RunEvent

POLL_S = 0.05  # how soon ctrl-c is noticed
CANCELLED_WAIT_S = 2.0  # for the run to end; a model that is silent may take longer


class _End:
    """The last item of the queue: the run has ended, or this is why it failed."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def read_events(
    open_stream: Callable[[], Iterator[RunEvent]], cancel: Callable[[], object]
) -> Iterator[RunEvent]:
    """Yield the events of a run. On ctrl-c call *cancel*, and yield what still comes soon."""
    items: queue.SimpleQueue[RunEvent | _End] = queue.SimpleQueue()

    def pump() -> None:
        try:
            for event in open_stream():
                items.put(event)
        except BaseException as error:  # raised again where the events are read
            items.put(_End(error))
        else:
            items.put(_End())

    with _interrupt_flag() as interrupted:
        threading.Thread(target=pump, name="recollect-chat-run", daemon=True).start()
        while not interrupted.is_set():
            try:
                item = items.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
        cancel()
        yield from _remaining_events(items)


def _remaining_events(items: "queue.SimpleQueue[RunEvent | _End]") -> Iterator[RunEvent]:
    """Yield the events of a cancelled run until it has ended, or does not end in time."""
    while True:
        try:
            item = items.get(timeout=CANCELLED_WAIT_S)
        except queue.Empty:
            return
        if isinstance(item, _End):
            return
        yield item


@contextmanager
def _interrupt_flag() -> Iterator[threading.Event]:
    """Give an event that ctrl-c sets, instead of raising `KeyboardInterrupt`."""
    flag = threading.Event()

    def set_flag(_: int, __: FrameType | None) -> None:
        flag.set()

    earlier_handler = signal.signal(signal.SIGINT, set_flag)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, earlier_handler)
