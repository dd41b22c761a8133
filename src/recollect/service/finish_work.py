"""
Finish work that goes in steps: deletions that were begun, emptying the write-ahead log, runs of
sleeptime, reading the tool calls of captured sessions, and comparing memories that were written.

Deletions are recorded in the transaction that begins them, so they are finished after a kill too:
by the background worker of a server, or by `drain`. An import that was interrupted is only listed,
because its file is needed: the person runs it again. What one kind of work needs loads if it waits.
"""

from collections.abc import Iterator

from recollect.domain.unfinished_work import WorkKind
from recollect.service.delete_conversation import delete_rows_in_steps
from recollect.service.erase_deleted import finish_erasure
from recollect.service.services import Services


def finish_in_steps(services: Services) -> Iterator[int]:
    """
    Finish what was begun, yielding 1 after each step; what cannot be done now stays recorded.

    A session whose tool calls were read yields 0: it was counted when it was captured. A memory
    that was compared with others yields 0 as well.
    """
    if services.store.read_only_reason:
        return
    with services.store.read() as tables:
        if not tables.unfinished_work.is_any_left():
            return
        unfinished = tables.unfinished_work.all()
        unread = tables.tool_calls.unread_sources(limit=1)
        sleeptime_runs = tables.sleeptime_runs.claimable(now=services.clock.now(), limit=1)
    hidden = [work.subject for work in unfinished if work.kind is WorkKind.DELETE_CONVERSATION]
    if hidden:
        for _ in delete_rows_in_steps(services, hidden):
            yield 1
    if any(work.kind is not WorkKind.IMPORT for work in unfinished):
        finish_erasure(services, give_up_s=0.0)
    if sleeptime_runs:
        from recollect.service.sleeptime import run_in_steps

        yield from run_in_steps(services)
    for _ in compare_written_in_steps(services):
        yield 0
    if unread:
        from recollect.engine.learn.recorded_calls import read_unread_sources

        while read_unread_sources(services.store, limit=1):
            yield 0


def compare_written_in_steps(services: Services) -> Iterator[int]:
    """Link the memories that were written to those they contradict; yield how many each step."""
    if services.store.read_only_reason:
        return
    with services.store.read() as tables:
        if not tables.jobs.unconsolidated_writings(limit=1):
            return
    # The rules of consolidation load only if something is compared.
    from recollect.engine.link_contradictions import link_written_in_steps

    yield from link_written_in_steps(services.engine)
