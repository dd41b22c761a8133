"""
Finish work that was begun and goes in steps: deletions, and emptying the write-ahead log.

Such work is recorded in the transaction that begins it, so it is finished after a kill too: by the
background worker of a server, or by `drain`. An import that was interrupted is only listed, because
its file is needed: the person runs it again.
"""

from collections.abc import Iterator

from recollect.domain.unfinished_work import WorkKind
from recollect.service.delete_conversation import delete_rows_in_steps
from recollect.service.erase_deleted import finish_erasure
from recollect.service.services import Services


def finish_in_steps(services: Services) -> Iterator[None]:
    """Finish what was begun, yielding after each step; what cannot be done now stays recorded."""
    with services.store.read() as tables:
        unfinished = tables.unfinished_work.all()
    hidden = [work.subject for work in unfinished if work.kind is WorkKind.DELETE_CONVERSATION]
    if hidden:
        yield from delete_rows_in_steps(services, hidden)
    if any(work.kind is not WorkKind.IMPORT for work in unfinished):
        finish_erasure(services, give_up_s=0.0)
