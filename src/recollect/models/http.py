"""
Embed elsewhere: Ollama, or any server that speaks OpenAI's embeddings call.

Nothing is sent unless the user chose one of these. Every failure, from a refused connection to an
answer of the wrong shape, is an `EmbedderUnavailable` that names the server and the next step.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import numpy as np

from recollect.errors import EmbedderUnavailable
from recollect.models.protocol import Vectors, unit

TIMEOUT_S = 30.0
QUESTION_TIMEOUT_S = 5.0  # somebody waits for the answer, and words can do without
BATCH = 64


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
        if not (self._key.isascii() and self._key.isprintable()):
            raise self._unavailable("cannot be asked: the key has characters that no key has")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            response = self._client.post(
                self._url + path, json=body, headers=headers, timeout=timeout_s
            )
            response.raise_for_status()
            return response.json()
        except httpx2.HTTPStatusError as error:
            detail = error.response.text[:200]
            raise self._unavailable(f"answered {error.response.status_code}: {detail}") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            raise self._unavailable(str(error) or type(error).__name__) from error

    def _unavailable(self, what: str) -> EmbedderUnavailable:
        hint = (
            f"is Ollama running, and was `ollama pull {self._model}` done?"
            if self._kind == "ollama"
            else "check the address, the key and the model's name"
        )
        shown = re.sub(r"(?<=//)[^/@]*@", "", self._url)  # a password in the address stays private
        return EmbedderUnavailable(f"the embedder at {shown} {what}; {hint}")
