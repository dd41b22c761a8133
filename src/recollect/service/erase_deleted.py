"""
Erase deleted words from the file of the store, now or later.

A deleted row can leave its bytes behind in the file and in the files beside it. So the transaction
that removes words records that they are to be erased; if a long reader prevents it, the background
worker, `drain` and the next verb that removes words try again, also after a kill. A store that is
not a file keeps its own files, and has nothing to erase here.
"""

from recollect.clock import Clock
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import StoreBusy
from recollect.service.services import Services
from recollect.store.protocol import Tables

ERASE_S = 0.5  # how long a verb tries


def request_erasure(tables: Tables, clock: Clock) -> None:
    """Record, in the transaction that removes words, that the file may still hold them."""
    tables.unfinished_work.add(UnfinishedWork(kind=WorkKind.ERASE_DELETED, started_at=clock.now()))


def finish_erasure(services: Services, *, give_up_s: float = ERASE_S) -> bool:
    """Erase deleted words; return False if a reader prevents it, then it is tried later."""
    file = services.store.file
    try:
        if file is not None and not file.erase_deleted_content(give_up_s=give_up_s):
            return False
    except StoreBusy:
        return False
    services.store.write(lambda tables: tables.unfinished_work.remove(WorkKind.ERASE_DELETED))
    return True
