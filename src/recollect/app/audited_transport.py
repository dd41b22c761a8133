"""
A transport for one user: it writes who read or changed what to the audit log of its store.

It also tells the database for whom it works, so that its policies hold for the store of a project.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from recollect.api.transport import Transport
from recollect.app.access_rules import ACCESS
from recollect.app.audit_log import AuditLog, AuditResult
from recollect.service.services import Services
from recollect.wire.request import VerbRequest

Response = TypeVar("Response")


class AuditedTransport:
    """
    Carries requests out for a user, in the space of that name ('': the user's own).

    *acting* returns a context in which the database knows for whom it works.
    """

    def __init__(
        self,
        inner: Transport,
        audit: AuditLog | None,
        *,
        user: str,
        space: str = "",
        acting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._inner = inner
        self._audit = audit
        self._user = user
        self._space = space
        self._acting = acting

    def send(self, request: VerbRequest[Response]) -> Response:
        """Carry out *request* and log it."""
        return self._send_and_log(request, lambda: self._inner.send(request))

    def run(self, request: VerbRequest[Any], call: Callable[[], Response]) -> Response:
        """Call *call*, which carries out *request* in its own way, and log it."""
        return self._send_and_log(request, call)

    def stream(self, request: VerbRequest[Any]) -> Iterator[Any]:
        """Begin to carry out *request* and log it; return the events of its verb."""
        events = self._send_and_log(request, lambda: self._inner.stream(request))
        return self._each(events)

    def _each(self, events: Iterator[Any]) -> Iterator[Any]:
        end = object()
        try:
            while True:
                with self._acting():  # each step may run in another thread
                    event = next(events, end)
                if event is end:
                    return
                yield event
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                with self._acting():
                    close()

    def download(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which writes the file *path*."""
        return self._send_and_log(request, lambda: self._inner.download(request, path))

    def upload(self, request: VerbRequest[Response], path: Path) -> Response:
        """Carry out *request*, which reads the file *path*."""
        return self._send_and_log(request, lambda: self._inner.upload(request, path))

    def close(self) -> None:
        """Close the store; what waits for the log is written first."""
        if self._audit is not None:
            self._audit.close()
        self._inner.close()

    def _send_and_log(self, request: VerbRequest[Any], call: Callable[[], Response]) -> Response:
        with self._acting(), self._recording(request) as result:
            response = call()
            result.note(response)
        return response

    def _recording(self, request: VerbRequest[Any]) -> AbstractContextManager[AuditResult]:
        if self._audit is None:
            return nullcontext(AuditResult())
        is_write = ACCESS[request.verb()].writes
        entry = self._audit.entry(request, user=self._user, space=self._space, is_write=is_write)
        return self._audit.recording(entry)


def audited(inner: Transport, services: Services) -> AuditedTransport:
    """Return the transport of a store without users whose audit log is switched on."""
    keep = timedelta(days=services.settings.audit_days)
    audit = AuditLog(services.store, services.clock, space_id="", keep=keep)
    return AuditedTransport(inner, audit, user="")
