"""
One call to a language model inside a session: given memory on its way out, overheard on its way in.

Nothing the caller holds is touched. The request that leaves is a new one; the answer is handed on
as it came, and what passes through a stream is copied piece by piece as the caller reads it. All
reading of what was said happens later, in the outbox.
"""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recollect.client.intercept.dialect import Dialect, Saying
from recollect.client.intercept.recognise import dialect_of
from recollect.client.intercept.repeated import unrepeated
from recollect.client.intercept.sse import events_of
from recollect.wire.mark import OURS

MOST_HEARD = 32_000_000  # bytes of one answer; more is not kept
_EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Outgoing:
    """A request to a language model, understood."""

    dialect: Dialect
    body: Mapping[str, Any]
    content: bytes  # the same as it came
    at: datetime

    def with_memory(self, text: str) -> bytes:
        """Return the body with memory in it, as it is sent."""
        told = self.dialect.with_memory(self.body, text)
        try:
            return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half a character that only an escape can say
            return json.dumps(told, separators=(",", ":")).encode()


def outgoing(request: Any) -> Outgoing | None:
    """Return *request* understood, or None where it is no call to a language model."""
    if request.method != "POST" or not _may_be(request.url.path) or OURS in request.extensions:
        return None
    try:
        body = json.loads(request.content)
    except (ValueError, RuntimeError):  # no JSON, too deep, or a body that can be read only once
        return None
    dialect = dialect_of(request.url.path, request.headers, body)
    if dialect is None:
        return None
    return Outgoing(dialect, body, request.content, datetime.now(UTC))


def rewritten(request: Any, content: bytes) -> Any:
    """Return *request* anew with another body."""
    kept = [
        (name, value)
        for name, value in request.headers.raw
        if name.lower() not in (b"content-length", b"transfer-encoding")
    ]
    return type(request)(
        request.method, request.url, headers=kept, content=content, extensions=request.extensions
    )


class Overheard:
    """What passes through one answer; told once, when it ends or is let go of."""

    def __init__(self, asked: Outgoing, response: Any, tell: "Callable[[Overheard], None]") -> None:
        # Not the objects read from it: a long history takes several times its bytes.
        self._dialect, self._request, self._asked_at = asked.dialect, asked.content, asked.at
        self._headers = list(response.headers.raw)
        self._kind = type(response)
        self._streams = _EVENTS in response.headers.get("content-type", "")
        self._tell = tell
        self._pieces: list[bytes] = []
        self._decoded = False
        self._lock = threading.Lock()
        self._ended_at: datetime | None = None
        self.size = len(asked.content)  # of all that is held for this call
        self._heard = 0

    def hear(self, piece: bytes) -> None:
        """Keep a piece of the body, as it came over the wire."""
        if self._heard <= MOST_HEARD:
            self._pieces.append(piece)
            self._heard += len(piece)
            self.size += len(piece)

    def hear_all(self, content: bytes) -> None:
        """Keep the whole body, already decoded."""
        self._decoded = True
        self.hear(content)
        self.end()

    def end(self) -> None:
        """Note that no more will come, and tell; ending twice is ending once."""
        with self._lock:
            if self._ended_at is not None:
                return
            self._ended_at = datetime.now(UTC)
        self._tell(self)

    def sayings(self) -> Sequence[Saying]:
        """Return what was said in this call: by the caller, then by the model."""
        dialect = self._dialect
        asked = dialect.said(json.loads(self._request))
        said = [{**one, "created_at": self._asked_at} for one in asked]
        replied = [{**one, "created_at": self._ended_at} for one in dialect.replied(self._answer())]
        return [one for one in map(unrepeated, [*said, *replied]) if one is not None]

    def _answer(self) -> object:
        raw = b"".join(self._pieces)
        if not self._decoded:
            # A response of the same kind undoes whatever compression the headers name.
            raw = self._kind(200, headers=self._headers, content=raw).content
        if self._streams:
            return self._dialect.assembled(events_of(raw))
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            return None


def _may_be(path: str) -> bool:
    """Say quickly whether a path can be one of a language model's."""
    return path.rstrip("/").endswith(("/completions", "/responses", "/messages"))
