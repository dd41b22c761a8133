"""
Embed on a server: Ollama, or any server with OpenAI's embeddings endpoint.

Nothing is sent unless the user configured one of these. Every failure, from a refused connection to
a malformed response, is an `EmbedderUnavailable` that names the server and the next step.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import numpy as np

from recollect.errors import EmbedderUnavailable
from recollect.models import http_post
from recollect.models.embedder import Vectors, unit
from recollect.models.http_post import CallFailed, Deadline

TIMEOUT_S = 30.0
QUERY_TIMEOUT_S = 5.0  # a user waits, and a search works by words alone
BATCH = 64
MAX_BYTES = 64_000_000  # about ten times a batch of long vectors


class HttpEmbedder:
    """An embedder behind HTTP. Its dimension is known after the first response."""

    def __init__(self, *, kind: str, url: str, model: str, key: str = "") -> None:
        self.name = f"{kind}:{model}"
        self._kind = kind
        self._url = url.rstrip("/")
        self._model = model
        self._key = key.strip()
        self._client = httpx2.Client()
        self._dimension = 0

    @property
    def dimension(self) -> int:
        """The length of a vector; calls the server once."""
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector per text."""
        return self._embed(texts, TIMEOUT_S)

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        first: Vectors = self._embed([text], QUERY_TIMEOUT_S)[0]
        return first

    def _embed(self, texts: Sequence[str], timeout_s: float) -> Vectors:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        rows: list[Any] = []
        for start in range(0, len(texts), BATCH):
            rows += self._request_vectors(list(texts[start : start + BATCH]), timeout_s)
        try:
            with np.errstate(over="ignore"):
                vectors = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError, OverflowError) as error:
            problem = f"answered with something that is not a vector: {error}"
            raise self._unavailable(problem) from error
        if len(rows) != len(texts):
            raise self._unavailable(f"answered {len(rows)} vectors for {len(texts)} texts")
        if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
            problem = "answered with something that is not a vector of finite numbers"
            raise self._unavailable(problem)
        dimension = vectors.shape[1]
        if self._dimension and dimension != self._dimension:
            raise self._unavailable(f"changed its dimension from {self._dimension} to {dimension}")
        self._dimension = dimension
        return unit(vectors)

    def _request_vectors(self, texts: list[str], timeout_s: float) -> list[Any]:
        body = {"model": self._model, "input": texts}
        path = "/api/embed" if self._kind == "ollama" else "/embeddings"
        response = self._post(path, body, timeout_s)
        try:
            if self._kind == "ollama":
                return list(response["embeddings"])
            ordered = sorted(response["data"], key=lambda row: row["index"])
            return [row["embedding"] for row in ordered]
        except (KeyError, TypeError) as error:
            raise self._unavailable(f"answered without embeddings ({error!r})") from error

    def _post(self, path: str, body: Mapping[str, Any], timeout_s: float) -> Any:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            http_post.validate_key(self._key)
            with (
                Deadline(timeout_s) as deadline,
                http_post.post(
                    self._url + path,
                    body,
                    headers=headers,
                    deadline=deadline,
                    max_bytes=MAX_BYTES,
                    client=self._client,
                ) as opened,
            ):
                response = opened.read()
            if response.is_success:
                return http_post.read_json(response.body)
        except CallFailed as error:
            raise self._unavailable(str(error)) from error
        excerpt = http_post.safe_excerpt(response.text, key=self._key)
        raise self._unavailable(f"answered {response.status}: {excerpt}")

    def _unavailable(self, what: str) -> EmbedderUnavailable:
        step = http_post.default_next_step(self._kind, self._model)
        url = http_post.url_without_credentials(self._url)
        return EmbedderUnavailable(f"the embedder at {url} {what}; {step}")
