"""Log rows while the same process writes: they join the queue, and none is lost."""

import threading
import time

from recollect import LocalRecollect
from recollect.store.protocol import Tables


def test_a_query_is_logged_during_a_long_write_of_the_same_process(
    words_only: LocalRecollect,
) -> None:
    words_only.ingest("The build uses pnpm.")
    begun = threading.Event()

    def long_write(tables: Tables) -> None:
        begun.set()
        time.sleep(0.6)  # longer than a log row waits for the file

    thread = threading.Thread(target=words_only._services.store.write, args=(long_write,))
    thread.start()
    begun.wait()
    hit = words_only.search("which build?")[0]
    thread.join()

    assert hit.retrieval_id is not None
    assert words_only.explain(hit.retrieval_id)
