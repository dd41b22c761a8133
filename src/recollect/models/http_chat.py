"""
Chat models on a server: OpenAI's chat completions (also Ollama's), or Anthropic's messages.

Nothing is sent unless the user configured one of these. `complete` asks without streaming, at
temperature 0; `stream_turn` asks for a stream, and may offer tools. If a server rejects one of our
parameters, the request is repeated without it, and later requests omit it. Every failure is a
`ModelUnavailable` that names the server and the next step.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from recollect.errors import ContextOverflow, InvalidModelResponse, ModelUnavailable
from recollect.models import http_post
from recollect.models.chat_model import Completion, make_completion
from recollect.models.chat_response import Dialect, ParsedCompletion, parse_completion
from recollect.models.chat_stream import DONE, join_stream
from recollect.models.chat_turn import TurnPart, TurnRequest
from recollect.models.http_post import CallFailed, Deadline, HttpResponse, OpenResponse
from recollect.models.turn_request import turn_body
from recollect.models.turn_response import turn_reader
from recollect.tracing import trace_step
from recollect.wire.sse_decoder import SseDecoder

ChatServerKind = Literal["openai", "ollama", "anthropic"]

TIMEOUT_S = 60.0
TURN_TIMEOUT_S = 600.0  # a long answer is written for minutes
MAX_BYTES = 4_000_000
MAX_TURN_BYTES = 32_000_000  # each token of a stream is an event of a few hundred bytes
MAX_RETRY_AFTER_S = 86_400.0
ANTHROPIC_VERSION = "2023-06-01"

_PATHS: dict[ChatServerKind, str] = {
    "openai": "/chat/completions",
    "ollama": "/v1/chat/completions",
    "anthropic": "/v1/messages",
}
_BUSY = (429, 503, 529)  # 529 is Anthropic's code for overloaded
_TRANSIENT = (408, *_BUSY, 500, 502, 504)
_OVERFLOW = re.compile(
    r"context[_ ](length|size|window)|prompt is too long|input is too long|too many (input )?tokens"
    r"|maximum (context|prompt)|exceeds? the (available |maximum )?context",
    re.IGNORECASE,
)
_NEXT_STEPS = {
    401: "check the key",
    403: "check the key, and that it may use this model",
    404: "check the address and the model's name",
    **dict.fromkeys((301, 302, 303, 307, 308), "set the address it redirects to"),
    **dict.fromkeys(_BUSY, "try again later"),
}


class HttpChatModel:
    """A chat model behind HTTP. Safe to share between threads; keeps no connection open."""

    def __init__(
        self,
        *,
        kind: ChatServerKind,
        url: str,
        model: str,
        key: str = "",
        timeout_s: float = TIMEOUT_S,
        turn_timeout_s: float = TURN_TIMEOUT_S,
    ) -> None:
        self.name = f"{kind}:{model}"
        self._kind = kind
        self._dialect: Dialect = "anthropic" if kind == "anthropic" else "openai"
        self._url = url.rstrip("/")
        self._model = model
        self._key = key.strip()
        self._timeout_s = timeout_s
        self._turn_timeout_s = turn_timeout_s
        self._rejected: frozenset[str] = frozenset()

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Return the model's answer, of at most about *max_tokens* tokens."""
        body = self._body(system, prompt, max_tokens)
        try:
            http_post.validate_key(self._key)
            with trace_step("model call", model=self.name), Deadline(self._timeout_s) as deadline:
                response = self._send(body, deadline)
            if not response.is_success:
                raise self._status_error(response)
            parsed = self._parse(response)
        except CallFailed as error:
            raise self._call_error(error) from error
        counts = {"input_tokens": parsed.input_tokens, "output_tokens": parsed.output_tokens}
        return make_completion(parsed.text, system=system, prompt=prompt, **counts)

    def stream_turn(self, request: TurnRequest) -> Iterator[TurnPart]:
        """Yield the parts of the answer as they arrive, and at the end the `Turn`."""
        body = turn_body(self._dialect, self._model, request)
        try:
            http_post.validate_key(self._key)
            with (
                trace_step("model call", model=self.name),
                Deadline(self._turn_timeout_s) as deadline,
                self._open_turn(body, deadline) as response,
            ):
                yield from self._read_turn(response)
        except CallFailed as error:
            raise self._call_error(error) from error

    @contextmanager
    def _open_turn(self, body: dict[str, Any], deadline: Deadline) -> Iterator[OpenResponse]:
        """Give the response to *body*, or to what is left of it without rejected parameters."""
        rejected = self._rejected
        while True:
            with ExitStack() as stack:
                opened = stack.enter_context(
                    http_post.post(
                        self._endpoint,
                        _without_parameters(body, rejected),
                        headers=self._headers(),
                        deadline=deadline,
                        max_bytes=MAX_TURN_BYTES,
                    )
                )
                if 200 <= opened.status < 300:
                    self._rejected = rejected
                    yield opened
                    return
                response = opened.read()
            new = self._rejected_parameters(response) - rejected
            if not new:
                raise self._status_error(response)
            rejected |= new

    def _read_turn(self, response: OpenResponse) -> Iterator[TurnPart]:
        reader = turn_reader(self._dialect)
        if "text/event-stream" not in response.headers.get("content-type", "").lower():
            yield from reader.read(http_post.read_json(response.read().body, finite=True))
        else:
            for data in _event_data(response.chunks):
                is_end = data.strip() == DONE
                yield from reader.read(None if is_end else http_post.read_json(data, finite=True))
                if is_end:
                    break
        yield reader.turn()

    def _send(self, body: dict[str, Any], deadline: Deadline) -> HttpResponse:
        rejected = self._rejected
        while True:
            response = self._post(_without_parameters(body, rejected), deadline)
            new = self._rejected_parameters(response) - rejected
            if not new:
                break
            rejected |= new
        if response.is_success:
            self._rejected = rejected
        return response

    def _rejected_parameters(self, response: HttpResponse) -> frozenset[str]:
        """Return the optional parameters that the server rejected."""
        if response.status != 400:
            return frozenset()
        openai = ["max_tokens", "stream_options"] if self._dialect == "openai" else []
        optional = ["temperature", *openai]
        return frozenset(name for name in optional if re.search(rf"\b{name}\b", response.text))

    def _post(self, body: Mapping[str, Any], deadline: Deadline) -> HttpResponse:
        headers = self._headers()
        with http_post.post(
            self._endpoint, body, headers=headers, deadline=deadline, max_bytes=MAX_BYTES
        ) as response:
            return response.read()

    @property
    def _endpoint(self) -> str:
        path = _PATHS[self._kind]
        url = self._url.removesuffix("/v1") if path.startswith("/v1/") else self._url
        return url + path

    def _headers(self) -> dict[str, str]:
        if self._dialect == "anthropic":
            key = {"x-api-key": self._key} if self._key else {}
            return {"anthropic-version": ANTHROPIC_VERSION, **key}
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def _body(self, system: str, prompt: str, max_tokens: int) -> dict[str, Any]:
        messages = [{"role": "user", "content": prompt}]
        body = {"model": self._model, "max_tokens": max_tokens, "temperature": 0, "stream": False}
        if not system:
            return {**body, "messages": messages}
        if self._dialect == "anthropic":
            return {**body, "system": system, "messages": messages}
        return {**body, "messages": [{"role": "system", "content": system}, *messages]}

    def _parse(self, response: HttpResponse) -> ParsedCompletion:
        if "text/event-stream" in response.headers.get("content-type", "").lower():
            return parse_completion(self._dialect, join_stream(self._dialect, response.body))
        return parse_completion(self._dialect, http_post.read_json(response.body, finite=True))

    def _status_error(self, response: HttpResponse) -> ModelUnavailable:
        problem = f"answered {response.status}: {response.text}".rstrip(": ")
        if response.status in (400, 413, 500) and _OVERFLOW.search(response.text):
            return ContextOverflow(self._message(problem, "compact the conversation"))
        wait_s = retry_after_s(response, now=datetime.now(UTC))
        return ModelUnavailable(
            self._message(problem, _NEXT_STEPS.get(response.status, "")),
            retry_after_s=wait_s,
            is_transient=response.status in _TRANSIENT,
        )

    def _call_error(self, error: CallFailed) -> ModelUnavailable:
        message = self._message(str(error), error.next_step)
        if _OVERFLOW.search(str(error)):
            return ContextOverflow(message)
        if error.transient:
            return ModelUnavailable(message, is_transient=True)
        return InvalidModelResponse(message)

    def _message(self, problem: str, next_step: str) -> str:
        url = http_post.url_without_credentials(self._url)
        excerpt = http_post.safe_excerpt(problem, key=self._key)
        step = next_step or http_post.default_next_step(self._kind, self._model)
        return f"the chat model at {url} {excerpt}; {step}"


def _event_data(chunks: Iterator[bytes]) -> Iterator[str]:
    """Yield the data of each event of a stream."""
    decoder = SseDecoder()
    try:
        for chunk in chunks:
            yield from decoder.feed(chunk)
        yield from decoder.close()
    except UnicodeDecodeError as error:
        raise CallFailed(f"streamed something that is not text: {error}") from error
    if decoder.stray:
        raise CallFailed(f"streamed something that is not an event: {decoder.stray}")


def retry_after_s(response: HttpResponse, *, now: datetime) -> float | None:
    """Return the seconds that a busy server asks clients to wait, or None."""
    value = response.headers.get("retry-after", "").strip()
    if response.status not in _BUSY or not value:
        return None
    try:
        wait_s = float(value) if re.fullmatch(r"[0-9.]+", value) else _seconds_until(value, now)
    except (ValueError, OverflowError):
        return None
    return min(max(wait_s, 0.0), MAX_RETRY_AFTER_S)


def _seconds_until(date: str, now: datetime) -> float:
    at = parsedate_to_datetime(date)
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()


def _without_parameters(body: dict[str, Any], rejected: frozenset[str]) -> dict[str, Any]:
    """Return *body* without the rejected parameters; `max_tokens` has a newer name."""
    rest = {name: value for name, value in body.items() if name not in rejected}
    if "max_tokens" in rejected:
        rest["max_completion_tokens"] = body["max_tokens"]
    return rest
