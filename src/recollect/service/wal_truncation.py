"""
Empty the write-ahead log after words were removed, now or later, and overwrite their remains.

The log holds the former content of every changed page until it is emptied. So the transaction that
removes words records that this is to be done; if a long reader prevents it, the background worker,
`drain` and the next verb that removes words try again, also after a kill.
"""

from recollect.clock import Clock
from recollect.domain.unfinished_work import UnfinishedWork, WorkKind
from recollect.errors import StoreBusy
from recollect.service.services import Services
from recollect.store.protocol import Tables

TRUNCATE_S = 0.5  # how long a verb tries


def request_truncation(tables: Tables, clock: Clock) -> None:
    """Record, in the transaction that removes words, that the write-ahead log still holds them."""
    tables.unfinished_work.add(UnfinishedWork(kind=WorkKind.TRUNCATE_WAL, started_at=clock.now()))


def finish_truncation(services: Services, *, give_up_s: float = TRUNCATE_S) -> bool:
    """Empty the write-ahead log; return False if a reader prevents it, then it is tried later."""
    try:
        if not services.store.erase_deleted_content(give_up_s=give_up_s):
            return False
    except StoreBusy:
        return False
    services.store.write(lambda tables: tables.unfinished_work.remove(WorkKind.TRUNCATE_WAL))
    return True
