"""`GET /health`: seed fields, honesty, and that asking costs nothing."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from recollect import LocalRecollect, __version__
from recollect.app.background_worker import BackgroundState
from recollect.config import Settings
from recollect.domain.maintenance import EmbedderState, EmbedderStatus, StoreHealth
from recollect.errors import EmbedderUnavailable
from recollect.models.embedder import Vectors
from recollect.models.packaged_models import DEFAULT_MODEL, default_manifest
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.server.health import MAX_AGE_S, HealthSnapshot, degraded_reasons
from recollect.server.web_app import web_app
from support import open_memory

pytestmark = pytest.mark.door

WELL = EmbedderStatus(backend="local", name="m", state=EmbedderState.READY, dimension=384)


@contextmanager
def served(rec: LocalRecollect) -> Iterator[TestClient]:
    """Ask the application of *memory* inside the block."""
    with TestClient(web_app(rec, Settings()), base_url="http://127.0.0.1:8283") as client:
        yield client


def health(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/health").json()
    return found


def until(client: TestClient, wanted: Any) -> dict[str, Any]:
    """Return the first health for which *wanted* holds."""
    end = time.monotonic() + 60
    while not wanted(found := health(client)):
        assert time.monotonic() < end, found
        time.sleep(0.01)
    return found


def test_it_has_every_field_of_a_memory_server_and_more(rec: LocalRecollect, path: Path) -> None:
    with served(rec) as client:
        found = until(client, lambda one: one["worker"]["state"] == "idle")

    uptime_s = found.pop("uptime_s")
    assert 0 <= uptime_s < 60
    assert found == {
        "status": "ok",
        "embedding_backend": "local",
        "embedding_dimension": 64,
        "database_path": str(path),
        "reasons": [],
        "version": __version__,
        "pid": os.getpid(),
        "store": {"ok": True, "schema": rec.maintenance.status().schema},
        "queue": {"todo": 0, "doing": 0, "parked": 0},
        "embedder": {"name": "scripted", "state": "ready", "trouble": "", "waiting": 0},
        "worker": {"state": "idle", "last_error": ""},
    }


def test_without_an_embedder_it_is_off_and_that_is_well(words_only: LocalRecollect) -> None:
    with served(words_only) as client:
        found = health(client)

    assert found["status"] == "ok"
    assert found["embedding_backend"] == "none"
    assert found["embedding_dimension"] is None
    assert found["embedder"] == {"name": "none", "state": "off", "trouble": "", "waiting": 0}


def test_the_local_dimension_is_known_before_the_model_is_loaded(path: Path) -> None:
    with LocalRecollect(Settings(db=str(path))) as rec:
        seen = rec.engine.embedder_status()

    assert seen.dimension == DEFAULT_MODEL.dimension
    assert seen.state is EmbedderState.NOT_LOADED
    assert seen.name == default_manifest().identity


def test_the_name_seen_is_the_name_the_embedder_gives_itself(path: Path) -> None:
    with LocalRecollect(Settings(db=str(path))) as rec:
        before = rec.engine.embedder_status().name
        assert rec.maintenance.status().embedder == before
    with LocalRecollect(Settings(db=str(path), embedding_backend="ollama")) as rec:
        before = rec.engine.embedder_status().name
        assert rec.maintenance.status().embedder == before == "ollama:all-minilm"


@pytest.mark.parametrize("backend", ["ollama", "openai"])
def test_an_embedder_behind_http_is_not_asked_for_its_dimension(path: Path, backend: str) -> None:
    # Nobody listens there: to be asked would be a failure, and shown as one.
    url = "http://127.0.0.1:9"
    settings = Settings(db=str(path), embedding_backend=backend, ollama_url=url, openai_url=url)
    with LocalRecollect(settings) as rec, served(rec) as client:
        found = until(client, lambda one: one["worker"]["state"] == "idle")

    assert found["status"] == "ok"
    assert found["embedding_dimension"] is None
    assert found["embedder"]["state"] == "not loaded"


def test_a_model_that_is_not_there_is_told(path: Path, tmp_path: Path) -> None:
    settings = Settings(
        db=str(path), embedding_backend="folder", embedding_model=str(tmp_path / "nowhere")
    )
    with LocalRecollect(settings) as rec, served(rec) as client:
        answer = client.get("/health")

    assert answer.status_code == 200
    assert answer.json()["status"] == "degraded"
    assert "nowhere" in answer.json()["embedder"]["trouble"]


class BreakableEmbedder(ScriptedEmbedder):
    """An embedder that fails until it is mended."""

    broken = True

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise EmbedderUnavailable("the model is out of order")
        return super().embed(texts)


def test_an_embedder_that_failed_is_told_until_it_answers_again(path: Path) -> None:
    embedder = BreakableEmbedder()
    with open_memory(path, embedder=embedder) as rec, served(rec) as client:
        found = until(client, lambda one: one["embedder"]["state"] == "resting")

        assert found["status"] == "degraded"
        assert found["embedder"]["trouble"] == "the model is out of order"
        assert "out of order" in found["reasons"][0]

        embedder.broken = False
        rec.ingest("Answers should be short.")
        rec.drain()
        assert health(client)["embedder"]["state"] == "ready"
        assert health(client)["status"] == "ok"


def test_parked_jobs_are_told(rec: LocalRecollect) -> None:
    seen = HealthSnapshot(
        path="x",
        embedder=WELL,
        store=StoreHealth(schema=3, jobs={"parked": 2}, waiting=0, dimension=384),
    )

    [why] = degraded_reasons(seen)

    assert "2" in why
    assert "recollect jobs list" in why


def test_a_worker_that_ended_or_fails_is_told() -> None:
    ended = HealthSnapshot(path="x", embedder=WELL, worker=BackgroundState.STOPPED)
    failing = HealthSnapshot(path="x", embedder=WELL, worker_error="the disk is full")

    assert list(degraded_reasons(ended)) == ["the background worker is stopped"]
    assert "the disk is full" in next(degraded_reasons(failing))


def test_a_store_that_cannot_be_read_is_a_503(words_only: LocalRecollect, path: Path) -> None:
    with served(words_only) as client:
        words_only.close()
        answer = client.get("/health")

    assert answer.status_code == 503
    assert answer.json()["status"] == "degraded"
    assert answer.json()["store"] == {"ok": False, "schema": None}
    assert answer.json()["database_path"] == str(path)


@pytest.mark.skipif(os.name != "posix", reason="an open file cannot be removed elsewhere")
def test_a_file_that_was_removed_under_the_server_is_a_503(
    words_only: LocalRecollect, path: Path
) -> None:
    with served(words_only) as client:
        path.unlink()
        answer = client.get("/health")

    assert answer.status_code == 503
    assert "no longer there" in answer.json()["reasons"][0]


def test_a_probe_needs_no_token_and_no_known_host_and_tells_one_word(
    words_only: LocalRecollect,
) -> None:
    settings = Settings(token="s3cret-token", allowed_hosts="memory.example")
    with TestClient(web_app(words_only, settings), base_url="http://10.1.2.3:8283") as client:
        live, ready = client.get("/live"), client.get("/ready")
        others = [client.get("/health"), client.post("/ready"), client.get("/ready/")]
        words_only.close()
        live_after, ready_after = client.get("/live"), client.get("/ready")

    assert (live.status_code, live.text) == (200, "alive\n")
    assert (ready.status_code, ready.text) == (200, "ready\n")
    assert [response.status_code for response in others] == [403, 403, 403]
    assert live_after.status_code == 200
    assert (ready_after.status_code, ready_after.text) == (503, "not ready\n")


def test_a_server_that_stops_is_not_ready_and_closes_its_connections(
    words_only: LocalRecollect,
) -> None:
    app = web_app(words_only, Settings())
    with TestClient(app, base_url="http://127.0.0.1:8283") as client:
        before = client.get("/health")
        app.state.lifecycle.is_stopping = True
        ready, after = client.get("/ready"), client.get("/health")

    assert "connection" not in before.headers
    assert (ready.status_code, after.status_code) == (503, 503)
    assert after.json()["reasons"] == ["the server is stopping"]
    assert after.headers["connection"] == "close"


@pytest.mark.parametrize(
    ("age_s", "is_ready"), [(None, True), (MAX_AGE_S, True), (MAX_AGE_S + 1, False)]
)
def test_a_store_that_has_not_answered_for_long_is_not_there(
    age_s: float | None, is_ready: bool
) -> None:
    assert HealthSnapshot(path="x", embedder=WELL, age_s=age_s).is_ready is is_ready


def test_a_server_that_never_read_its_store_is_not_ready(
    words_only: LocalRecollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over = threading.Event()
    monkeypatch.setattr("recollect.server.health.READ_TIMEOUT_S", 0.05)
    monkeypatch.setattr(words_only.engine, "check_health", lambda: is_over.wait(60))
    with served(words_only) as client:
        response = client.get("/health")
        is_over.set()

    assert response.status_code == 503
    assert "has not answered since the server started" in response.json()["reasons"][0]


def test_it_answers_while_somebody_writes(words_only: LocalRecollect) -> None:
    inside, done = threading.Event(), threading.Event()

    def hold(tables: Any) -> None:
        inside.set()
        done.wait(60)

    store = words_only._services.store
    writing = threading.Thread(target=store.write, args=(hold,))
    with served(words_only) as client:
        writing.start()
        inside.wait(60)
        answer = client.get("/health")
        done.set()
        writing.join()

    assert answer.json()["status"] == "ok"


def test_a_write_over_http_wakes_the_worker(path: Path) -> None:
    embedder = ScriptedEmbedder()
    with open_memory(path, embedder=embedder) as rec:
        app = web_app(rec, Settings())

        @app.post("/facts")
        def fact(text: str) -> str:
            return rec.ingest(text).id

        with TestClient(app, base_url="http://127.0.0.1:8283") as client:
            until(client, lambda one: one["worker"]["state"] == "idle")
            client.post("/facts", params={"text": "Answers should be short."})
            until(client, lambda one: one["embedder"]["waiting"] == 0)

    assert "Answers should be short." in embedder.texts
