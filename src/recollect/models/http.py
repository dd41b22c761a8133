"""
Embed elsewhere: Ollama, or any server that speaks OpenAI's embeddings call.

Nothing is sent unless the user chose one of these. Every failure, from a refused connection to an
answer of the wrong shape, is an `EmbedderUnavailable` that names the server and the next step.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import numpy as np

from recollect.errors import EmbedderUnavailable
from recollect.models.post import (
    CallFailed,
    Deadline,
    check_key,
    post,
    read_json,
    shown_address,
    shown_words,
)
from recollect.models.protocol import Vectors, unit

TIMEOUT_S = 30.0
QUESTION_TIMEOUT_S = 5.0  # somebody waits for the answer, and words can do without
BATCH = 64
MAX_BYTES = 64_000_000  # a batch of long vectors, written generously, is a tenth of it


class HttpEmbedder:
    """An embedder behind HTTP. Its dimension is known once it has answered."""

    def __init__(self, *, kind: str, url: str, model: str, key: str = "") -> None:
        self._kind = kind
        self._url = url.rstrip("/")
        self._model = model
        self._key = key.strip()
        self._client = httpx2.Client()
        self._dimension = 0

    @property
    def name(self) -> str:
        """Names the server's kind and the model."""
        return f"{self._kind}:{self._model}"

    @property
    def dimension(self) -> int:
        """The length of a vector; asks the server once."""
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        return self._embed(texts, TIMEOUT_S)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a question."""
        first: Vectors = self._embed([text], QUESTION_TIMEOUT_S)[0]
        return first

    def _embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        rows: list[Any] = []
        for start in range(0, len(texts), BATCH):
            rows += self._ask(list(texts[start : start + BATCH]), timeout_s)
        try:
            with np.errstate(over="ignore"):
                vectors = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError, OverflowError) as error:
            raise self._unavailable(
                f"answered with something that is no vector: {error}"
            ) from error
        if len(rows) != len(texts):
            raise self._unavailable(f"answered {len(rows)} vectors for {len(texts)} texts")
        if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
            raise self._unavailable("answered with something that is no vector of finite numbers")
        if self._dimension and vectors.shape[1] != self._dimension:
            raise self._unavailable(
                f"changed its dimension from {self._dimension} to {vectors.shape[1]}"
            )
        self._dimension = vectors.shape[1]
        return unit(vectors)

    def _ask(self, texts: list[str], timeout_s: float) -> list[Any]:
        body = {"model": self._model, "input": texts}
        path = "/api/embed" if self._kind == "ollama" else "/embeddings"
        answer = self._post(path, body, timeout_s)
        try:
            if self._kind == "ollama":
                return list(answer["embeddings"])
            ordered = sorted(answer["data"], key=lambda row: row["index"])
            return [row["embedding"] for row in ordered]
        except (KeyError, TypeError) as error:
            raise self._unavailable(f"answered without embeddings ({error!r})") from error

    def _post(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Any:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            check_key(self._key)
            with Deadline(timeout_s) as deadline:
                answer = post(
                    self._url + path,
                    body,
                    headers=headers,
                    deadline=deadline,
                    max_bytes=MAX_BYTES,
                    client=self._client,
                )
            if answer.accepted:
                return read_json(answer.body)
        except CallFailed as error:
            raise self._unavailable(str(error)) from error
        said = shown_words(answer.text, key=self._key)
        raise self._unavailable(f"answered {answer.status}: {said}")

    def _unavailable(self, what: str) -> EmbedderUnavailable:
        hint = (
            f"is Ollama running, and was `ollama pull {self._model}` done?"
            if self._kind == "ollama"
            else "check the address, the key and the model's name"
        )
        return EmbedderUnavailable(f"the embedder at {shown_address(self._url)} {what}; {hint}")
