"""The worker inside a server: it works, survives, and stops when told."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.app.background import MOST_REST_S, Background, BackgroundState, rest_s
from recollect.config import Settings
from recollect.domain.job import Job
from recollect.errors import EmbedderUnavailable, StoreBusy
from recollect.models.embedder import Vectors
from recollect.models.scripted_models import ScriptedEmbedder
from recollect.service.upkeep import PRUNED_AT_ONCE
from support import open_memory

SAID = [{"role": "user", "content": "We use pnpm here, not npm."}]
NEVER = 3600.0  # a worker that polls so rarely only works when it is woken


def until(wanted: Callable[[], object]) -> None:
    """Wait until *wanted* holds."""
    end = time.monotonic() + 60
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.005)


@contextmanager
def working(memory: LocalRecollect, *, poll_s: float = 0.01) -> Iterator[Background]:
    """Have a worker inside the block."""
    background = Background(memory, poll_s=poll_s)
    background.start()
    try:
        yield background
    finally:
        background.stop()


def idle(background: Background) -> bool:
    return background.state is BackgroundState.IDLE


def test_it_works_off_jobs_and_embeds_what_waits(memory: LocalRecollect) -> None:
    memory.ingest("Answers should be short.")
    event = memory.capture_session(SAID)

    with working(memory):
        until(lambda: memory.captures.get(event.id).state == "done" and not memory.engine.pulse().waiting)

    assert memory.jobs.list() == []
    assert memory.engine.pulse().dimension == 64


def test_it_is_woken_at_once(memory: LocalRecollect) -> None:
    with working(memory, poll_s=NEVER) as background:
        until(lambda: idle(background))
        memory.ingest("Answers should be short.")
        background.wake()
        until(lambda: not memory.engine.pulse().waiting)


def test_it_prunes_the_log_in_more_than_one_batch(path: Path) -> None:
    settings = Settings(db=str(path), embedding_backend="none", keep_retrievals=1)
    with LocalRecollect(settings) as memory:
        memory.ingest("Answers should be short.")
        for _ in range(2 * PRUNED_AT_ONCE + 1):
            memory.search("short answers")

        with working(memory):
            until(lambda: memory.maintenance.status().counts["retrievals"] == 1)


def test_it_looks_by_itself_too(memory: LocalRecollect) -> None:
    with working(memory) as background:
        until(lambda: idle(background))
        memory.ingest("Answers should be short.")
        until(lambda: not memory.engine.pulse().waiting)


def test_stopping_twice_is_stopping_once_and_before_the_start_is_fine(memory: LocalRecollect) -> None:
    background = Background(memory)

    background.stop()
    background.start()
    background.stop()
    background.stop()

    assert background.state is BackgroundState.STOPPED


def test_starting_does_not_wait_for_the_embedder_and_warms_it(path: Path) -> None:
    loading, loaded = threading.Event(), threading.Event()

    class Slow(ScriptedEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            loading.set()
            loaded.wait(60)
            return super().embed(texts)

    with open_memory(path, embedder=Slow()) as memory, working(memory) as background:
        assert loading.wait(60)
        assert background.state is BackgroundState.WARMING
        assert memory.engine.embedder_status().state == "not loaded"
        loaded.set()
        until(lambda: memory.engine.embedder_status().state == "ready")


def test_an_embedder_behind_http_is_left_alone_until_something_waits(path: Path) -> None:
    settings = Settings(db=str(path), embedding_backend="ollama", ollama_url="http://127.0.0.1:9")
    with LocalRecollect(settings) as memory, working(memory) as background:
        until(lambda: idle(background))
        assert memory.engine.embedder_status().state == "not loaded"

        memory.ingest("Answers should be short.")
        until(lambda: memory.engine.embedder_status().state == "resting")

        assert "ollama pull" in memory.engine.embedder_status().trouble


def test_a_failing_embedder_is_left_alone_and_jobs_go_on(path: Path) -> None:
    class Failing(ScriptedEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.calls += 1
            raise EmbedderUnavailable("out of order")

    embedder = Failing()
    with open_memory(path, embedder=embedder) as memory, working(memory) as background:
        until(lambda: idle(background))
        calls = embedder.calls
        memory.ingest("Answers should be short.")
        event = memory.capture_session(SAID)
        background.wake()
        until(lambda: memory.captures.get(event.id).state == "done")

    assert embedder.calls == calls


class Troubled(LocalRecollect):
    """A memory whose queue fails as often as it is told to."""

    failures: list[Exception]

    def work_in_steps(self) -> Iterator[Job]:
        if self.failures:
            raise self.failures.pop()
        return super().engine.run_jobs_in_steps()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreBusy("somebody writes"), "somebody writes"),
        (ZeroDivisionError("a secret"), "unexpected ZeroDivisionError; the log has it"),
    ],
)
def test_an_error_is_remembered_and_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    monkeypatch.setattr("recollect.app.background.FIRST_REST_S", 3.0)  # time to see it rest
    memory = Troubled(Settings(db=str(path), embedding_backend="none"))
    with memory:
        memory.failures = [error]
        with working(memory) as background:
            until(lambda: background.state is BackgroundState.RESTING)
            assert background.last_error == told
            until(lambda: idle(background))
            assert background.last_error == ""


def test_stopping_does_not_wait_for_a_rest_to_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.app.background.FIRST_REST_S", MOST_REST_S)
    memory = Troubled(Settings(db=str(path), embedding_backend="none"))
    with memory:
        memory.failures = [StoreBusy("somebody writes")] * 100
        with working(memory) as background:
            until(lambda: background.state is BackgroundState.RESTING)
            begun = time.monotonic()

    assert time.monotonic() - begun < MOST_REST_S / 2


def test_stopping_finishes_the_present_step_and_begins_no_other(path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Slow(ScriptedEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if "warm" not in texts:
                begun.set()
                go_on.wait(60)
            return super().embed(texts)

    with open_memory(path, embedder=Slow()) as memory:
        for number in range(100):
            memory.ingest(f"Fact number {number}.")
        background = Background(memory)
        background.start()
        assert begun.wait(60)
        stopping = threading.Thread(target=background.stop)
        stopping.start()
        until(background._stop.is_set)  # or it would begin another step first
        go_on.set()
        stopping.join(60)

        assert not stopping.is_alive()
        assert 0 < memory.engine.pulse().waiting < 100


def test_a_store_that_is_closed_under_it_ends_it(path: Path) -> None:
    memory = open_memory(path, words_only=True)
    background = Background(memory, poll_s=0.01)
    background.start()

    memory.close()
    until(lambda: background.state is BackgroundState.STOPPED)

    background.stop()


def test_rests_grow_longer_up_to_a_limit() -> None:
    assert [rest_s(failures) for failures in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert rest_s(6) == rest_s(100_000) == MOST_REST_S
