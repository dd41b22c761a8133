"""
One call to a language model inside a session: the parsed request and the recorded response.

The caller's objects are never changed. Memory goes into a new request. The response is returned as
it is; the chunks of its stream are copied while the caller reads them. Messages are parsed later,
in the thread of the outbox.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recollect.client.intercept.detect_dialect import detect_dialect, may_call_model
from recollect.client.intercept.dialect import CapturedMessage, Dialect
from recollect.client.intercept.sse import SseEvent, parse_events, parse_json_lines
from recollect.client.intercept.strip_injected import strip_injected
from recollect.domain.transcript import Voice
from recollect.lazy_dataclass import dataclass
from recollect.wire.internal_request import INTERNAL_REQUEST

MAX_RECORDED_BYTES = 32_000_000  # of one response; the rest is not recorded
StreamParser = Callable[[bytes], Iterator[SseEvent]]
_STREAM_PARSERS: Mapping[str, StreamParser] = {
    "text/event-stream": parse_events,
    "application/x-ndjson": parse_json_lines,
}
_PASTED = {"voice": Voice.PASTED.value}


@dataclass(frozen=True)
class ModelRequest:
    """A parsed request to a language model."""

    dialect: Dialect
    body: Mapping[str, Any]
    content: bytes  # the body before it was parsed
    sent_at: datetime
    asked_at: float  # the same moment, monotonic

    def with_memory(self, text: str) -> bytes:
        """Return the encoded body with memory added to it."""
        body = self.dialect.add_memory(self.body, text)
        try:
            return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # a lone surrogate, which must be escaped
            return json.dumps(body, separators=(",", ":")).encode()


def parse_model_request(request: Any) -> ModelRequest | None:
    """Return *request* parsed, or None if it is not a call to a language model."""
    if request.method != "POST" or INTERNAL_REQUEST in request.extensions:
        return None
    if not may_call_model(request.url.path):
        return None  # do not parse the body of other requests
    try:
        body = json.loads(request.content)
    except (ValueError, RuntimeError):  # not JSON, nested too deep, or a one-time stream
        return None
    dialect = detect_dialect(request.url.path, request.headers, body)
    if dialect is None:
        return None
    return ModelRequest(dialect, body, request.content, datetime.now(UTC), time.monotonic())


def with_body(request: Any, content: bytes) -> Any:
    """Return a copy of *request* with another body."""
    headers = [
        (name, value)
        for name, value in request.headers.raw
        if name.lower() not in (b"content-length", b"transfer-encoding")
    ]
    return type(request)(
        request.method, request.url, headers=headers, content=content, extensions=request.extensions
    )


class ResponseRecorder:
    """Records the body of one response; calls *on_finish* once, when it ends or is dropped."""

    def __init__(
        self, request: ModelRequest, response: Any, on_finish: "Callable[[ResponseRecorder], None]"
    ) -> None:
        # Not the parsed body: a long history takes several times as much memory as its bytes.
        self._dialect = request.dialect
        self._request = request.content
        self._sent_at = request.sent_at
        self._headers = list(response.headers.raw)
        self._response_class = type(response)
        self._parse_stream = _stream_parser(response.headers.get("content-type", ""))
        self._on_finish = on_finish
        self._chunks: list[bytes] = []
        self._decoded = False
        self._lock = threading.Lock()
        self._ended_at: datetime | None = None
        self.size = len(request.content)  # of everything recorded for this call
        self._recorded = 0

    def add_chunk(self, chunk: bytes) -> None:
        """Record a chunk of the body as received, which may be compressed."""
        if self._recorded <= MAX_RECORDED_BYTES:
            self._chunks.append(chunk)
            self._recorded += len(chunk)
            self.size += len(chunk)

    def add_all(self, content: bytes) -> None:
        """Record the whole decoded body and finish."""
        self._decoded = True
        self.add_chunk(content)
        self.finish()

    def finish(self) -> None:
        """Stop recording and call *on_finish*; further calls do nothing."""
        with self._lock:
            if self._ended_at is not None:
                return
            self._ended_at = datetime.now(UTC)
        self._on_finish(self)

    def last_user_text(self) -> str:
        """Return the last user message of the request that has text, or ''."""
        return self._dialect.last_user_text(json.loads(self._request))

    def captured_messages(self) -> Sequence[CapturedMessage]:
        """Return the new messages of the request, then those of the response."""
        sent = self._dialect.new_messages(json.loads(self._request))
        roles = [message["role"] for message in sent]
        if roles.count("user") > 1 or "tool" in roles:
            # The user types one message before each reply; a program may add others, and what
            # accompanies the result of a tool.
            sent = [
                {**message, "metadata": _PASTED} if message["role"] == "user" else message
                for message in sent
            ]
        replies = self._dialect.reply_messages(self._response_json())
        messages = [{**message, "created_at": self._sent_at} for message in sent]
        messages += [{**message, "created_at": self._ended_at} for message in replies]
        return [message for message in map(strip_injected, messages) if message is not None]

    def _response_json(self) -> object:
        raw = b"".join(self._chunks)
        if not self._decoded:
            # A response of the same class decompresses the body as its headers say.
            raw = self._response_class(200, headers=self._headers, content=raw).content
        if self._parse_stream is not None:
            return self._dialect.assemble_stream(self._parse_stream(raw))
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            return None


def _stream_parser(content_type: str) -> StreamParser | None:
    """Return how a body of that type is read as a stream, None if it is one response."""
    kind = content_type.partition(";")[0].strip().lower()
    return _STREAM_PARSERS.get(kind)
