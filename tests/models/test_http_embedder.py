"""Embedders behind HTTP, against a real server on this machine."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from recollect.errors import EmbedderUnavailable
from recollect.models.http_embedder import BATCH, HttpEmbedder
from tables import each_row

pytestmark = pytest.mark.door

KINDS = ("ollama", "openai")


@dataclass
class EmbeddingRequest:
    """A request that the server received."""

    path: str
    authorization: str | None
    body: Any


@dataclass
class EmbeddingServer:
    """A server that responds with `answer` and records its requests."""

    url: str
    answer: Callable[[EmbeddingRequest], tuple[int, bytes]]
    requests: list[EmbeddingRequest] = field(default_factory=list)

    def embedder(self, kind: str, *, key: str = "", model: str = "m") -> HttpEmbedder:
        return HttpEmbedder(kind=kind, url=self.url, model=model, key=key)


def vector_of(text: str) -> list[float]:
    """Return a vector that tells texts apart by their length."""
    return [3.0 * len(text), 4.0]


def embeddings(request: EmbeddingRequest) -> tuple[int, bytes]:
    """Answer as Ollama does, or as OpenAI does, rows out of order."""
    vectors = [vector_of(text) for text in request.body["input"]]
    if request.path == "/api/embed":
        return 200, json.dumps({"model": "m", "embeddings": vectors}).encode()
    rows = [{"index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return 200, json.dumps({"object": "list", "data": rows[::-1]}).encode()


def always(status: int, body: bytes) -> Callable[[EmbeddingRequest], tuple[int, bytes]]:
    return lambda _: (status, body)


def vector_in(kind: str, vector: str) -> bytes:
    """Return an answer of *kind* that holds one *vector*, JSON as it is."""
    if kind == "ollama":
        return f'{{"embeddings": [{vector}]}}'.encode()
    return f'{{"data": [{{"index": 0, "embedding": {vector}}}]}}'.encode()


class EmbeddingHandler(BaseHTTPRequestHandler):
    """Calls the `answer` of the server for each request."""

    server: "EmbeddingHttpServer"

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        request = EmbeddingRequest(self.path, self.headers["Authorization"], body)
        self.server.fake.requests.append(request)
        status, answer = self.server.fake.answer(request)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class EmbeddingHttpServer(ThreadingHTTPServer):
    """A server on a free port of this machine."""

    fake: EmbeddingServer


@pytest.fixture(scope="module")
def http_server() -> Iterator[EmbeddingHttpServer]:
    """The one server of these tests."""
    with EmbeddingHttpServer(("127.0.0.1", 0), EmbeddingHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(http_server: EmbeddingHttpServer, monkeypatch: pytest.MonkeyPatch) -> EmbeddingServer:
    """The responses of that server in one test, and the requests it received."""
    monkeypatch.setenv("NO_PROXY", "*")
    http_server.fake = EmbeddingServer(f"http://127.0.0.1:{http_server.server_port}", embeddings)
    return http_server.fake


@pytest.mark.parametrize(("kind", "path"), [("ollama", "/api/embed"), ("openai", "/embeddings")])
def test_each_kind_of_server_gets_its_own_request(
    server: EmbeddingServer, kind: str, path: str
) -> None:
    server.embedder(kind, model="all-minilm").embed(["one", "three"])

    assert server.requests == [
        EmbeddingRequest(path, None, {"model": "all-minilm", "input": ["one", "three"]})
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_have_the_order_of_the_texts_and_unit_length(
    server: EmbeddingServer, kind: str
) -> None:
    vectors = server.embedder(kind).embed(["a", "bb", "cccc"])

    assert vectors.dtype == np.float32
    assert vectors == pytest.approx(
        np.array([[3, 4], [6, 4], [12, 4]]) / np.hypot([3, 6, 12], 4)[:, np.newaxis]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_query_is_embedded_like_any_text(server: EmbeddingServer, kind: str) -> None:
    vector = server.embedder(kind).embed_query("a")

    assert vector == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("kind", KINDS)
def test_no_request_is_sent_before_the_first_text(server: EmbeddingServer, kind: str) -> None:
    embedder = server.embedder(kind)

    assert embedder.name == f"{kind}:m"
    assert server.requests == []


def test_the_dimension_is_requested_once(server: EmbeddingServer) -> None:
    embedder = server.embedder("ollama")

    assert (embedder.dimension, embedder.dimension) == (2, 2)
    assert len(server.requests) == 1


def test_the_dimension_is_known_after_a_response(server: EmbeddingServer) -> None:
    embedder = server.embedder("ollama")

    embedder.embed(["a"])

    assert embedder.dimension == 2
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_many_texts_are_sent_in_batches_and_come_back_in_order(
    server: EmbeddingServer, kind: str
) -> None:
    texts = ["a" * (i % 97 + 1) for i in range(2 * BATCH + 1)]

    vectors = server.embedder(kind).embed(texts)

    assert [len(request.body["input"]) for request in server.requests] == [BATCH, BATCH, 1]
    assert vectors[:, 0] / vectors[:, 1] == pytest.approx([0.75 * len(text) for text in texts])


def test_without_texts_no_request_is_sent(server: EmbeddingServer) -> None:
    vectors = server.embedder("ollama").embed([])

    assert len(vectors) == 0
    assert server.requests == []


def test_the_key_is_sent_as_a_bearer(server: EmbeddingServer) -> None:
    server.embedder("openai", key="k3y").embed(["a"])

    assert server.requests[0].authorization == "Bearer k3y"


def test_a_slash_at_the_end_of_the_address_does_not_matter(server: EmbeddingServer) -> None:
    embedder = HttpEmbedder(kind="openai", url=server.url + "/v1/", model="m")

    embedder.embed(["a"])

    assert server.requests[0].path == "/v1/embeddings"


@pytest.mark.parametrize(
    ("kind", "status", "body"),
    [
        ("ollama", 500, b"out of memory"),
        ("ollama", 404, b'{"error": "model not found"}'),
        ("ollama", 307, b""),
        ("openai", 500, b"out of memory"),
        ("openai", 404, b'{"error": "model not found"}'),
        ("openai", 401, b"who?"),
    ],
)
def test_an_error_response_is_unavailable_with_its_status_and_text(
    server: EmbeddingServer, kind: str, status: int, body: bytes
) -> None:
    server.answer = always(status, body)

    with pytest.raises(EmbedderUnavailable) as raised:
        server.embedder(kind).embed(["a"])

    assert f"{server.url} answered {status}: {body.decode()}" in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("ollama", b""),
        ("ollama", b"<html>"),
        ("ollama", b"\xff\xfe"),
        ("ollama", b"null"),
        ("ollama", b'"text"'),
        ("ollama", b"{}"),
        ("ollama", b'{"embeddings": null}'),
        ("ollama", b'{"embeddings": {"a": 1}}'),
        ("ollama", b"[" * 100_000),
        ("openai", b"<html>"),
        ("openai", b"[]"),
        ("openai", b"{}"),
        ("openai", b'{"data": 7}'),
        ("openai", b'{"data": [{}]}'),
        ("openai", b'{"data": [{"embedding": [1, 2]}]}'),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_malformed_response_is_unavailable(
    server: EmbeddingServer, kind: str, body: bytes
) -> None:
    server.answer = always(200, body)

    with pytest.raises(EmbedderUnavailable, match=server.url):
        server.embedder(kind).embed(["a"])


@pytest.mark.parametrize(
    "vector",
    [
        "[NaN, 1]",
        "[Infinity, 1]",
        "[null, 1]",
        '["x", 1]',
        "[]",
        "7",
        "[[1]]",
        "[1e39, 1]",
        f"[1{'0' * 400}, 1]",
    ],
    ids=lambda vector: vector[:16],
)
def test_a_response_without_a_vector_is_unavailable(server: EmbeddingServer, vector: str) -> None:
    server.answer = always(200, vector_in("ollama", vector))

    with pytest.raises(EmbedderUnavailable, match=server.url):
        server.embedder("ollama").embed(["a"])


def test_a_vector_that_is_not_finite_has_its_own_message(server: EmbeddingServer) -> None:
    server.answer = always(200, vector_in("ollama", "[NaN, 1]"))

    with pytest.raises(EmbedderUnavailable) as raised:
        server.embedder("ollama").embed(["a"])

    assert "1 vectors for 1 texts" not in str(raised.value)


@pytest.mark.parametrize("kind", KINDS)
def test_fewer_vectors_than_texts_are_unavailable(server: EmbeddingServer, kind: str) -> None:
    server.answer = always(200, vector_in(kind, "[1, 2]"))

    with pytest.raises(EmbedderUnavailable, match="1 vectors for 2 texts"):
        server.embedder(kind).embed(["a", "b"])


def test_more_vectors_than_texts_are_unavailable(server: EmbeddingServer) -> None:
    server.answer = always(200, b'{"embeddings": [[1, 2], [3, 4]]}')

    with pytest.raises(EmbedderUnavailable, match="2 vectors for 1 texts"):
        server.embedder("ollama").embed(["a"])


def test_vectors_of_different_lengths_are_unavailable(server: EmbeddingServer) -> None:
    server.answer = always(200, b'{"embeddings": [[1, 2], [3]]}')

    with pytest.raises(EmbedderUnavailable, match=server.url):
        server.embedder("ollama").embed(["a", "b"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_dimension_is_unavailable(server: EmbeddingServer, kind: str) -> None:
    embedder = server.embedder(kind)
    embedder.embed(["a"])
    server.answer = always(200, vector_in(kind, "[1, 2, 3]"))

    with pytest.raises(EmbedderUnavailable, match="dimension from 2 to 3"):
        embedder.embed(["a"])

    assert embedder.dimension == 2


def test_it_works_again_when_the_server_does(server: EmbeddingServer) -> None:
    embedder = server.embedder("ollama")
    server.answer = always(503, b"loading the model")
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a"])

    server.answer = embeddings

    assert embedder.embed(["a"]).shape == (1, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_connection_is_unavailable_and_names_server_and_next_step(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound but not listening: refuses, and nobody else gets it
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        next_step = "`ollama pull m`" if kind == "ollama" else "check the address"

        with pytest.raises(EmbedderUnavailable, match=f"{url}.*{next_step}"):
            HttpEmbedder(kind=kind, url=url, model="m").embed(["a"])


@each_row("url", ["", "localhost:11434", "http://", "http://[x", "ftp://x", "a\nb"])
def test_an_invalid_address_is_unavailable(url: str) -> None:
    with pytest.raises(EmbedderUnavailable):
        HttpEmbedder(kind="ollama", url=url, model="m").embed(["a"])


@pytest.mark.parametrize("key", ["k3y\n", " k3y", "k3y "])
def test_a_key_is_sent_without_the_space_it_was_pasted_with(
    server: EmbeddingServer, key: str
) -> None:
    server.embedder("openai", key=key).embed(["a"])

    assert server.requests[0].authorization == "Bearer k3y"


@pytest.mark.parametrize("key", ["k3y\nk3y", "k3y\u201d"], ids=["newline", "quote"])
def test_a_key_that_cannot_be_sent_is_unavailable_and_not_shown(
    server: EmbeddingServer, key: str
) -> None:
    with pytest.raises(EmbedderUnavailable) as raised:
        server.embedder("openai", key=key).embed(["a"])

    assert "k3y" not in str(raised.value)


def test_a_password_in_the_address_is_not_shown(server: EmbeddingServer) -> None:
    server.answer = always(500, b"")
    url = server.url.replace("http://", "http://ana:hunter2@")

    with pytest.raises(EmbedderUnavailable) as raised:
        HttpEmbedder(kind="ollama", url=url, model="m").embed(["a"])

    assert "hunter2" not in str(raised.value)
    assert server.url.removeprefix("http://") in str(raised.value)
