"""The worker inside a server: it works, survives, and stops when told."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import LocalRecollect
from recollect.app.background_worker import (
    MAX_BACKOFF_S,
    BackgroundState,
    BackgroundWorker,
    backoff_s,
)
from recollect.app.engine_control import EngineControl
from recollect.config import Settings
from recollect.domain.job import Job
from recollect.errors import EmbedderUnavailable, StoreBusy
from recollect.models.chat_model import Completion
from recollect.models.embedder import Vectors
from recollect.models.scripted_models import ScriptedChatModel, ScriptedEmbedder
from recollect.service.maintenance import MIN_PRUNED, PRUNE_BATCH
from support import FakeClock, open_memory
from synced_devices import make_device

SAID = [{"role": "user", "content": "We use pnpm here, not npm."}]
NEVER = 3600.0  # a worker that polls so rarely only works when it is woken


def until(condition: Callable[[], object]) -> None:
    """Wait until *condition* returns true."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@contextmanager
def working(rec: LocalRecollect, *, poll_s: float = 0.01) -> Iterator[BackgroundWorker]:
    """Have a worker inside the block."""
    background = BackgroundWorker(rec, poll_s=poll_s)
    background.start()
    try:
        yield background
    finally:
        background.stop()


def idle(background: BackgroundWorker) -> bool:
    return background.state is BackgroundState.IDLE


def test_it_works_off_jobs_and_embeds_what_waits(rec: LocalRecollect) -> None:
    rec.ingest("Answers should be short.")
    event = rec.capture_session(SAID)

    with working(rec):
        until(
            lambda: (
                rec.captures.get(event.id).state == "done" and not rec.engine.check_health().waiting
            )
        )

    assert rec.jobs.list() == []
    assert rec.engine.check_health().dimension == 64


def test_it_is_woken_at_once(rec: LocalRecollect) -> None:
    with working(rec, poll_s=NEVER) as background:
        until(lambda: idle(background))
        rec.ingest("Answers should be short.")
        background.wake()
        until(lambda: not rec.engine.check_health().waiting)


@pytest.mark.kill
def test_it_prunes_the_log_in_more_than_one_batch(path: Path) -> None:
    clock = FakeClock()
    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, clock=clock) as rec:
        rec.ingest("Answers should be short.")
        for _ in range(PRUNE_BATCH + MIN_PRUNED):
            rec.search("short answers")
        assert rec.maintenance.status().counts["retrievals"] == PRUNE_BATCH + MIN_PRUNED
        clock.advance(days=settings.keep_retrievals_days + 1)

        with working(rec):
            until(lambda: rec.maintenance.status().counts["retrievals"] == 0)


def test_it_looks_by_itself_too(rec: LocalRecollect) -> None:
    with working(rec) as background:
        until(lambda: idle(background))
        rec.ingest("Answers should be short.")
        until(lambda: not rec.engine.check_health().waiting)


def test_stopping_twice_is_stopping_once_and_before_the_start_is_fine(rec: LocalRecollect) -> None:
    background = BackgroundWorker(rec)

    background.stop()
    background.start()
    background.stop()
    background.stop()

    assert background.state is BackgroundState.STOPPED


def test_starting_does_not_wait_for_the_embedder_and_warms_it(path: Path) -> None:
    loading, loaded = threading.Event(), threading.Event()

    class BlockingEmbedder(ScriptedEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            loading.set()
            loaded.wait(60)
            return super().embed(texts)

    with open_memory(path, embedder=BlockingEmbedder()) as rec, working(rec) as background:
        assert loading.wait(60)
        assert background.state is BackgroundState.WARMING
        assert rec.engine.embedder_status().state == "not loaded"
        loaded.set()
        until(lambda: rec.engine.embedder_status().state == "ready")


def test_an_embedder_behind_http_is_left_alone_until_something_waits(path: Path) -> None:
    settings = Settings(db=str(path), embedding_backend="ollama", ollama_url="http://127.0.0.1:9")
    with LocalRecollect(settings) as rec, working(rec) as background:
        until(lambda: idle(background))
        assert rec.engine.embedder_status().state == "not loaded"

        rec.ingest("Answers should be short.")
        until(lambda: rec.engine.embedder_status().state == "resting")

        assert "ollama pull" in rec.engine.embedder_status().trouble


def test_a_failing_embedder_is_left_alone_and_jobs_go_on(path: Path) -> None:
    class Failing(ScriptedEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.calls += 1
            raise EmbedderUnavailable("out of order")

    embedder = Failing()
    with open_memory(path, embedder=embedder) as rec, working(rec) as background:
        until(lambda: idle(background))
        calls = embedder.calls
        rec.ingest("Answers should be short.")
        event = rec.capture_session(SAID)
        background.wake()
        until(lambda: rec.captures.get(event.id).state == "done")

    assert embedder.calls == calls


@contextmanager
def failing_queue(
    path: Path, monkeypatch: pytest.MonkeyPatch, failures: list[Exception]
) -> Iterator[LocalRecollect]:
    """Open a store whose queue raises each of *failures* before it works."""
    run_jobs = EngineControl.run_jobs_in_steps

    def fail_first(engine: EngineControl) -> Iterator[Job]:
        if failures:
            raise failures.pop()
        return run_jobs(engine)

    monkeypatch.setattr(EngineControl, "run_jobs_in_steps", fail_first)
    with LocalRecollect(Settings(db=str(path), embedding_backend="none")) as rec:
        yield rec


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (StoreBusy("somebody writes"), "somebody writes"),
        (ZeroDivisionError("a secret"), "unexpected ZeroDivisionError; the log has it"),
    ],
)
def test_an_error_is_remembered_and_tried_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    looked = threading.Event()  # it rests until it was seen resting

    def rest_until_looked_at(failures: int) -> float:
        assert looked.wait(60)
        return 0.0

    monkeypatch.setattr("recollect.app.background_worker.backoff_s", rest_until_looked_at)
    with failing_queue(path, monkeypatch, [error]) as rec, working(rec) as background:
        until(lambda: background.state is BackgroundState.RESTING)
        assert background.last_error == message
        looked.set()
        until(lambda: idle(background))
        assert background.last_error == ""


def test_stopping_does_not_wait_for_a_rest_to_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.app.background_worker.FIRST_BACKOFF_S", MAX_BACKOFF_S)
    failures: list[Exception] = [StoreBusy("somebody writes")] * 100
    with failing_queue(path, monkeypatch, failures) as rec, working(rec) as background:
        until(lambda: background.state is BackgroundState.RESTING)
        begun = time.monotonic()

    assert time.monotonic() - begun < MAX_BACKOFF_S / 2


def test_stopping_finishes_the_present_step_and_begins_no_other(path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class BlockingAfterWarmUp(ScriptedEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if "warm" not in texts:
                begun.set()
                go_on.wait(60)
            return super().embed(texts)

    with open_memory(path, embedder=BlockingAfterWarmUp()) as rec:
        for number in range(100):
            rec.ingest(f"Fact number {number}.")
        background = BackgroundWorker(rec)
        background.start()
        assert begun.wait(60)
        stopping = threading.Thread(target=background.stop)
        stopping.start()
        until(background._stop.is_set)  # or it would begin another step first
        go_on.set()
        stopping.join(60)

        assert not stopping.is_alive()
        assert 0 < rec.engine.check_health().waiting < 100


def test_stopping_hands_back_a_capture_that_takes_too_long(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.app.background_worker.FINISH_S", 0.1)
    asked, answer = threading.Event(), threading.Event()

    class BlockingChatModel(ScriptedChatModel):
        def complete(self, system: str, prompt: str, *, max_tokens: int) -> Completion:
            asked.set()
            assert answer.wait(60)
            return super().complete(system, prompt, max_tokens=max_tokens)

    settings = Settings(db=str(path), embedding_backend="none")
    with LocalRecollect(settings, chat=BlockingChatModel(["[]"])) as rec:
        event = rec.capture_session(SAID)
        background = BackgroundWorker(rec)
        background.start()
        assert asked.wait(60)
        background.stop()
        jobs = rec.jobs.list()
        answer.set()
        until(lambda: background.state is BackgroundState.STOPPED)

    assert {(job.state, job.attempts) for job in jobs} == {("todo", 0)}
    with LocalRecollect(settings, chat=ScriptedChatModel(["[]"])) as rec, working(rec):
        until(lambda: rec.captures.get(event.id).state == "done")


def test_it_syncs_with_other_devices_when_that_is_due(tmp_path: Path) -> None:
    here, there = make_device(tmp_path, "a", 1), make_device(tmp_path, "b", 2)
    here.rec.ingest("Deploys happen on Fridays.", scope="global")
    here.sync()

    with working(there.rec):
        until(lambda: there.rec.search("when do deploys happen?"))
        here.rec.ingest("Tests run at night.", scope="global")
        here.sync()
        there.clock.advance(minutes=2)
        until(lambda: there.rec.search("when do tests run?"))

    here.rec.close()
    there.rec.close()


def test_a_store_that_is_closed_under_it_ends_it(path: Path) -> None:
    rec = open_memory(path, words_only=True)
    background = BackgroundWorker(rec, poll_s=0.01)
    background.start()

    rec.close()
    until(lambda: background.state is BackgroundState.STOPPED)

    background.stop()


def test_rests_grow_longer_up_to_a_limit() -> None:
    assert [backoff_s(failures) for failures in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert backoff_s(6) == backoff_s(100_000) == MAX_BACKOFF_S
