"""Spans of requests, verbs, transactions, embeddings and model calls, by the real SDK."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from starlette.testclient import TestClient

from chat_server import ChatServer, openai_reply, run_http_server
from recollect import LocalRecollect, NotFound
from recollect.config import Settings
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.server.otel_tracer import recorded_by, traces_to
from recollect.server.web_app import web_app
from server_process import run_server, without_embedder
from support import open_memory

pytestmark = pytest.mark.door

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def recorded() -> Iterator[InMemorySpanExporter]:
    """The spans of the test."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with recorded_by(provider):
        yield exporter
    provider.shutdown()


@pytest.fixture
def rec(path: Path) -> Iterator[LocalRecollect]:
    with open_memory(path, embedder=ScriptedEmbedder()) as opened:
        yield opened


def client_of(rec: LocalRecollect) -> TestClient:
    """A client of the application; without a worker, because it is not entered."""
    return TestClient(web_app(rec, Settings()), base_url="http://127.0.0.1:8283")


def tree(spans: Sequence[ReadableSpan]) -> list[str]:
    """Return the names of the spans in the order in which they began, indented as a tree."""
    by_id = {span.context.span_id: span for span in spans}

    def depth(span: ReadableSpan) -> int:
        parent = by_id.get(span.parent.span_id) if span.parent else None
        return 0 if parent is None else 1 + depth(parent)

    in_order = sorted(spans, key=lambda span: span.start_time or 0)
    return [f"{'  ' * depth(span)}{span.name}" for span in in_order]


def test_a_search_is_a_request_with_its_verb_its_reads_and_its_embedding(
    rec: LocalRecollect, recorded: InMemorySpanExporter
) -> None:
    rec.ingest("The zebra sleeps standing.")
    rec.drain()
    recorded.clear()
    client = client_of(rec)

    client.post("/api/search", json={"query": "how does the zebra sleep?"})

    spans = recorded.get_finished_spans()
    lines = tree(spans)
    assert lines[:2] == ["POST /api/search", "  verb search"]
    assert {"    store read", "    embed"} == set(lines[2:])
    [request] = [span for span in spans if span.parent is None]
    assert request.kind is SpanKind.SERVER
    assert dict(request.attributes or {}) | {"request_id": "?"} == {
        "http.request.method": "POST",
        "http.route": "/api/search",
        "http.response.status_code": 200,
        "request_id": "?",
    }


def test_a_write_is_a_transaction_and_a_job_is_a_trace_of_its_own(
    rec: LocalRecollect, recorded: InMemorySpanExporter
) -> None:
    rec.ingest("The zebra sleeps standing.")
    assert tree(recorded.get_finished_spans()) == ["verb ingest", "  store write"]

    rec.capture_session([{"role": "user", "content": "We use pnpm here, not npm."}])
    recorded.clear()
    list(rec.engine.run_jobs_in_steps())

    roots = [span.name for span in recorded.get_finished_spans() if span.parent is None]
    assert roots == ["job extract", "job consolidate"]


def test_a_request_continues_the_trace_of_its_caller(
    rec: LocalRecollect, recorded: InMemorySpanExporter
) -> None:
    parent = f"00-{TRACE_ID}-00f067aa0ba902b7-01"
    client = client_of(rec)

    client.get("/live", headers={"traceparent": parent})
    client.get("/live", headers={"traceparent": "nonsense"})

    traces = [f"{span.context.trace_id:032x}" for span in recorded.get_finished_spans()]
    assert traces[0] == TRACE_ID
    assert traces[1] != TRACE_ID


def test_a_span_that_failed_has_the_class_of_the_error_and_no_message(
    rec: LocalRecollect, recorded: InMemorySpanExporter
) -> None:
    with pytest.raises(NotFound):
        rec.memories.get("quagga")

    verb = recorded.get_finished_spans()[-1]
    assert verb.name == "verb get_memory"
    assert verb.status.status_code is StatusCode.ERROR
    assert verb.status.description is None
    assert dict(verb.attributes or {}) == {"error.type": "NotFound"}
    assert verb.events == ()


def test_no_word_of_a_memory_is_in_a_span(
    rec: LocalRecollect, recorded: InMemorySpanExporter
) -> None:
    client = client_of(rec)
    client.post("/api/memories", json={"content": "zebra stripes", "project": "savanna"})
    client.post("/agents", json={"name": "anna"})
    client.get("/agents/anna")
    client.get("/agents/nobody-quagga")
    client.get("/v1/agents/anna")
    client.get("/quagga?query=quagga")
    client.post("/api/search", json={"query": "quagga", "project": "savanna"})
    client.post("/api/search", json={"query": "quagga", "project": 3})
    client.post("/api/context", json={"query": "quagga", "project": "savanna"})
    rec.capture_session([{"role": "user", "content": "We use quagga here."}])
    rec.drain()

    text = "".join(span.to_json() for span in recorded.get_finished_spans()).lower()
    assert len(recorded.get_finished_spans()) > 30
    assert [word for word in ("zebra", "savanna", "anna", "quagga") if word in text] == []


def test_reading_a_long_export_in_other_threads_is_one_span(
    rec: LocalRecollect, recorded: InMemorySpanExporter
) -> None:
    rec.ingest("The zebra sleeps standing.")
    recorded.clear()
    response = client_of(rec).get("/api/export")

    assert response.status_code == 200
    names = [span.name for span in recorded.get_finished_spans()]
    assert "verb export" in names
    assert all(span.end_time for span in recorded.get_finished_spans())


@pytest.mark.door
def test_a_model_call_is_a_span_with_the_name_of_the_model(
    path: Path, server: ChatServer, recorded: InMemorySpanExporter
) -> None:
    server.replies = [openai_reply("[]")]
    settings = Settings(
        db=str(path),
        embedding_backend="none",
        chat_backend="openai",
        chat_model="m",
        openai_url=server.url,
    )
    with LocalRecollect(settings) as rec:
        rec.capture_session([{"role": "user", "content": "We use pnpm here, not npm."}])
        rec.drain()

    [call] = [span for span in recorded.get_finished_spans() if span.name == "model call"]
    assert dict(call.attributes or {}) == {"model": "openai:m"}


def test_without_a_tracer_nothing_is_recorded(rec: LocalRecollect) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with recorded_by(provider):
        rec.ingest("The zebra sleeps standing.")
    count = len(exporter.get_finished_spans())
    rec.ingest("The quagga is extinct.")

    assert count == len(exporter.get_finished_spans()) == 2


def test_a_setting_without_the_packages_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)

    with (
        pytest.raises(Exception, match=r"pip install 'recollect\[otel\]'"),
        traces_to("http://127.0.0.1:9/v1/traces"),
    ):
        pass


@pytest.mark.door
def test_a_server_without_the_setting_loads_nothing_of_it() -> None:
    code = (
        "import sys\n"
        "from recollect.server.serve import serve\n"
        "from recollect.server.web_app import web_app\n"
        "from recollect.app.local_recollect import LocalRecollect\n"
        "from recollect.config import Settings\n"
        "settings = Settings(db=':memory:', embedding_backend='none')\n"
        "with LocalRecollect(settings) as rec:\n"
        "    web_app(rec, settings)\n"
        "    rec.ingest('Answers should be short.')\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.exporter')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == ["[]", "[]"]


class CollectorServer(ThreadingHTTPServer):
    """Receives what is exported."""

    bodies: list[bytes]


class CollectorHandler(BaseHTTPRequestHandler):
    server: CollectorServer

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log."""


@pytest.mark.door
def test_a_server_sends_its_spans_to_the_collector(tmp_path: Path) -> None:
    with CollectorServer(("127.0.0.1", 0), CollectorHandler) as collector:
        collector.bodies = []
        with run_http_server(collector) as url:
            env = without_embedder(
                RECOLLECT_TRACE_ENDPOINT=f"{url}/v1/traces",
                OTEL_EXPORTER_OTLP_COMPRESSION="none",
                XDG_STATE_HOME=str(tmp_path),
            )
            with run_server(tmp_path / "memory.db", env=env, log=tmp_path / "log") as server:
                httpx2.post(f"{server.url}/api/memories", json={"content": "The zebra sleeps."})

    sent = b"".join(collector.bodies)
    for part in (b"POST /api/memories", b"verb ingest", b"store write", b"recollect"):
        assert part in sent
    assert b"zebra" not in sent


@pytest.mark.door
def test_a_collector_that_is_not_there_keeps_no_server_from_ending(tmp_path: Path) -> None:
    env = without_embedder(
        RECOLLECT_TRACE_ENDPOINT="http://127.0.0.1:9/v1/traces", XDG_STATE_HOME=str(tmp_path)
    )
    with run_server(tmp_path / "memory.db", env=env, log=tmp_path / "log") as server:
        response = httpx2.post(f"{server.url}/api/memories", json={"content": "The zebra sleeps."})
        server.process.terminate()
        server.process.wait(30)

    assert response.status_code == 200
    assert server.process.returncode == 0
