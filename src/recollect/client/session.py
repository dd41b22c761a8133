"""
One open `learning()` block: its options, its open responses and its outbox.

A session injects memory before each model call, records the response and passes the exchange to
its outbox. It never raises into a call: on an error it logs one warning and the call continues
without memory. An outage is logged once, however many sessions it meets.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from recollect.client.circuit_breaker import CircuitBreaker
from recollect.client.intercept import aws_signature
from recollect.client.intercept import model_call as calls
from recollect.client.intercept.other_services import other_service
from recollect.client.intercept.tee import ChunkListener, tee_stream
from recollect.client.intercept.visible_texts import visible_texts
from recollect.client.outbox import Outbox
from recollect.client.pending_exchanges import PendingExchanges
from recollect.client.recall import MemoryRecall
from recollect.client.suppress_errors import SuppressErrors, log
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass

MAX_SECONDS = 3_600.0


@dataclass(frozen=True)
class LearningOptions:
    """The options of a `learning()` block."""

    agent: str
    capture_only: bool
    budget_tokens: int
    timeout_s: float
    flush_s: float
    scope: Mapping[str, Any]
    required: bool = False

    def __post_init__(self) -> None:
        for name, minimum in (("timeout_s", 0.001), ("flush_s", 0.0)):
            value: object = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidInput(f"{name} must be a number of seconds, not {value!r}")
            if not minimum <= value <= MAX_SECONDS:
                limits = f"{minimum:g} to {MAX_SECONDS:g}"
                raise InvalidInput(f"{name} must be {limits} seconds, not {value}")


class LearningSession:
    """
    An open block. Nested blocks know the session around them as `outer`.

    If *memory* is None, because its store cannot be opened, calls pass unchanged.
    """

    def __init__(
        self,
        memory: Any,
        options: LearningOptions,
        outer: "LearningSession | None",
        *,
        breaker: CircuitBreaker,
        on_close: Callable[[], None],
    ) -> None:
        self._left = False
        self._has_recognised_call = False
        self._other_services: dict[str, None] = {}  # that were called, in order
        self._pid = os.getpid()
        self.outer = outer
        self._options = options
        self._warned = False
        self._lock = threading.Lock()
        self._open_responses: set[calls.ResponseRecorder] = set()
        self._breaker = breaker
        self._is_available = memory is not None
        scope = {"agent": options.agent, **options.scope}
        self._outbox = Outbox(
            memory,
            scope,
            breaker=breaker,
            warn=self.warn,
            warn_outage=self.warn_outage,
            on_close=on_close,
        )
        self._pending = PendingExchanges(self._record)
        self._recall: MemoryRecall | None = None
        if self._is_available and not options.capture_only:
            budget = options.budget_tokens
            self._recall = MemoryRecall(
                memory,
                {**scope, "budget_tokens": budget, "form": "markdown", "metadata": False},
                timeout_s=options.timeout_s,
                breaker=breaker,
                warn=self.warn_outage,
            )

    @property
    def is_open(self) -> bool:
        """Whether the block is open. Never in a forked process: threads do not survive a fork."""
        return not self._left and self._pid == os.getpid()

    def leave(self) -> None:
        """Stop accepting calls because the block has ended."""
        self._left = True

    @property
    def injects_memory(self) -> bool:
        """Whether memory is added to requests; if not, calls are only recorded."""
        return self._recall is not None

    def parse_request(self, request: Any) -> calls.ModelRequest | None:
        """Return *request* as a call to a language model, or None if it is something else."""
        if self._is_available:
            with self._suppress_errors():
                model_request = calls.parse_model_request(request)
                self._count_call(request, is_recognised=model_request is not None)
                return model_request
        return None

    def _count_call(self, request: Any, *, is_recognised: bool) -> None:
        if is_recognised:
            self._has_recognised_call = True
        elif request.method == "POST" and (service := other_service(request.url.path)):
            self.note_other_service(service)

    def note_other_service(self, service: str) -> None:
        """Remember that the block called a service whose calls are not recorded."""
        with self._lock:
            self._other_services[service] = None

    def inject_memory(self, model_request: calls.ModelRequest, request: Any) -> Any:
        """Return *request* with relevant memory added to its body."""
        if self._recall is None:
            return request
        with self._suppress_errors():
            query = model_request.dialect.last_user_text(model_request.body)
            text = self._recall.memory_text(
                query, visible_texts(model_request.body), asked_at=model_request.asked_at
            )
            return self._with_memory(model_request, request, text) if text else request
        return request

    def _with_memory(self, model_request: calls.ModelRequest, request: Any, text: str) -> Any:
        """Return a new request with memory; the given one if its signature would be wrong."""
        changed = calls.with_body(request, model_request.with_memory(text))
        if aws_signature.is_signed(request) and not aws_signature.sign_again(changed):
            self.warn(
                "a call is signed for AWS with credentials that are not known here, so memory "
                "cannot be added to it; such calls are only recorded"
            )
            return request
        return changed

    def tap_response(
        self, model_request: calls.ModelRequest, http: ModuleType, response: Any
    ) -> None:
        """Record the response while the caller reads it, without changing what the caller gets."""
        with self._suppress_errors():
            if not response.is_success:
                return
            recorder = calls.ResponseRecorder(model_request, response, self._remember)
            if response.is_stream_consumed:
                recorder.add_all(response.content)
                return
            with self._lock:
                self._open_responses.add(recorder)
            response.stream = tee_stream(http, response.stream, self._listener(recorder))

    def note_stored(self, texts: Iterable[str]) -> None:
        """Do not record calls with these user messages: an adapter has stored them."""
        self._pending.note_stored(texts)

    def close(self) -> None:
        """Record unfinished responses, store what is queued and release all resources."""
        if self._pid != os.getpid():
            return
        with self._lock:
            unfinished = list(self._open_responses)
        for recorder in unfinished:
            recorder.finish()  # the part that was read is stored
        if self._other_services and not self._has_recognised_call:
            names = ", ".join(self._other_services)
            self.warn(
                f"no call of this block was recorded: it called {names}, which learning() does not "
                "support; use `context_for` and `conversations.append` around these calls"
            )
        if self._recall is not None:
            self._recall.close()
        self._pending.release()
        self._outbox.close(self._options.flush_s)

    def warn(self, message: str) -> None:
        """Log the first problem of this session as a warning, later ones at debug level."""
        with self._lock:
            first, self._warned = not self._warned, True
        level = logging.WARNING if first else logging.DEBUG
        log.log(level, "%s: %s", self._options.agent, message)

    def warn_outage(self, message: str) -> None:
        """Log that the memory failed: the first time of an outage, and of this session, loudly."""
        with self._lock:
            is_first = not self._warned and self._breaker.claim_warning()
            self._warned = True
        log.log(
            logging.WARNING if is_first else logging.DEBUG, "%s: %s", self._options.agent, message
        )

    def _listener(self, recorder: calls.ResponseRecorder) -> ChunkListener:
        def listen(chunk: bytes | None) -> None:
            with self._suppress_errors():
                recorder.finish() if chunk is None else recorder.add_chunk(chunk)

        return listen

    def _remember(self, recorder: calls.ResponseRecorder) -> None:
        with self._lock:
            self._open_responses.discard(recorder)
        self._pending.add(recorder)

    def _record(self, recorder: calls.ResponseRecorder) -> None:
        self._outbox.put(recorder.captured_messages, recorder.size)

    def _suppress_errors(self) -> SuppressErrors:
        return SuppressErrors(self.warn, "a model call continues without memory")
