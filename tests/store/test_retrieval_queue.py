"""The queue of the retrieval log: what is left of it after it is closed."""

import threading

from recollect import Retrieval
from recollect.store.retrieval_queue import RetrievalQueue
from support import START

RETRIEVAL = Retrieval(
    id="q", verb="search", query="zebra", asking={}, notes=(), asked_at=START, hits=()
)


def test_a_closed_queue_leaves_no_thread_behind() -> None:
    before = threading.enumerate()
    for _ in range(30):  # a thread that nobody waits for may have ended by chance
        queue = RetrievalQueue(lambda batch: None)
        queue.add(RETRIEVAL, START)
        queue.finish_batch(queue.take(), is_written=True)  # as a write that takes it along

        queue.close()

        assert [thread for thread in threading.enumerate() if thread not in before] == []
