"""
Chat elsewhere: any server that speaks OpenAI's chat completions, Ollama's among them, or
Anthropic's messages.

Nothing is sent unless the user chose one of these. An answer is wanted whole, at temperature 0. A
model that refuses one of our parameters is asked again without it, and from then on as it likes.
Every failure is a `ModelUnavailable` that names the server and the next step.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from recollect.errors import ModelUnavailable
from recollect.models.chat import Completion, completion
from recollect.models.chat_answer import Dialect, Reading, read_answer
from recollect.models.chat_stream import whole_answer
from recollect.models.post import (
    Answer,
    CallFailed,
    Deadline,
    check_key,
    post,
    read_json,
    shown_address,
    shown_words,
)

Kind = Literal["openai", "ollama", "anthropic"]

TIMEOUT_S = 60.0
MAX_BYTES = 4_000_000
MAX_RETRY_AFTER_S = 86_400.0
ANTHROPIC_VERSION = "2023-06-01"

_PATHS: dict[Kind, str] = {
    "openai": "/chat/completions",
    "ollama": "/v1/chat/completions",
    "anthropic": "/v1/messages",
}
_BUSY = (429, 503, 529)  # 529 is Anthropic's: overloaded
_NEXT_STEPS = {
    401: "check the key",
    403: "check the key, and that it may use this model",
    404: "check the address and the model's name",
    **dict.fromkeys((301, 302, 303, 307, 308), "set the address it leads to"),
    **dict.fromkeys(_BUSY, "try again later"),
}


class HttpChatModel:
    """A chat model behind HTTP. Safe to share between threads; it keeps no connection."""

    def __init__(
        self, *, kind: Kind, url: str, model: str, key: str = "", timeout_s: float = TIMEOUT_S
    ) -> None:
        self._kind = kind
        self._dialect: Dialect = "anthropic" if kind == "anthropic" else "openai"
        self._url = url.rstrip("/")
        self._model = model
        self._key = key.strip()
        self._timeout_s = timeout_s
        self._refused: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Names the server's kind and the model."""
        return f"{self._kind}:{self._model}"

    def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
        """Return the model's answer, of at most about *max_tokens* tokens."""
        body = self._body(system, prompt, max_tokens)
        try:
            check_key(self._key)
            with Deadline(self._timeout_s) as deadline:
                answer = self._ask(body, deadline)
            if not answer.accepted:
                raise self._declined(answer)
            reading = self._read(answer)
        except CallFailed as error:
            raise self._unavailable(str(error), error.next_step) from error
        return completion(
            reading.text,
            system=system,
            prompt=prompt,
            input_tokens=reading.input_tokens,
            output_tokens=reading.output_tokens,
        )

    def _ask(self, body: dict[str, Any], deadline: Deadline) -> Answer:
        refused = self._refused
        while True:
            answer = self._post(_without(body, refused), deadline)
            named = self._refused_by(answer) - refused
            if not named:
                break
            refused |= named
        if answer.accepted:
            self._refused = refused
        return answer

    def _refused_by(self, answer: Answer) -> frozenset[str]:
        """Return which of the parameters we can do without the server refused."""
        if answer.status != 400:
            return frozenset()
        ours = ("temperature",) if self._dialect == "anthropic" else ("temperature", "max_tokens")
        return frozenset(name for name in ours if re.search(rf"\b{name}\b", answer.text))

    def _post(self, body: Mapping[str, Any], deadline: Deadline) -> Answer:
        path = _PATHS[self._kind]
        url = self._url.removesuffix("/v1") if path.startswith("/v1/") else self._url
        return post(
            url + path, body, headers=self._headers(), deadline=deadline, max_bytes=MAX_BYTES
        )

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

    def _read(self, answer: Answer) -> Reading:
        streamed = "text/event-stream" in answer.headers.get("content-type", "").lower()
        if streamed:
            return read_answer(self._dialect, whole_answer(self._dialect, answer.body))
        return read_answer(self._dialect, read_json(answer.body, finite=True))

    def _declined(self, answer: Answer) -> ModelUnavailable:
        what = f"answered {answer.status}: {answer.text}".rstrip(": ")
        wait = retry_after_s(answer, now=datetime.now(UTC))
        return self._unavailable(what, _NEXT_STEPS.get(answer.status, ""), wait)

    def _unavailable(
        self, what: str, next_step: str = "", wait_s: float | None = None
    ) -> ModelUnavailable:
        usual = (
            f"is Ollama running, and was `ollama pull {self._model}` done?"
            if self._kind == "ollama"
            else "check the address, the key and the model's name"
        )
        where, said = shown_address(self._url), shown_words(what, key=self._key)
        message = f"the chat model at {where} {said}; {next_step or usual}"
        return ModelUnavailable(message, retry_after_s=wait_s)


def retry_after_s(answer: Answer, *, now: datetime) -> float | None:
    """Return for how many seconds a busy server wants to be left alone, if it says so."""
    written = answer.headers.get("retry-after", "").strip()
    if answer.status not in _BUSY or not written:
        return None
    try:
        wait_s = float(written) if re.fullmatch(r"[0-9.]+", written) else _until(written, now)
    except (ValueError, OverflowError):
        return None
    return min(max(wait_s, 0.0), MAX_RETRY_AFTER_S)


def _until(written: str, now: datetime) -> float:
    at = parsedate_to_datetime(written)
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()


def _without(body: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
    """Return *body* without what was refused; `max_tokens` has a newer name to go by."""
    kept = {name: value for name, value in body.items() if name not in refused}
    return (
        {**kept, "max_completion_tokens": body["max_tokens"]} if "max_tokens" in refused else kept
    )
