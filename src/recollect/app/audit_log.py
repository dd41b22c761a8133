"""
Write who read or changed what to the audit log of a store.

The entry of a write is part of its transaction. Reads, refusals and failures wait here for a
moment, and a thread that exists only while something waits writes them. A killed process loses what
waits, never the entry of a write. Entries have ids and names; the text of a record is never logged.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from recollect.calling_client import calling_client, use_user
from recollect.clock import Clock
from recollect.domain.team import AuditEntry, AuditOutcome
from recollect.errors import RecollectError, StoreError
from recollect.service.validate import looks_like_an_id
from recollect.store.protocol import Store, Tables
from recollect.wire.request import VerbRequest

FLUSH_DELAY_S = 0.2  # so that reads in quick succession share a transaction
CLOSE_WAIT_S = 5.0
MAX_WAITING = 10_000
MAX_IDS = 100  # of one entry
PRUNED_AT_ONCE = 1_000

log = logging.getLogger(__name__)


class AuditLog:
    """The audit log of one store, which is the space *space*. Safe to share between threads."""

    def __init__(self, store: Store, clock: Clock, *, space_id: str, keep: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._space_id = space_id
        self._keep = keep
        self._waiting: list[Callable[[Tables], None]] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def entry(
        self, request: VerbRequest[Any], *, user: str, space: str, is_write: bool
    ) -> AuditEntry:
        """Return the entry of a request that is about to be carried out."""
        return AuditEntry(
            id=self._clock.new_id(),
            at=self._clock.now(),
            user=user,
            verb=request.verb(),
            is_write=is_write,
            space=space,
            ids=ids_of_request(request),
            client=calling_client(),
        )

    @contextmanager
    def recording(self, entry: AuditEntry) -> Iterator["AuditResult"]:
        """Return a context that logs what is done in it; a failure is logged as one."""
        result = AuditResult()
        is_stored = False

        def store_entry(tables: Tables) -> None:
            nonlocal is_stored
            tables.team.add_audit_entries([entry])
            is_stored = True

        try:
            if entry.is_write:
                with self._store.in_next_write(store_entry):
                    yield result
            else:
                yield result
        except RecollectError as error:
            refused = error.status in (401, 403)
            outcome = AuditOutcome.REFUSED if refused else AuditOutcome.FAILED
            self.add(replace(entry, outcome=outcome))  # the entry of its write was rolled back
            raise
        ids = tuple(dict.fromkeys((*entry.ids, *result.ids)))[:MAX_IDS]
        if not is_stored:
            self.add(replace(entry, ids=ids))
        elif ids != entry.ids:
            self._queue(lambda tables: tables.team.set_audit_ids(entry.id, ids))

    def add(self, entry: AuditEntry) -> None:
        """Log an entry soon."""
        # A write that failed after its entry was stored has the entry already.
        entry = replace(entry, id=self._clock.new_id())
        self._queue(lambda tables: tables.team.add_audit_entries([entry]))

    def flush(self) -> None:
        """Write what waits now."""
        with self._lock:
            works, self._waiting = self._waiting, []
        if not works:
            return

        def write(tables: Tables) -> None:
            for work in works:
                work(tables)
            tables.team.prune_audit(before=self._clock.now() - self._keep, limit=PRUNED_AT_ONCE)

        try:
            with use_user(self._space_id):  # a reader's reads are logged too
                self._store.write(write)
        except StoreError as error:
            log.warning("%s entries of the audit log could not be written: %s", len(works), error)

    def close(self) -> None:
        """Write what waits, and end the thread."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        self._wake.set()
        if thread is not None:
            thread.join(CLOSE_WAIT_S)
        self.flush()

    def _queue(self, work: Callable[[Tables], None]) -> None:
        with self._lock:
            if len(self._waiting) >= MAX_WAITING or self._store.read_only_reason:
                log.warning("an entry of the audit log was dropped: the store cannot be written")
                return
            self._waiting.append(work)
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(
                    target=self._run, name="recollect-audit", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        while True:
            self._wake.wait(FLUSH_DELAY_S)
            self.flush()
            with self._lock:
                if not self._waiting or self._is_closed:
                    self._thread = None
                    return


class AuditResult:
    """The ids of what a request returned, for its entry in the audit log."""

    def __init__(self) -> None:
        self.ids: tuple[str, ...] = ()

    def note(self, response: object) -> None:
        """Remember the ids of what was returned."""
        self.ids = ids_of_response(response)


def ids_of_request(request: VerbRequest[Any]) -> tuple[str, ...]:
    """Return the ids that a request names; names and other texts are not logged."""
    ids: list[str] = []
    for name in type(request).model_fields:
        value = getattr(request, name)
        values: Sequence[Any] = value if isinstance(value, list | tuple) else (value,)
        ids += [item for item in values if isinstance(item, str) and looks_like_an_id(item)]
    return tuple(dict.fromkeys(ids))[:MAX_IDS]


def ids_of_response(response: object) -> tuple[str, ...]:
    """Return the ids of the records in a response: one, a list, or the hits of a search."""
    items = response if isinstance(response, list | tuple) else (response,)
    records = (
        getattr(item, "memory", None) or getattr(item, "message", None) or item for item in items
    )
    ids = (getattr(record, "id", None) for record in records)
    texts = [record_id for record_id in ids if isinstance(record_id, str)]
    texts += [cited.memory_id for cited in getattr(response, "citations", ())]
    return tuple(dict.fromkeys(texts))[:MAX_IDS]
