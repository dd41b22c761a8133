"""`GET /metrics`: what Prometheus reads, and that nothing of a memory is in it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from recollect import LocalRecollect
from recollect.config import Settings
from recollect.domain.maintenance import EmbedderState, EmbedderStatus, StoreHealth
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.server.health import HealthSnapshot
from recollect.server.metrics import (
    BUCKETS_S,
    Metric,
    MetricSample,
    RequestMetrics,
    gauge,
    render,
)
from recollect.server.metrics_route import store_metrics
from recollect.server.request_observer import HandledRequest
from recollect.server.web_app import web_app
from support import START, open_memory

pytestmark = pytest.mark.door

WELL = EmbedderStatus(backend="local", name="m", state=EmbedderState.READY, dimension=384)
# The grammar of the text format, for what we write of it.
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?[0-9.e+-]+)")
COMMENT = re.compile(rf"# (?:HELP {NAME} .+|TYPE {NAME} (?:counter|gauge|histogram))")


def samples(text: str) -> Mapping[str, float]:
    """Return the value of each sample by its name and labels; the text must be well formed."""
    assert text.endswith("\n")
    values: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            assert COMMENT.fullmatch(line), line
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        name = line.rpartition(" ")[0]
        assert name not in values, line
        values[name] = float(match[3])
    return values


@contextmanager
def served(rec: LocalRecollect, **settings: object) -> Iterator[TestClient]:
    app = web_app(rec, Settings(metrics=True, **settings))  # type: ignore[arg-type]
    with TestClient(app, base_url="http://127.0.0.1:8283") as client:
        yield client


def test_there_are_none_unless_the_setting_is_on(words_only: LocalRecollect) -> None:
    with TestClient(web_app(words_only, Settings()), base_url="http://127.0.0.1") as client:
        assert client.get("/metrics").status_code == 404


def test_they_need_the_token(words_only: LocalRecollect) -> None:
    with served(words_only, token="s3cret") as client:
        refused = client.get("/metrics")
        response = client.get("/metrics", headers={"authorization": "Bearer s3cret"})

    assert (refused.status_code, response.status_code) == (401, 200)
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")


def test_requests_are_counted_by_route_and_status(words_only: LocalRecollect) -> None:
    with served(words_only) as client:
        for name in ("anna", "ben"):
            client.post("/agents", json={"name": name})
            client.get(f"/agents/{name}")
        client.get("/agents/nobody")
        values = samples(client.get("/metrics").text)

    count = "recollect_http_requests_total"
    assert values[f'{count}{{method="POST",route="/agents",status="200"}}'] == 2
    assert values[f'{count}{{method="GET",route="/agents/{{name}}",status="200"}}'] == 2
    assert values[f'{count}{{method="GET",route="/agents/{{name}}",status="404"}}'] == 1
    labels = 'method="GET",route="/agents/{name}"'
    duration = "recollect_http_request_duration_seconds"
    assert values[f"{duration}_count{{{labels}}}"] == 3
    assert values[f'{duration}_bucket{{{labels},le="+Inf"}}'] == 3
    assert 0 < values[f"{duration}_sum{{{labels}}}"] < 60


def test_they_tell_the_queue_the_backlog_and_the_worker(path: Path) -> None:
    embedder = ScriptedEmbedder()
    with open_memory(path, embedder=embedder) as rec:
        app = web_app(rec, Settings(metrics=True))
        client = TestClient(app, base_url="http://127.0.0.1")  # without a worker: not entered
        rec.ingest("Answers should be short.")
        rec.capture_session([{"role": "user", "content": "We use pnpm here, not npm."}])
        before = samples(client.get("/metrics").text)
        rec.drain()
        rec.search("short answers")
        after = samples(client.get("/metrics").text)

    assert before['recollect_jobs{state="todo"}'] == 1
    assert before["recollect_embedding_backlog_items"] == 1
    assert before["recollect_store_up"] == before["recollect_ready"] == 1
    assert before["recollect_worker_up"] == 0
    assert after['recollect_jobs{state="todo"}'] == 0
    assert after["recollect_embedding_backlog_items"] == 0
    assert after['recollect_cache_bytes{cache="bit_codes"}'] > 0
    assert after['recollect_reader_connections{state="idle"}'] >= 1
    assert after["process_cpu_seconds_total"] > 0


def test_the_age_of_the_oldest_job_is_that_of_a_job_which_is_due() -> None:
    def age(due_in: timedelta) -> float:
        health = StoreHealth(
            schema=1, jobs={"todo": 1}, waiting=0, dimension=None, next_job_at=START + due_in
        )
        snapshot = HealthSnapshot(path="x", embedder=WELL, store=health)
        values = samples(render(store_metrics(snapshot, now=START)))
        return values["recollect_oldest_job_age_seconds"]

    assert age(timedelta(seconds=-90)) == 90
    assert age(timedelta(seconds=90)) == 0


def test_a_store_that_cannot_be_read_has_no_figures(words_only: LocalRecollect) -> None:
    with served(words_only) as client:
        words_only._services.store.close()
        response = client.get("/metrics")

    values = samples(response.text)
    assert response.status_code == 200
    assert (values["recollect_store_up"], values["recollect_ready"]) == (0, 0)
    assert not any(name.startswith("recollect_jobs") for name in values)


def test_nothing_of_a_memory_is_in_them(path: Path) -> None:
    words = ("zebra", "savanna", "anna", "topsecret", "quagga")
    with open_memory(path, words_only=True) as rec, served(rec) as client:
        client.post("/api/memories", json={"content": "zebra stripes", "project": "savanna"})
        client.post("/agents", json={"name": "anna"})
        client.get("/agents/anna")
        client.get("/v1/agents/anna")
        client.get("/ui/agents/anna")
        client.get("/topsecret?query=quagga")
        client.request("QUAGGA", "/topsecret", headers={"x-request-id": "quagga"})
        client.post("/api/search", json={"query": "quagga", "project": "savanna"})
        text = client.get("/metrics").text

    assert [word for word in words if word in text.lower()] == []


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.0051, 30.0, 31.0])
def test_a_duration_is_in_every_bucket_that_is_as_large(seconds: float) -> None:
    requests = RequestMetrics()
    requests.observe(HandledRequest(method="GET", route="/x", status=200, seconds=seconds))

    values = samples(render(requests.collect()))

    name = 'recollect_http_request_duration_seconds_bucket{method="GET",route="/x",le='
    for bound in BUCKETS_S:
        assert values[f'{name}"{bound}"}}'] == (seconds <= bound)
    assert values[f'{name}"+Inf"}}'] == 1


def test_labels_are_escaped_and_numbers_are_exact() -> None:
    odd = Metric("m", "counter", "x", (MetricSample(2**53, {"l": 'a"b\\c\nd'}),))

    assert render([odd, gauge("g", "y", 0.1)]).splitlines() == [
        "# HELP m x",
        "# TYPE m counter",
        'm{l="a\\"b\\\\c\\nd"} 9007199254740992',
        "# HELP g y",
        "# TYPE g gauge",
        "g 0.1",
    ]
